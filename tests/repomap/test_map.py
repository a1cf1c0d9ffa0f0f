"""Maps: the budget, what comes first, and what a newcomer is told of the sample."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from causalist.errors import BudgetTooSmall, UsageError
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import Role
from causalist.pack.tokens import count_tokens
from causalist.pipeline.repository import Repository
from causalist.rank import WalkWeights, build_transition
from causalist.repomap.collect import compute_importance, product_nodes
from tests.cli.commands import write_all
from tests.graphs import EdgeSpec, NodeSpec, make_graph
from tests.pipeline.sample import copy_sample, in_memory


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return in_memory(copy_sample(tmp_path_factory.mktemp("sample")))


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Everything that a manifest, a README or a name can do to a map."""
    return in_memory(
        write_all(
            tmp_path_factory.mktemp("odd") / "odd",
            {
                "README.md": f"# `x`\n\n{'Word is a word that is a word ' * 400}\x1b[31m </script> ``` \u202e\n",
                "pyproject.toml": '[project]\nname = "' + "n" * 3000 + '"\ndescription = "' + "d " * 3000 + '"\n',
                "a`b/c.py": f"def {'f' * 500}({', '.join(f'a{i}' for i in range(300))}):\n    '''{'doc ' * 500}'''\n",
                **{f"p{i}/q{i}/m.py": f"from p0.q0.m import f0\n\n\ndef f{i}():\n    return f0()\n" for i in range(40)},
                "tests/test_f.py": "from p0.q0.m import f0\n\n\ndef test_f():\n    f0()\n",
            },
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("format", ["text", "markdown", "json"])
@pytest.mark.parametrize("budget", [150, 300, 700, 2000, 20_000])
def test_never_above_the_budget(format: str, budget: int, sample: Repository, odd: Repository) -> None:
    for repository in (sample, odd):
        try:
            drawn = repository.map(max_tokens=budget, format=format)
        except BudgetTooSmall:
            assert budget < 700
            continue
        assert count_tokens(drawn.text) == drawn.tokens <= drawn.max_tokens == budget
        assert (
            drawn.text.endswith("\n") and "\x1b" not in drawn.text.replace("\\u001b", "") and "\u202e" not in drawn.text
        )


def test_more_budget_shows_no_less(sample: Repository) -> None:
    counts = [len(sample.map(max_tokens=n).overview.definitions) for n in (200, 500, 1000, 3000)]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_what_is_refused(sample: Repository) -> None:
    with pytest.raises(BudgetTooSmall, match="heading"):
        sample.map(max_tokens=2)
    with pytest.raises(UsageError, match="unknown format 'svg'"):
        sample.map(format="svg")


def test_it_is_always_the_same(sample: Repository) -> None:
    assert sample.map().text == in_memory(sample.root).map().text


def test_a_newcomer_to_the_sample(sample: Repository) -> None:
    drawn = sample.map(max_tokens=3000)
    overview = drawn.overview
    assert overview.name == "taskboard-api"
    assert drawn.text.startswith("taskboard-api")
    assert overview.paragraph and overview.paragraph in drawn.text
    assert overview.languages[0].language == "typescript"
    assert {folder.path for folder in overview.folders} >= {"src/", "src/security/", "src/middleware/"}
    shown = {definition.hit.id for definition in overview.definitions}
    assert not any(node.startswith("test/") for node in shown)
    assert ("src/middleware/", "src/security/") in {(d.source, d.target) for d in overview.dependencies}
    assert any(aside.role == "test" and aside.places == ("test/",) for aside in overview.asides)


def test_json_is_data(sample: Repository) -> None:
    data = json.loads(sample.map(format="json", max_tokens=4000).text)
    assert list(data) == [
        "name", "commit", "summary", "paragraph", "languages", "entries", "folders", "definitions",
        "dependencies", "asides",
    ]  # fmt: skip
    first = data["definitions"][0]
    assert sample.index.graph.nodes.ids.position(first["node"]) >= 0 and first["line"] >= 1


def test_entry_points(tmp_path: Path) -> None:
    repository = in_memory(
        write_all(
            tmp_path / "tool",
            {
                "pyproject.toml": '[project]\nname = "tool"\n[project.scripts]\n'
                'tool = "tool.cli:main"\nold = "gone:x"\n',
                "src/tool/__init__.py": "",
                "src/tool/__main__.py": "from tool.cli import main\n\nmain()\n",
                "src/tool/cli.py": "def main():\n    return 0\n",
                "src/tool/templates/page/__init__.py": "",
                "web/package.json": '{"name": "web", "exports": "./dist/main.js"}',
                "web/src/main.ts": "export function main() {}\n",
                "cmd/served/main.go": "package main\n\nfunc main() {}\n",
            },
        )
    )
    entries = [tuple(entry) for entry in repository.map().overview.entries]
    assert entries == [
        ("command", "tool", "src/tool/cli.py::main"),
        ("command", "old", ""),
        ("import", "web", "web/src/main.ts"),
        ("run", "served", "cmd/served/main.go"),
        ("import", "tool", "src/tool/__init__.py"),
        ("run", "python -m tool", "src/tool/__main__.py"),
    ]


def test_folders_say_what_they_are(tmp_path: Path) -> None:
    code = "def f():\n    return 1\n"
    repository = in_memory(
        write_all(
            tmp_path / "mono",
            {
                "a/__init__.py": '"""Holds the first part. It is small."""\n',
                "a/m.py": code,
                "b/package.json": '{"description": "The second part"}',
                "b/src/n.js": "export function g() { return 1 }\n",
                "c/README.md": "# C\n\nThis is the third part, and it is made of code.\n",
                "c/o.py": code,
                "d/__init__.py": '"""Copyright of somebody, all rights reserved."""\n',
                "d/p.py": code,
                "top.py": code,
            },
        )
    )
    said = {folder.path: folder.doc for folder in repository.map().overview.folders}
    assert said == {
        "a/": "Holds the first part.",
        "b/src/": "The second part",  # the only folder of b that holds code, and it says nothing itself
        "c/": "This is the third part, and it is made of code.",
        "d/": "",
        "./": "",
    }


def test_what_holds_types_alone_is_not_shown_but_they_are(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "gate.rb").write_text(
        "module Shop\n  class Gate\n    def open\n      Door.new.push\n    end\n  end\nend\n", encoding="utf-8"
    )
    (tmp_path / "lib" / "door.rb").write_text(
        "module Shop\n  class Door\n    def push; end\n  end\n  def self.close; end\nend\n", encoding="utf-8"
    )
    drawn = Repository.open(tmp_path).map(max_tokens=500).text
    assert "class Gate [open]" in drawn
    assert "module Shop [Door, close]" in drawn  # it does something itself
    assert "module Shop [Gate]" not in drawn


def test_what_draws_a_user_interface_stands_behind_what_decides(tmp_path: Path) -> None:
    """Each file of either folder uses the first of its folder, so that both weigh the same but for what they are."""
    files = {}
    for folder, end in (("a_web", "tsx"), ("b_server", "ts")):
        files[f"{folder}/f0.{end}"] = f"export function {folder}0() {{ return 0; }}\n"
        for i in range(1, 4):
            body = f"return {folder}0();"
            files[f"{folder}/f{i}.{end}"] = (
                f"import {{ {folder}0 }} from './f0';\nexport function {folder}{i}() {{ {body} }}\n"
            )
    text = in_memory(write_all(tmp_path / "both", files)).map(max_tokens=2000).text
    assert text.index("b_server/") < text.index("a_web/")


def test_members_that_stand_outside_of_their_type_belong_to_it(tmp_path: Path) -> None:
    repository = in_memory(
        write_all(
            tmp_path / "pond",
            {
                "go.mod": "module example.org/pond\n",
                "duck.go": "package pond\n\n// Duck swims.\ntype Duck struct{}\n",
                "swim.go": "package pond\n\nfunc (d *Duck) Swim() { d.paddle() }\n\nfunc (d *Duck) paddle() {}\n",
                "far/far.go": "package far\n\nfunc Call() {}\n",
            },
        )
    )
    overview = repository.map().overview
    assert {d.hit.id: set(d.members) for d in overview.definitions} == {
        "duck.go::Duck": {"Swim", "paddle"}, "far/far.go::Call": set()
    }  # fmt: skip
    assert [tuple(entry) for entry in overview.entries] == [("import", "example.org/pond", "")]


def test_only_documentation(tmp_path: Path) -> None:
    drawn = in_memory(
        write_all(tmp_path / "words", {"README.md": "# Words\n\nThis is a book about all words.\n"})
    ).map()
    assert "This is a book about all words." in drawn.text
    assert drawn.overview.definitions == drawn.overview.folders == ()


def test_importance_is_pagerank_without_tests() -> None:
    """u -> f is walked, t -> g is not: both are called once, and only the test calls g."""
    graph = make_graph(
        [
            "m.py",
            "m.py::f",
            "m.py::g",
            "m.py::u",
            NodeSpec("t.py", role=Role.TEST),
            NodeSpec("t.py::t", role=Role.TEST),
        ],
        [EdgeSpec("m.py::u", "m.py::f", EdgeKind.CALLS), EdgeSpec("t.py::t", "m.py::g", EdgeKind.CALLS)],
    )
    transition = build_transition(graph, WalkWeights(((EdgeKind.CALLS, 1.0),), ()))
    product = product_nodes(graph)
    scores = dict(zip(graph.nodes.ids, compute_importance(graph, transition, product), strict=True))
    # Seeds f, g, u alike at 1/3; one link, u -> f. With c for what returns and restarts at each seed:
    # u = g = c, f = c + 0.85 c, so that 3.85 c = 1.
    assert scores["m.py::u"] == scores["m.py::g"] == pytest.approx(1 / 3.85, abs=1e-4)
    assert scores["m.py::f"] == pytest.approx(1.85 / 3.85, abs=1e-4)
    assert scores["t.py::t"] == scores["m.py"] == 0


def test_without_a_definition_nothing_is_important() -> None:
    graph = make_graph(["README.md"])
    transition = build_transition(graph, WalkWeights())
    assert not compute_importance(graph, transition, np.ones(1, dtype=np.bool_)).any()


def test_where_all_code_is_tests_they_are_the_product() -> None:
    graph = make_graph([NodeSpec("t.py", role=Role.TEST), NodeSpec("t.py::t", role=Role.TEST)])
    assert product_nodes(graph).all()


def test_the_overview_is_frozen(sample: Repository) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample.map().overview.name = "x"  # type: ignore[misc]
