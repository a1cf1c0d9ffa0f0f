"""Settings files: what they can say, which goes first, and what a hostile one cannot do."""

import os
from pathlib import Path

import pytest

from causalist.errors import SettingsError
from causalist.model.answer import AskOptions, Level, Order, RankMode, Route, Specificity
from causalist.pipeline.repository import Repository
from causalist.settings import SETTINGS, read_settings
from causalist.source import DEFAULT_LIMITS, Limits
from tests.cli.commands import write_all

CODE = {"app.py": "def price():\n    return 1\n", "data/big.py": "def price_of_data():\n    return 2\n"}


def test_without_files_the_defaults_hold(tmp_path: Path) -> None:
    settings = read_settings(tmp_path)
    assert settings.ask_options() == AskOptions()
    assert settings.limits() == DEFAULT_LIMITS
    assert all(settings.source(each.section, each.name) == "default" for each in SETTINGS)


def test_every_setting_arrives(tmp_path: Path) -> None:
    write_all(tmp_path, {"causalist.toml": """
[ask]
top-k = 7
level = "file"
max-tokens = 500
format = "json"
route = "simple"
rank = "pagerank"
no-graph = true
no-semantic = true
order = "dependencies-first"
damping = 0.5
specificity = "none"
approximate = 1e-6
include = ["src/"]
exclude = ["*.md"]
embedder = "local:static"
remember = false
[index]
deny = ["data/"]
source = ["gen/"]
background = false
submodules = true
max-file-bytes = 10
max-files = 20
[layers]
order = ["ui", "web/", "data"]
forbidden = ["ui -> data"]
[memory]
mode = "sparse"
limit = 9
variant = "hipporag"
alpha = 0.25
top-entities = 7
expand-hops = 2
max-entities = 8
similarity-threshold = 0.95
triple-confidence = 0.75
vector-weight = 0.1
graph-weight = 0.2
remainder-weight = 0.3
share-weight = 0.4
named-weight = 0.5
definition-weight = 0.6
definition-rest-weight = 0.7
shared-weight = 0.8
shared-rest-weight = 0.9
rest-weight = 0.0
meaning-weight = 0.15
"""})  # fmt: skip
    settings = read_settings(tmp_path)
    signals = ("vector", "graph", "remainder", "share", "named", "definition", "definition-rest", "shared",
               "shared-rest", "rest", "meaning")  # fmt: skip
    weights = [settings.value("memory", f"{name}-weight") for name in signals]
    assert weights == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.0, 0.15]
    others = ("alpha", "top-entities", "expand-hops", "max-entities", "similarity-threshold", "triple-confidence")
    assert [settings.value("memory", name) for name in others] == [0.25, 7, 2, 8, 0.95, 0.75]
    assert [settings.value("memory", name) for name in ("mode", "limit", "variant")] == ["sparse", 9, "hipporag"]
    assert settings.ask_options() == AskOptions(
        top_k=7, level=Level.FILE, max_tokens=500, format="json", route=Route.SIMPLE, rank=RankMode.PAGERANK,
        graph=False, semantic=False, order=Order.DEPENDENCIES_FIRST, damping=0.5, specificity=Specificity.NONE,
        approximate=1e-6, include=("src/",), exclude=("*.md",), embedder="local:static",
    )  # fmt: skip
    assert settings.value("ask", "remember") is False
    assert settings.limits() == Limits(max_file_bytes=10, max_files=20, deny=("data/",), source=("gen/",))
    assert settings.value("index", "background") is False
    assert settings.value("layers", "order") == ("ui", "web/", "data")
    assert settings.value("layers", "forbidden") == ("ui -> data",)
    assert len(settings.values) == len(SETTINGS)


def test_the_own_file_goes_first_key_by_key(tmp_path: Path) -> None:
    write_all(tmp_path, {
        "pyproject.toml": "[project]\nname = 'x'\n[tool.causalist.ask]\ntop-k = 3\nmax-tokens = 700\n",
        "causalist.toml": "[ask]\ntop-k = 4\n",
    })  # fmt: skip
    settings = read_settings(tmp_path)
    assert (settings.value("ask", "top-k"), settings.source("ask", "top-k")) == (4, "causalist.toml")
    assert (settings.value("ask", "max-tokens"), settings.source("ask", "max-tokens")) == (700, "pyproject.toml")


def test_they_decide_what_is_indexed(tmp_path: Path) -> None:
    write_all(tmp_path, CODE)
    assert Repository.open(tmp_path).find("price_of_data")
    write_all(tmp_path, {"causalist.toml": "[index]\ndeny = ['data/']\n"})
    repository = Repository.open(tmp_path)
    assert not repository.find("price_of_data") and repository.find("price")
    assert repository.status().skipped["denied by settings"] == 1
    write_all(tmp_path, {"causalist.toml": "[index]\nmax-file-bytes = 27\n"})
    repository = Repository.open(tmp_path)
    assert repository.status().skipped == {"too large": 2} and repository.find("price")


