"""`graph export`: each format is read back by an independent reader."""

import io
import json
import os
import re
from pathlib import Path

import networkx
import pytest

from causalist.cli._output import open_destination
from causalist.errors import UsageError
from causalist.model.graph import EdgeKind
from tests.cli.commands import invoke, run, write_all

EDGE = ["source", "target", "kind", "rule", "confidence", "line", "n"]
ODD = {'a "quoted" \\ <b> & #c; `d`.py': "def spot():\n    return 1\n\n\ndef find():\n    return spot()\n"}


def export(folder: Path, *options: str) -> str:
    done = invoke("graph", "export", "--repo", str(folder), *options)
    assert done.code == 0, done.stderr
    return done.stdout


def edges_of(folder: Path, *options: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in export(folder, "--format", "jsonl", *options).splitlines()]


class TestJsonLines:
    @pytest.mark.slow
    def test_keys_and_order(self, taskboard_copy: Path) -> None:
        edges = edges_of(taskboard_copy)
        assert all(list(edge) == EDGE for edge in edges)
        keys = [(e["source"], e["target"], EdgeKind[str(e["kind"]).upper()]) for e in edges]
        assert keys == sorted(set(keys))
        assert all(isinstance(e["confidence"], float) and e["confidence"] >= 0.5 for e in edges)
        assert not any(str(e["target"]).startswith("external:") for e in edges)

    def test_all(self, taskboard_copy: Path) -> None:
        inside, everything = edges_of(taskboard_copy), edges_of(taskboard_copy, "--all")
        assert [e for e in everything if e in inside] == inside
        assert any(str(e["target"]).startswith("external:") for e in everything)

    def test_kinds(self, small: Path) -> None:
        assert {e["kind"] for e in edges_of(small, "--kind", "calls", "--kind", "imports")} == {"calls", "imports"}

    def test_unknown_kind(self, small: Path, tmp_path: Path) -> None:
        target = tmp_path / "edges.jsonl"
        done = invoke("graph", "export", "--format", "jsonl", "--repo", str(small), "--kind", "likes", "--output",
                      str(target))  # fmt: skip
        assert "'likes'" in done.failed("usage")
        assert list(tmp_path.glob("edges*")) == []

    def test_none(self, small: Path) -> None:
        done = invoke("graph", "export", "--format", "jsonl", "--repo", str(small), "--kind", "overrides")
        assert (done.code, done.stdout) == (1, "")
        assert "no edges match" in done.stderr


class TestNetworkx:
    @pytest.fixture(params=["node-link", "graphml"])
    def graph(self, request: pytest.FixtureRequest, odd: Path) -> networkx.MultiDiGraph:
        text = export(odd, "--format", request.param)
        if request.param == "node-link":
            return networkx.node_link_graph(json.loads(text), edges="edges")
        return networkx.read_graphml(io.BytesIO(text.encode()), force_multigraph=True)

    @pytest.fixture
    def odd(self, small: Path) -> Path:
        return write_all(small, ODD)

    def test_edges(self, graph: networkx.MultiDiGraph, odd: Path) -> None:
        assert graph.is_directed() and graph.is_multigraph()
        read = {(s, t, kind): data for s, t, kind, data in graph.edges(keys=True, data=True)}
        written = {(e["source"], e["target"], e["kind"]): e for e in edges_of(odd)}
        assert read.keys() == written.keys()
        for key, data in read.items():
            assert {**data} == {k: v for k, v in written[key].items() if k in data}
            assert {"kind", "rule", "confidence", "line", "n"} - {"line"} <= data.keys()

    def test_nodes(self, graph: networkx.MultiDiGraph) -> None:
        assert graph.nodes["shop/prices.py::with_tax"] == {
            "kind": "function", "path": "shop/prices.py", "start_line": 6, "end_line": 7,
            "layer": "logic", "tier": "leaf",
        }  # fmt: skip
        (odd_path,) = ODD
        assert graph.nodes[odd_path.replace("#", "%23")]["path"] == odd_path
        assert not any(node.startswith("external:") for node in graph)

    @pytest.mark.parametrize("kind", ["node-link", "graphml"])
    def test_nodes_without_edges(self, kind: str, small: Path) -> None:
        text = export(small, "--format", kind, "--kind", "imports")
        assert "shop/prices.py::with_tax" in text

    @pytest.mark.slow
    def test_externals_have_no_place(self, taskboard_copy: Path) -> None:
        data = json.loads(export(taskboard_copy, "--format", "node-link", "--all"))
        graph = networkx.node_link_graph(data, edges="edges")
        externals = [attributes for node, attributes in graph.nodes(data=True) if node.startswith("external:")]
        nothing = dict.fromkeys(("path", "start_line", "end_line", "layer", "tier"))
        assert externals[0] == {"kind": "external", **nothing}
        text = export(taskboard_copy, "--format", "graphml", "--all")
        graph = networkx.read_graphml(io.BytesIO(text.encode()))
        externals = [attributes for node, attributes in graph.nodes(data=True) if node.startswith("external:")]
        assert externals[0] == {"kind": "external"}

    @pytest.mark.skipif(os.name == "nt", reason="names of files are more limited there")
    def test_what_xml_cannot_hold(self, tmp_path: Path) -> None:
        write_all(tmp_path, {"a\x01%\x1b.py": "def f(): pass\n"})
        graph = networkx.read_graphml(io.BytesIO(export(tmp_path, "--format", "graphml").encode()))
        assert graph.nodes["a%01%25%1B.py"]["path"] == "a%01%%1B.py"


