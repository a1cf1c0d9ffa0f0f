# Recipes for development, in the activated environment of CONTRIBUTING.md: `just test`. `just` alone lists them.

set windows-shell := ["bash", "-c"]

python := "python"

# List the recipes.
default:
    @just --list

# Run the tests that are fast, in less than two minutes on two cores; ARGUMENTS go to pytest.
test *ARGUMENTS:
    {{ python }} -m pytest -n 3 --dist loadfile -m "not slow" {{ ARGUMENTS }}

# Run all tests.
test-all *ARGUMENTS:
    {{ python }} -m pytest -n 3 --dist loadfile {{ ARGUMENTS }}

# Check style, types, layers and commit subjects.
lint:
    {{ python }} -m ruff check .
    {{ python }} -m ruff format --check .
    {{ python }} -m mypy
    lint-imports --no-cache
    {{ python }} .ci/check_commit_subject.py --since-base

# Build the documentation into site/; a warning is an error. Needs no network.
docs:
    NO_MKDOCS_2_WARNING=1 {{ python }} -m mkdocs build --strict

# Measure answers and first indexes of a repository, as ratios of one run.
bench REPO="sample_repos/taskboard-api":
    {{ python }} -m tests.benchmarks.speed cold ask edit --repo {{ REPO }}

# Sign the tag of VERSION on this commit, if pyproject.toml and the changelog have it. Pushing it makes the release.
tag VERSION:
    grep -q '^version = "{{ VERSION }}"$' pyproject.toml
    grep -q '^## \[{{ VERSION }}\] - ' CHANGELOG.md
    git diff --quiet HEAD
    git tag --sign --message "Causalist {{ VERSION }}" "v{{ VERSION }}"
    git verify-tag "v{{ VERSION }}"
