"""--include, --exclude and --scope: what they leave of an answer, and what ranks first."""

import dataclasses

import pytest

from causalist.errors import UsageError
from causalist.model.answer import Answer, AskOptions, Level, RankMode
from causalist.pipeline.repository import Repository
from tests.pipeline.sample import CHAIN, WHERE_AUTH


def named_in(answer: Answer) -> set[str]:
    """Every node that an answer names anywhere."""
    nodes = {hit.id for hit in answer.results} | set(answer.order) | set(answer.via)
    nodes |= {hop.node for hit in answer.results for hop in hit.path_from_seed}
    nodes |= {share.node for hit in answer.results for share in hit.seeds or ()}
    return nodes | {end for e in (*answer.edges, *answer.removed_edges) for end in (e.source, e.target)}


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("rank", list(RankMode))
def test_nothing_outside_appears(level: Level, rank: RankMode, sample: Repository) -> None:
    options = AskOptions(level=level, rank=rank, explain=True, include=("src/security/", "/src/http/**"))
    answer = sample.ask(WHERE_AUTH, options)
    assert answer.results
    assert all(node.startswith(("src/security/", "src/http/")) for node in named_in(answer))
    assert answer.pack is not None and "auth-middleware.ts" not in answer.pack.text.replace(WHERE_AUTH, "")


def test_exclude(sample: Repository) -> None:
    everything = named_in(sample.ask(WHERE_AUTH))
    assert CHAIN[0] in {node.partition("::")[0] for node in everything}
    rest = named_in(sample.ask(WHERE_AUTH, AskOptions(exclude=("auth-middleware.ts", "*.md"))))
    assert rest and not any(CHAIN[0] in node or ".md" in node for node in rest)


@pytest.mark.slow
def test_patterns_are_those_of_gitignore(sample: Repository) -> None:
    def files(*include: str) -> set[str]:
        answer = sample.ask(WHERE_AUTH, AskOptions(include=include, top_k=50))
        return {node.partition("::")[0].partition("#")[0] for node in named_in(answer)}

    assert files("*.md") and all(path.endswith(".md") for path in files("*.md"))
    assert all(path.startswith("src/") for path in files("/src"))
    assert files("src/**/*.ts", "!src/middleware/") and not any(
        "middleware/" in p for p in files("src/", "!src/middleware/")
    )
    from_here = dataclasses.replace(sample, folder="src/security")
    found = {hit.path for hit in from_here.ask(WHERE_AUTH, AskOptions(include=("./*.ts",))).results}
    assert found and all(path.startswith("src/security/") for path in found)


@pytest.mark.parametrize(("include", "exclude"), [(("*.rb",), ()), ((), ("*",)), (("src/",), ("/src/",))])
def test_nothing_is_left(include: tuple[str, ...], exclude: tuple[str, ...], sample: Repository) -> None:
    answer = sample.ask(WHERE_AUTH, AskOptions(include=include, exclude=exclude))
    assert (answer.results, answer.pack) == ((), None)
    (note,) = [d for d in answer.diagnostics if d.slug == "filtered-out"]
    assert all(pattern in note.detail for pattern in (*include, *exclude))


@pytest.mark.parametrize("pattern", ["", " ", "# no"])
def test_no_pattern(pattern: str, sample: Repository) -> None:
    with pytest.raises(UsageError, match="gitignore pattern"):
        sample.ask(WHERE_AUTH, AskOptions(include=(pattern,)))


def ranks(repository: Repository, scope: str | None, folder: str) -> list[int]:
    """1-based ranks of what lies below a folder."""
    results = repository.ask(WHERE_AUTH, AskOptions(scope=scope)).results
    return [rank for rank, hit in enumerate(results, start=1) if hit.path.startswith(f"{folder}/")]


def test_a_scope_ranks_first_and_hides_nothing(sample: Repository) -> None:
    before, after = ranks(sample, None, "src/security"), ranks(sample, "src/security", "src/security")
    assert after[0] <= before[0] and sum(after[: len(before)]) < sum(before)
    assert len(sample.ask(WHERE_AUTH, AskOptions(scope="src/security")).results) > len(after)


@pytest.mark.slow
def test_the_folder_where_it_is_asked_is_the_scope(sample: Repository) -> None:
    there = dataclasses.replace(sample, folder="src/security")
    assert ranks(there, None, "src/security") == ranks(sample, "src/security", "src/security")
    assert ranks(there, ".", "src/security") == ranks(sample, "src/security", "src/security")
    assert ranks(there, "../http", "src/http") == ranks(sample, "src/http", "src/http")
    for root in ("/", str(sample.root), "../.."):
        assert ranks(there, root, "src/security") == ranks(sample, None, "src/security")
    assert ranks(sample, ".", "src/security") == ranks(sample, None, "src/security")
    here, elsewhere = there.ask(WHERE_AUTH), sample.ask(WHERE_AUTH)
    assert here.answer_id != elsewhere.answer_id
    assert here.answer_id == sample.ask(WHERE_AUTH, AskOptions(scope="src/security")).answer_id


@pytest.mark.parametrize("scope", ["", "nowhere", "src/errors.ts", "../..", "/etc", "C:/x"])
def test_no_scope(scope: str, sample: Repository) -> None:
    with pytest.raises(UsageError, match="must be a folder with indexed files"):
        sample.ask(WHERE_AUTH, AskOptions(scope=scope))
