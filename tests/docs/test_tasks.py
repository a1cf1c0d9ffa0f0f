"""Tasks of the first page of the documentation: each names a page; ten of these show how, by commands that
`test_shell_blocks` runs."""

import re

from tests.docs.blocks import DOCS
from tests.docs.shell_blocks import shell_blocks

_ROW = re.compile(r"^\| (?P<task>[^|]+) \| (?P<pages>[^|]*\]\([^|]+) \|$", re.MULTILINE)


def test_ten_tasks_are_shown_by_commands_that_run() -> None:
    """Servers and installations of clients, which no block can run, have tests of their own."""
    first = (DOCS / "index.md").read_text(encoding="utf-8")
    used = first[first.index("## Use it") : first.index("## Understand it")]
    tasks = {row["task"]: re.findall(r"\]\(([^)#]+)", row["pages"]) for row in _ROW.finditer(used)}
    assert len(tasks) >= 15 and all(tasks.values())
    shown = [
        task for task, pages in tasks.items() if any(
            not block.reason for page in pages for block in shell_blocks((DOCS / page).read_text(encoding="utf-8"))
        )
    ]  # fmt: skip
    assert len(shown) >= 10, sorted(set(tasks) - set(shown))


def test_the_first_page_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\(([a-z-]+\.md)", (DOCS / "index.md").read_text(encoding="utf-8")))
    assert linked >= {path.name for path in DOCS.glob("*.md")} - {"index.md"}
