"""Passages of text that no grammar reads."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.parse.prose import MAX_PASSAGE_ROWS, MAX_PASSAGES, MIN_PASSAGE_ROWS, read_blocks, read_passages

BODY = MIN_PASSAGE_ROWS + 2  # lines that make a block stand for itself


def rows(text: str) -> list[tuple[str, int, int]]:
    """(title, first line, last line), 1-based, of each passage of a file `a.x`."""
    return [(p.title, p.start_row + 1, p.end_row + 1) for p in read_passages("a.x", text)]


def body(line: str, n: int = BODY) -> str:
    return f"{line}\n" * n


FILL = "/* filler */\n" + "void fill(void)\n{\n" + body("    step();", MAX_PASSAGE_ROWS - 10) + "}\n\n"  # 55 lines


def test_a_file_that_fits_into_one_passage_has_none() -> None:
    assert rows("int a(void)\n{\n}\n\nint b(void)\n{\n}\n") == []
    assert rows(body("x = 1", MAX_PASSAGE_ROWS - 1)) == []


def test_functions_with_the_comments_above_them() -> None:
    text = (
        FILL
        + "/*\n * Opens it.\n */\nstatic int\nopen_door(int key)\n{\n"
        + body("    turn(key);")
        + "}\n\n// Closes it.\nvoid close_door(void) {\n"
        + body("\tpush();")
        + "}\n"
    )
    # FILL is lines 1-55; the comment 56-58, the head 59-61, the body 62-73, the brace 74, a blank line 75.
    assert rows(text) == [
        ("void fill(void)", 1, 54),
        ("static int open_door(int key)", 56, 74),
        ("void close_door(void)", 76, 90),
    ]


def test_short_neighbours_share_a_passage_under_the_title_of_the_longest() -> None:
    text = FILL + "ab = 1\n\nlock = {\n    x\n    y\n}\n\nef = 3\n"
    assert rows(text) == [("void fill(void)", 1, 54), ("lock", 56, 63)]


def test_what_is_too_long_is_cut_further_in() -> None:
    method = "  def {}\n" + body("    work", 18) + "  end\n\n"  # 21 lines
    text = "class Door\n  attr :key\n\n" + "".join(method.format(name) for name in ("open", "close", "lock")) + "end\n"
    assert rows(text) == [
        ("def open", 1, 23),  # the head of the class is short and goes with the first method
        ("def close", 25, 44),
        ("def lock", 46, 67),
    ]


def test_sections_and_keys_of_configuration() -> None:
    ini = "[server]\n" + body("port = 1", 30) + "[client]\n" + body("port = 2", 30)
    assert rows(ini) == [("[server]", 1, 31), ("[client]", 32, 62)]
    yaml = "on: push\njobs:\n" + body("  - build", 30) + "# Who may.\npermissions:\n" + body("  - read", 30)
    assert rows(yaml) == [("on: push", 1, 32), ("permissions", 33, 64)]
    json = (
        '{\n  "name": "door",\n  "scripts": {\n'
        + body('    "a": 1,', 30)
        + '  },\n  "paths": {\n'
        + body('    "b": 2,', 30)
    )
    # The name is less than a passage by itself; the first line of the whole is the brace.
    assert rows(json + "  }\n}\n") == [('name: "door",'.rstrip(","), 1, 34), ("paths", 35, 67)]


def test_statements_of_sql_and_stages_of_a_recipe() -> None:
    table = "CREATE TABLE {} (\n" + body("    id int,", 30) + ");\n"
    assert rows(table.format("door") + table.format("key")) == [
        ("CREATE TABLE door", 1, 32),
        ("CREATE TABLE key", 33, 64),
    ]
    recipe = "all: build\n" + body("\techo", 30) + "clean:\n" + body("\trm", 30)
    assert rows(recipe) == [("all: build", 1, 31), ("clean", 32, 62)]


def test_directives_do_not_cut_what_they_stand_in() -> None:
    text = (
        FILL + "int f(void)\n{\n" + body("    a();", 8) + "#ifdef X\n" + body("    b();", 8) + "#endif\n    c();\n}\n"
    )
    assert rows(text) == [("void fill(void)", 1, 54), ("int f(void)", 56, 77)]


def test_text_without_structure_stays_whole() -> None:
    assert rows(body("word", 5000)) == []
    assert rows("x" * 2_000_000) == []
    assert rows(("y" * 3000 + "\n\n") * 100) == []
    assert read_passages("a.csv", FILL + FILL) == ()


def test_a_dump_has_at_most_so_many_passages() -> None:
    statement = "INSERT INTO door VALUES\n" + body("    (1, 2),", 20) + "\n"
    blocks = read_blocks((statement * 900).split("\n"))
    assert 1 < len(blocks) <= MAX_PASSAGES
    assert (blocks[0].start, blocks[-1].end) == (0, 900 * 22 + 1)


def test_an_edit_changes_the_ids_of_what_it_touches_only() -> None:
    names = [f"step_{i}" for i in range(9)]

    def slugs(functions: list[str]) -> list[str]:
        text = "".join(f"void {name}(void)\n{{\n" + body("    go();") + "}\n\n" for name in functions)
        return [p.slug for p in read_passages("a.x", text)]

    before = slugs(names)
    assert before == [f"void-{name}-void" for name in names]
    assert slugs([*names[:4], "added", *names[4:]]) == [*before[:4], "void-added-void", *before[4:]]
    assert slugs(names[1:]) == before[1:]


@pytest.mark.parametrize("indent", [" ", "\t"])
def test_a_staircase_of_indentation_is_read(indent: str) -> None:
    stairs = [indent * i + "x" for i in range(1300)]
    blocks = read_blocks(stairs)
    assert blocks == [] or (blocks[0].start, blocks[-1].end) == (0, len(stairs))


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["", "a b", "  c:", "    d()", "}", "  end", "# e", "#if", "[f]", "/* g", " */", "\th"]))
)
def test_passages_follow_one_another_without_a_gap(pattern: list[str]) -> None:
    lines = (pattern * 40)[:400]
    blocks = read_blocks(lines)
    if blocks:
        assert [blocks[0].start, *(b.end for b in blocks)] == [*(b.start for b in blocks), len(lines)]
        assert all(b.start < b.end for b in blocks) and 1 < len(blocks) <= MAX_PASSAGES
    text = "\n".join(lines)
    passages = read_passages("a.x", text)
    assert len(passages) == len(blocks) == len({p.slug for p in passages})
    data = text.encode()
    for p in passages:
        assert data[p.start_byte : p.end_byte].decode() in (
            "\n".join(lines[p.start_row : p.end_row + 1]) + "\n",
            "\n".join(lines[p.start_row : p.end_row + 1]),
        )
