"""What is shown of definitions: signature and documentation, where grammars have comments before bodies."""

import pytest

from tests.parse.facts_of import facts_of


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialect", "text", "shown"),
    [
        (
            "ruby",
            "# Doors.\nclass Door < Base\n  belongs_to :x\n  # Opens it.\n"
            "  def open(a,\n           b)\n    # why\n    go\n  end\n"
            "  private def shut; end\n  attr_reader :a\nend\n",
            [
                ("Door", "class Door < Base", "Doors."),
                ("Door.x", "belongs_to :x", ""),
                ("Door.open", "def open(a, b)", "Opens it."),
                ("Door.shut", "private def shut; end", ""),
                ("Door.a", "attr_reader :a", ""),
            ],
        ),
        (
            "lua",
            "--- Opens it.\n-- @param a what\nlocal function open(a)\n  -- why\n  return a\nend\n"
            "--[[ Shuts\nit. ]]\nfunction M:shut() end\n",
            [("open", "local function open(a)", "Opens it."), ("M.shut", "function M:shut() end", "Shuts")],
        ),
        ("bash", "# Opens it.\nopen() {\n  # why\n  go\n}\n", [("open", "open()", "Opens it.")]),
        (
            "python",
            "def open(  # the door\n    a='#',\n    # of wood\n    b: int = 1,\n) -> None:  # pragma: no cover\n"
            "    # why\n    # not\n    go()\n",
            [("open", "def open( a='#', b: int = 1, ) -> None", "")],
        ),
        (
            "rust",
            "fn open<'a>(\n    x: &'a str, // \"what\"\n    // of wood\n    y: &str,\n) -> &'a str\nwhere\n"
            "    // why\n    T: A,\n{\n}\n",
            [("open", "fn open<'a>( x: &'a str, y: &str, ) -> &'a str where T: A,", "")],
        ),
        (
            "typescript",
            "function open(\n  url = 'http://a', // where\n  // of wood\n  b: number, // \"what\n): void {}\n",
            [("open", "function open( url = 'http://a', b: number, ): void", "")],
        ),
        (
            "elixir",
            'defmodule A do\n  @moduledoc ~S"""\n  Doors.\n  """\n'
            '  @doc """\n  Opens it.\n  """\n  @spec open(t) :: t\n'
            "  def open(1), do: 1\n  def open(x) when x > 1 do\n    x\n  end\n"
            '  @doc "Shuts it."\n  @impl true\n  def shut, do: 1\nend\n',
            [
                ("A", "defmodule A", "Doors."),
                ("A.open", "def open(1), do: 1", "Opens it."),
                ("A.shut", "def shut, do: 1", "Shuts it."),
            ],
        ),
    ],
)
def test_signatures_and_documentation(dialect: str, text: str, shown: list[tuple[str, str, str]]) -> None:
    assert [(d.qualname, d.signature, d.doc) for d in facts_of(text, dialect).definitions] == shown


def test_clauses_are_one_definition_with_all_their_lines_and_calls() -> None:
    facts = facts_of("defmodule A do\n  def f(1), do: g(1)\n  def f(2), do: h(2)\n  def g(x), do: x\nend\n", "elixir")
    assert [(d.qualname, d.start_row, d.end_row) for d in facts.definitions] == [
        ("A", 0, 4),
        ("A.f", 1, 2),
        ("A.g", 3, 3),
    ]
    assert [(call.scope, call.callee) for call in facts.calls] == [(1, "g"), (1, "h")]