def test_they_decide_how_is_asked(tmp_path: Path) -> None:
    write_all(tmp_path, {**CODE, "causalist.toml": "[ask]\nexclude = ['data/']\n"})
    repository = Repository.open(tmp_path)
    assert {hit.path for hit in repository.ask("price").results} == {"app.py"}
    assert "data/big.py" in {hit.path for hit in repository.ask("price", AskOptions()).results}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[ask]\ntopk = 1\n", "[ask] has no setting 'topk'. Choose from top-k, level"),
        ("[asks]\n", "unknown section 'asks'. Choose from ask, index"),
        ("top-k = 1\n", "unknown section 'top-k'"),
        ("ask = 1\n", "ask must be a table"),
        ("[ask]\ntop-k = 'many'\n", "[ask] top-k must be an integer from 1 to 10,000, not 'many'"),
        ("[ask]\ntop-k = 0\n", "not 0"),
        ("[ask]\ntop-k = true\n", "not True"),
        ("[ask]\ntop-k = 1.5\n", "not 1.5"),
        ("[ask]\ndamping = 1\n", "damping must be at least 0 and below 1, not 1"),
        ("[ask]\ndamping = nan\n", "not nan"),
        ("[ask]\nno-graph = 1\n", "no-graph must be true or false, not 1"),
        ("[ask]\nlevel = 'word'\n", "level must be one of symbol, file, not 'word'"),
        ("[ask]\ninclude = 'src'\n", "include must be a list of .gitignore patterns, not 'src'"),
        ("[ask]\ninclude = [1]\n", "not [1]"),
        ("[index]\nmax-file-bytes = 99999999999\n", "from 1 to 16,000,000"),
        ("[ask\n", "is not valid TOML"),
        ("[ask]\nroute = '" + "x" * 500 + "'\n", "..."),
        ("a = " + "[" * 4_000, "is not valid TOML"),
        ("a = " + "[" * 100_000, "is not valid TOML"),
        ("\x00", "causalist.toml"),
    ],
)
def test_what_is_wrong_is_named(text: str, said: str, tmp_path: Path) -> None:
    write_all(tmp_path, {"causalist.toml": text})
    with pytest.raises(SettingsError) as error:
        read_settings(tmp_path)
    assert said in str(error.value) and "causalist.toml" in str(error.value) and len(str(error.value)) < 400


def test_the_shared_file_is_named_too(tmp_path: Path) -> None:
    write_all(tmp_path, {"pyproject.toml": "[tool.causalist.ask]\ntopk = 1\n"})
    with pytest.raises(SettingsError, match=r"pyproject\.toml: \[tool\.causalist\.ask\] has no setting 'topk'"):
        read_settings(tmp_path)
    write_all(tmp_path, {"pyproject.toml": "[tool]\ncausalist = 3\n"})
    with pytest.raises(SettingsError, match="must be a table"):
        read_settings(tmp_path)
    write_all(tmp_path, {"pyproject.toml": "this is no TOML and not about us\n"})
    assert not read_settings(tmp_path).values


class TestHostile:
    @pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
    def test_a_link_is_not_followed(self, tmp_path: Path) -> None:
        outside = write_all(tmp_path / "outside", {"secret": "password = 'hunter2'\n"}) / "secret"
        inside = tmp_path / "inside"
        inside.mkdir()
        (inside / "causalist.toml").symlink_to(outside)
        with pytest.raises(SettingsError, match="link") as error:
            read_settings(inside)
        assert "hunter2" not in str(error.value)
        (inside / "causalist.toml").unlink()
        (inside / "pyproject.toml").symlink_to(outside)
        assert not read_settings(inside).values

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "causalist.toml")
        with pytest.raises(SettingsError, match="special file"):
            read_settings(tmp_path)

    def test_secrets_and_what_lies_outside_stay_out(self, tmp_path: Path) -> None:
        write_all(tmp_path, {"secret.py": "price = 'outside'\n"})
        root = write_all(
            tmp_path / "repo",
            {
                **CODE, ".env": "PRICE=1\n", "key.pem": "price\n",
                "causalist.toml": "[ask]\ninclude = ['../**', '!.env', '*']\n"
                "[index]\ndeny = ['!.env', '!key.pem', '!../']\n",
            },
        )  # fmt: skip
        repository = Repository.open(root)
        paths = set(repository.index.manifest.paths)
        assert paths == {"app.py", "data/big.py", "causalist.toml"}
        assert repository.status().skipped["secret"] == 2
        assert {hit.path for hit in repository.ask("price").results} <= paths

    @pytest.mark.parametrize("key", ["repo", "force", "llm", "model", "processes", "scope", "output"])
    @pytest.mark.parametrize("section", ["ask", "index"])
    def test_nothing_else_can_be_said(self, section: str, key: str, tmp_path: Path) -> None:
        write_all(tmp_path, {"causalist.toml": f"[{section}]\n{key} = 'x'\n"})
        with pytest.raises(SettingsError, match="has no setting"):
            read_settings(tmp_path)