class TestDrawings:
    def test_dot(self, small: Path) -> None:
        write_all(small, ODD)
        text = export(small, "--format", "dot", "--kind", "calls")
        string = r'"((?:[^"\\]|\\.)*)"'
        found = re.findall(rf"^  {string} -> {string} \[label={string}, ", text, re.MULTILINE)
        unescaped = {tuple(re.sub(r"\\(.)", r"\1", part) for part in edge) for edge in found}
        assert unescaped == {(e["source"], e["target"], e["kind"]) for e in edges_of(small, "--kind", "calls")}
        assert text.startswith("digraph ") and text.endswith("}\n")

    def test_mermaid(self, small: Path) -> None:
        write_all(small, ODD)
        text = export(small, "--format", "mermaid", "--kind", "calls")
        labels = dict(re.findall(r'^  (n\d+)\["([^"]*)"\]$', text, re.MULTILINE))
        plain = {name: re.sub(r"#(\d+);", lambda m: chr(int(m[1])), label) for name, label in labels.items()}
        arrows = re.findall(r"^  (n\d+) -->\|(\w+)\| (n\d+)$", text, re.MULTILINE)
        assert {(plain[s], plain[t], kind) for s, kind, t in arrows} == {
            (e["source"], e["target"], e["kind"]) for e in edges_of(small, "--kind", "calls")
        }
        assert list(labels) == [f"n{i}" for i in range(len(labels))]
        assert len(text.splitlines()) == 1 + len(labels) + len(arrows)

    def test_doubtful_edges_are_broken_lines(self, taskboard_copy: Path) -> None:
        assert "style=dashed" in export(taskboard_copy, "--format", "dot", "--min-confidence", "0")
        assert "-.->|" in export(taskboard_copy, "--format", "mermaid", "--min-confidence", "0")
        assert "style=dashed" not in export(taskboard_copy, "--format", "dot")


class TestOutput:
    def test_file(self, small: Path, tmp_path: Path) -> None:
        target = tmp_path / "edges.jsonl"
        target.write_text("old")
        assert export(small, "--format", "jsonl", "--output", str(target)) == ""
        assert target.read_text() == export(small, "--format", "jsonl")
        assert list(tmp_path.glob("edges*")) == [target]

    def test_dash_is_stdout(self, small: Path) -> None:
        assert export(small, "--format", "jsonl", "--output", "-") == export(small, "--format", "jsonl")

    @pytest.mark.parametrize("name", ["nowhere/edges.jsonl", "small"])
    def test_cannot_be_written(self, name: str, small: Path, tmp_path: Path) -> None:
        done = invoke("graph", "export", "--format", "jsonl", "--repo", str(small), "--output", str(tmp_path / name))
        assert "cannot write" in done.failed("usage")

    @pytest.mark.slow
    @pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no such file")
    def test_a_device_is_not_replaced(self, small: Path) -> None:
        done = run("graph", "export", "--format", "jsonl", "--output", "/dev/stdout", cwd=small)
        assert done.stdout == export(small, "--format", "jsonl")
        assert not list(Path("/dev").glob("stdout*.new"))

    @pytest.mark.parametrize("error", [KeyboardInterrupt, UsageError])
    def test_nothing_half_written(self, error: type[BaseException], tmp_path: Path) -> None:
        target = tmp_path / "edges.jsonl"
        target.write_text("old")
        with pytest.raises(error), open_destination(target) as write:
            write("new")
            raise error
        assert target.read_text() == "old"
        assert list(tmp_path.iterdir()) == [target]
