"""Notebooks: what stands in which line of the file."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.graph import build_graph
from causalist.parse import load_settings, parse_file, reader_of, view_of

# As Jupyter writes it. The numbers are the lines of the file.
NOTEBOOK = r"""{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": [
    "# Doors \"and\" keys\n",
    "\n",
    "How a door is opened \u2013 caf\u00e9."
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 1,
   "metadata": {},
   "outputs": [
    {
     "data": {"text/plain": ["def not_code(): pass"], "cells": [{"source": "no_cell()"}]}
    }
   ],
   "source": [
    "%matplotlib inline\n",
    "import store\n",
    "from store import (\n",
    "    save,\n",
    ")"
   ]
  },
  {
   "cell_type": "code",
   "source": [
    "def open_door(key):\n",
    "    text = \"turn\\n\"\n",
    "    save(key)\n",
    "    return text"
   ]
  },
  {
   "cell_type": "markdown",
   "source": [
    "Then it is shut."
   ]
  },
  {
   "cell_type": "code",
   "source": [
    "%%bash\n",
    "def not_python() {"
   ]
  },
  {
   "cell_type": "code",
   "source": [
    "open_door(1)\n",
    "!ls"
   ]
  }
 ],
 "metadata": {"kernelspec": {"language": "python"}, "language_info": {"name": "python", "file_extension": ".py"}},
 "nbformat": 4
}
"""


def test_rows_are_those_of_the_file() -> None:
    facts = parse_file("a/door.ipynb", NOTEBOOK.encode())
    lines = NOTEBOOK.split("\n")
    assert (facts.language, facts.diagnostics, facts.n_rows) == ("python", (), len(lines))
    assert [(d.qualname, d.start_row, d.end_row, d.signature) for d in facts.definitions] == [
        ("open_door", 31, 34, "def open_door(key)")
    ]
    assert "def open_door" in lines[31] and "return text" in lines[34]
    assert [(i.module, i.name, i.row) for i in facts.imports] == [("store", "", 22), ("store", "save", 24)]
    assert [(c.callee, c.scope, c.row) for c in facts.calls] == [("save", 0, 33), ("open_door", -1, 53)]


def test_cells_of_text_are_passages_up_to_the_next_one() -> None:
    facts = parse_file("door.ipynb", NOTEBOOK.encode())
    assert [(p.slug, p.title, p.parent, p.start_row, p.end_row) for p in facts.passages] == [
        ("doors-and-keys", 'Doors "and" keys', -1, 6, 54),
        ("then-it-is-shut", "Then it is shut.", 0, 40, 54),
    ]
    assert facts.doc == 'Doors "and" keys'
    assert {"café", "turn", "bash"} <= set((facts.words or b"").decode().split())
    assert not {"outputs", "cell_type", "not_code", "no_cell"} & set((facts.words or b"").decode().split())


def test_the_view_is_what_people_see_at_the_same_place() -> None:
    data = NOTEBOOK.encode()
    view = view_of("door.ipynb", data)
    assert len(view) == len(data)
    lines = [line.rstrip() for line in view.decode().split("\n")]
    assert lines[6:9] == ['# Doors "and" keys', "", "How a door is opened – café."]
    assert lines[21:26] == ["%matplotlib inline", "import store", "from store import (", "    save,", ")"]
    assert lines[32] == '    text = "turn\\n"'
    assert [i for i, line in enumerate(lines) if line] == [6, 8, *range(21, 26), *range(31, 35), 40, 46, 47, 53, 54]
    definition = parse_file("door.ipynb", data).definitions[0]
    shown = view[definition.start_byte : definition.end_byte].decode()
    assert shown.startswith("def open_door(key):") and shown.rstrip().endswith("return text")
    assert view_of("door.py", data) is data


def test_a_notebook_is_linked_like_any_file_of_its_language() -> None:
    files = [
        ("door.ipynb", parse_file("door.ipynb", NOTEBOOK.encode())),
        ("store.py", parse_file("store.py", b"def save(x): ...\n")),
    ]
    graph = build_graph(files, load_settings()).graph
    edges = {(e.source, e.target, e.kind, e.line) for e in map(graph.edge, range(len(graph.edges)))}
    assert ("door.ipynb::open_door", "store.py::save", "calls", 34) in edges
    assert ("door.ipynb", "door.ipynb::open_door", "calls", 54) in edges
    assert ("door.ipynb#doors-and-keys", "door.ipynb#then-it-is-shut", "contains", 41) in edges
    assert ("door.ipynb", "store.py", "imports", 23) in edges


def notebook(*cells: tuple[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"cells": [{"cell_type": kind, "source": source} for kind, source in cells], "metadata": metadata}


@pytest.mark.parametrize("indent", [None, 1])
def test_cells_that_share_a_line_are_counted_in_lines_of_their_own(indent: int | None) -> None:
    cells = (
        ("markdown", "# Title\ntext"),
        ("code", "import a\n\ndef f():\n    a.g()\n"),
        ("code", ["x = f()\n", "x.h()"]),
    )
    data = json.dumps(notebook(*cells), indent=indent).encode()
    facts = parse_file("a.ipynb", data)
    view = view_of("a.ipynb", data)
    assert len(view) == len(data) and facts.diagnostics == ()
    lines = [line.rstrip() for line in view.decode().split("\n")]
    assert [line for line in lines if line] == [
        "# Title", "text", "import a", "def f():", "    a.g()", "x = f()", "x.h()",
    ]  # fmt: skip
    assert [(d.qualname, lines[d.start_row], lines[d.end_row]) for d in facts.definitions if d.name == "f"] == [
        ("f", "def f():", "    a.g()")
    ]
    assert [lines[c.row] for c in facts.calls] == ["    a.g()", "x = f()", "x.h()"]
    assert [(p.title, lines[p.start_row]) for p in facts.passages] == [("Title", "# Title")]
    assert facts.n_rows == len(lines)


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({}, "python"),
        ({"language_info": {"file_extension": ".ts", "name": "typescript"}}, "typescript"),
        ({"kernelspec": {"language": "javascript"}}, "javascript"),
        ({"language_info": {"file_extension": ".r", "name": "R"}}, ""),
        ({"language_info": ["odd"], "kernelspec": 3}, "python"),
    ],
)
def test_the_kernel_tells_the_language(metadata: dict[str, Any], language: str) -> None:
    facts = parse_file("a.ipynb", json.dumps(notebook(("code", ["f(1)"]), **metadata), indent=1).encode())
    assert facts.language == language
    assert [c.callee for c in facts.calls] == (["f"] if language else [])
    assert b"f" in (facts.words or b"").split()


def test_older_notebooks_keep_their_cells_in_sheets() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["f()"], "language": "python"}]}]}
    assert [c.callee for c in parse_file("a.ipynb", json.dumps(old, indent=1).encode()).calls] == ["f"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"3", b'{"cells": 3}', b"[" * 100_000, b'{"cells": []', b"\xff{}", b'{"cells": ["\n"]}']
)
def test_what_is_no_notebook_is_text(data: bytes) -> None:
    facts = parse_file("a.ipynb", data)
    assert [d.slug for d in facts.diagnostics][-1] == "not-a-notebook"
    assert (facts.language, facts.passages) == ("", ()) and view_of("a.ipynb", data) is data


def test_odd_cells() -> None:
    cells = [
        3,
        {},
        {"source": None},
        {"cell_type": "code", "source": [1, "a()", ["b()"], {"source": "c()"}]},
        {"cell_type": 1},
    ]
    data = json.dumps({"cells": cells}, indent=1).encode()
    assert [c.callee for c in parse_file("a.ipynb", data).calls] == ["a"]
    lone = b'{"cells": [{"cell_type": "code", "source": ["a(\'\\ud800\\u0000\\r\')"]}]}'
    assert len(view_of("a.ipynb", lone)) == len(lone)
    assert [c.callee for c in parse_file("a.ipynb", lone).calls] == ["a"]


def test_the_key_of_cached_facts_names_all_grammars() -> None:
    assert reader_of("a.ipynb").startswith("notebook:") and reader_of("b.ipynb") == reader_of("a.ipynb")
    assert reader_of("a.vue").startswith("component:") and reader_of("a.vue") == reader_of("b.svelte")


_source = st.one_of(st.text(), st.lists(st.text(alphabet="ab\n\"\\é#'% ="), max_size=4))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["code", "markdown", "raw"]), _source)),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_views_are_as_long_as_the_file(cells: list[tuple[str, Any]], indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(notebook(*cells), indent=indent, ensure_ascii=ascii_only)
    data = text.encode("utf-8", "replace")
    view = view_of("a.ipynb", data)
    assert len(view) == len(data)
    view.decode("utf-8")
    facts = parse_file("a.ipynb", data)
    assert facts.n_rows == view.count(b"\n") + 1
    for p in facts.passages:
        assert 0 <= p.start_byte <= p.end_byte <= len(data) and p.start_row <= p.end_row < facts.n_rows
    for d in facts.definitions:
        assert view.count(b"\n", 0, d.start_byte) == d.start_row
