"""The content of the page beside the documents: colors of source, and questions of the repository at hand."""

from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from causalist.servers.web import color_source, find_questions
from tests.cli.commands import CHECKOUT, write_all


def colored(path: str, text: str) -> list[list[tuple[str, str]]]:
    """The parts of each line with their class, as a page in UTF-16 cuts them."""
    lines = []
    for line, runs in zip(text.split("\n"), color_source(path, text), strict=False):
        units, parts, at = line.encode("utf-16-le"), [], 0
        for length, shown in zip(runs[::2], runs[1::2], strict=True):
            end = at + 2 * int(length)
            parts.append((units[at:end].decode("utf-16-le"), str(shown)))
            at = end
        assert at == len(units)
        lines.append(parts)
    return lines


def test_every_character_is_in_a_part() -> None:
    assert colored("a.py", 'x = "😀é"  # 😀\nreturn 5\n') == [
        [("x = ", ""), ('"😀é"', "s"), ("  ", ""), ("# 😀", "c")],
        [("return", "k"), (" ", ""), ("5", "m")],
        [],
    ]
    two = colored("a.py", '"""One\n  two"""\r\n')
    assert two[0] == [('"""One', "s")] and two[1][0] == ('  two"""', "s")


@pytest.mark.parametrize(
    ("path", "text", "keyword"),
    [
        ("a.php", "function pay($x) {\n    return $x;\n}", "return"),
        ("A.vue", "const x = 5", "const"),
        ("a.ts", "export class A {}", "export"),
        ("a.go", "func main() {}", "func"),
        ("a.rs", "pub fn main() {}", "pub"),
        ("A.java", "public class A {}", "public"),
        ("a.kt", "fun main() {}", "fun"),
        ("a.ex", "def x, do: 1", "def"),
    ],
)
def test_definitions_of_languages(path: str, text: str, keyword: str) -> None:
    assert any(part == keyword and shown in ("k", "f") for line in colored(path, text) for part, shown in line)


def test_no_colors_for_what_is_unknown_or_long() -> None:
    assert color_source("a.unknown", "return 5") == [] and color_source("", "") == []
    assert color_source("a.py", "x = " + "1" * 2_000) == []
    assert len(color_source("a.py", "x = 1\n" * 5_000)) == 2_000


@pytest.mark.slow
def test_questions_lead_back_to_what_they_come_from() -> None:
    repository = Repository.open(CHECKOUT / "sample_repos" / "taskboard-api", exact_root=True)
    questions = find_questions(repository, repository.map(max_tokens=4_000).overview)
    assert questions == find_questions(repository, repository.map(max_tokens=4_000).overview)
    ranks = {}
    for question, node in questions:
        ids = [hit.id for hit in repository.ask(question, repository.settings.ask_options()).results]
        ranks[question] = ids.index(node) + 1 if node in ids else None
    assert len(ranks) == 6
    # Before a class there may be its methods, which say the same.
    assert all(rank is not None and rank <= (1 if "handles" in text else 5) for text, rank in ranks.items()), ranks


def test_headings_and_commands(tmp_path: Path) -> None:
    folder = write_all(
        tmp_path / "shop",
        {
            "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n[project.scripts]\nshop = "shop.main:run"\n',
            "README.md": "# Shop\n\n## Installation\n\nRun pip.\n\n## Reserve an article\n\n"
            "Call `reserve_article` first.\n",
            "shop/__init__.py": "",
            "shop/main.py": "from shop.stock import reserve_article\n\n\ndef run():\n    reserve_article(1)\n",
            "shop/stock.py": 'def reserve_article(n):\n    """Keeps one article apart."""\n    return n\n',
        },
    )
    repository = Repository.open(folder, exact_root=True)
    assert find_questions(repository, repository.map(max_tokens=4_000).overview) == [
        ("Reserve an article", "shop/stock.py::reserve_article"),
        ("what does the command shop run", "shop/main.py::run"),
    ]
