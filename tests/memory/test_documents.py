"""Documents -> passages, and the file that keeps them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from causalist.cli.memory import memory_command
from causalist.errors import IndexUnreadable, NothingToIndex, RepositoryNotFound
from causalist.memory import documents
from causalist.memory.document_sync import MemoryFile
from causalist.memory.document_text import html_to_markdown, read_front_matter
from causalist.memory.documents import (
    read_documents,
    resolve_references,
    split_document,
)
from causalist.model.answer import RetrievalMode
from tests.cli.commands import write_all


def _ids(path: str, text: str) -> list[str]:
    return [each.id for each in split_document(path, text)]


def test_sections_without_their_subsections() -> None:
    text = "Before.\n\n# Title\n\nOne.\n\n## Sub\n\nTwo.\n\n# Last\n\nThree.\n"
    found = split_document("a/b.md", text)
    assert [(each.id, each.text, each.metadata["line"]) for each in found] == [
        ("a/b.md", "Before.", 1),
        ("a/b.md#title", "# Title\n\nOne.", 3),
        ("a/b.md#sub", "Title\n\n## Sub\n\nTwo.", 7),
        ("a/b.md#last", "# Last\n\nThree.", 11),
    ]


def test_sections_say_what_they_are_part_of() -> None:
    text = "# One\n\nA.\n\n## Two\n\nB.\n\n### Three\n\n" + "\n\n".join(["C " * 900] * 2) + "\n\n## Four\n\nD.\n"
    for front, before in (("", ""), ("---\ntitle: Zero\n---\n", "Zero"), ("---\ntitle: one\n---\n", "")):
        first = [each.text.split("\n")[0] for each in split_document("a.md", front + text)]
        above = f"{before} > " if before else ""
        assert first == [
            before or "# One",
            f"{above}One",
            f"{above}One > Two",
            f"{above}One > Two > Three",
            f"{above}One",
        ]


def test_kinds_of_text() -> None:
    assert _ids("a.rst", "Title\n=====\n\nText.\n\nSub\n---\n\nMore.\n") == ["a.rst#title", "a.rst#sub"]
    assert _ids("a.adoc", "= Title\n\nText.\n\n== Sub\n\nMore.\n") == ["a.adoc#title", "a.adoc#sub"]
    assert _ids("a.txt", "just some lines\nof text\n") == ["a.txt"]
    assert _ids("a.html", "<nav>menu</nav><h1>One</h1><p>x</p><h2>Two</h2><p>y</p>") == ["a.html#one", "a.html#two"]
    assert _ids("empty.md", "\n\n---\n") == []


def test_long_sections_are_cut_between_paragraphs() -> None:
    paragraphs = [f"Paragraph {i} " + "x" * 900 for i in range(8)]
    found = split_document("a.md", "# Long\n\n" + "\n\n".join(paragraphs))
    assert [each.id for each in found] == ["a.md#long", "a.md#long~part2", "a.md#long~part3"]
    assert all(len(each.text) < 3_100 for each in found)
    joined = "\n\n".join(each.text for each in found)
    assert all(paragraph in joined for paragraph in paragraphs)
    assert found[1].text.startswith("Long\n\nParagraph")


def test_a_heading_alone_belongs_to_its_first_part() -> None:
    for path, text in (
        ("a.md", "# Disk full\n\n## Meaning\n\nX.\n\n## Impact\n\n### Users\n\nY.\n\n## Notes\n"),
        (
            "a.rst",
            "Disk full\n=========\n\nMeaning\n-------\n\nX.\n\nImpact\n------\n\nUsers\n~~~~~\n\nY.\n\nNotes\n-----\n",
        ),
    ):
        found = [(each.id.partition("#")[2], each.metadata["title"]) for each in split_document(path, text)]
        assert found == [("meaning", "Disk full: Meaning"), ("users", "Impact: Users"), ("notes", "Notes")]
    documents = [*split_document("a.md", "# A\n\n## B\n\nX.\n\n## C\n\n### D\n\nY.\n"),
                 *split_document("b.md", "[c](a.md#c), [b](a.md#b), [gone](a.md#gone)\n")]  # fmt: skip
    assert resolve_references(documents)[-1].metadata["references"] == ["a.md#d", "a.md#b"]


def test_long_paragraphs_are_cut_between_lines() -> None:
    log = [f"[12:{i // 60:02}:{i % 60:02}] <ada> message {i} about the ledger" for i in range(300)]
    found = split_document("chat.txt", "\n".join(log))
    assert len(found) == 5 and all(len(each.text) <= 3_100 for each in found)
    assert "\n".join(each.text for each in found).split("\n") == log
    fenced = "# Code\n\n```\n" + "\n".join(log) + "\n```\n"
    assert [each.text.count("```") for each in split_document("code.md", fenced)] == [0, 2]


LABELED = """# Seven

From [Two], [the *third*][3],
[Part][] and [web][ Far  away ] [no]; [x] `[two]` a[Two](y).

```
[two]: none.md
[two]
```

[TWO]: b/two.md "Two"
[3]: <c.rst>
[part]: b/two.md#part
[far away]: https://x.y/a_(b)
[two]: c.rst
"""


def test_links_become_references() -> None:
    documents = [
        *split_document(
            "a/one.md", "# One\n\nSee [two](../b/two.md#part), [web](https://x.y/z) and ![pic](../b/two.md)."
        ),
        *split_document("b/two.md", "# Two\n\nBack to [one](/a/one.md).\n\n## Part\n\n[up](#two) [gone](none.md)"),
        *split_document("c.rst", "Three\n=====\n\n:doc:`a/one` and :ref:`see <part>`, :mod:`json`.\n"),
        *split_document("d.html", "<h1>Four</h1><a href='b/two.md'>two</a>"),
        *split_document("e.rst", "Five\n====\n\n`Three`_, `#7 <https://x.y/7>`_, `up\n<a/one.md>`__ and ``code``_.\n"),
        *split_document("g.md", LABELED),
        *split_document("f.adoc", "= Six\n\nxref:c.rst#three[the third], link:b/two.md[] and link:https://x.y[web]\n"),
    ]
    found = {each.id: (each.text, each.metadata.get("references")) for each in resolve_references(documents)}
    assert found["a/one.md#one"] == ("# One\n\nSee two, web and pic.", ["b/two.md#part"])
    assert found["b/two.md#two"][1] == ["a/one.md#one"]
    assert found["b/two.md#part"] == ("Two\n\n## Part\n\nup gone", ["b/two.md#two"])
    assert found["c.rst#three"] == ("Three\n=====\n\na/one and see, `json`.", ["a/one.md#one", "b/two.md#part"])
    assert found["d.html#four"][1] == ["b/two.md#two"]
    assert found["e.rst#five"] == ("Five\n====\n\nThree, #7, up and ``code``_.", ["c.rst#three", "a/one.md#one"])
    prose = "# Seven\n\nFrom Two, the *third*,\nPart and web [no]; [x] `[two]` aTwo."
    shown = f"{prose}\n\n```\n[two]: none.md\n[two]\n```"
    assert found["g.md#seven"] == (shown, ["b/two.md#two", "c.rst#three", "b/two.md#part"])
    assert found["f.adoc#six"][0].endswith("the third, b/two.md and web")
    assert found["f.adoc#six"][1] == ["c.rst#three", "b/two.md#two"]


def test_front_matter_dates_a_document() -> None:
    (found,) = split_document("a.md", "---\ndate: 2024-03-01\n---\n# One\n\nText\n")
    assert found.metadata["timestamp"] == "2024-03-01"


def test_front_matter_is_no_passage_and_names_a_document() -> None:
    found = split_document("a.md", "---\ntitle: Key notes\nstate: accepted\n---\n\nRotate monthly.\n\n# Who\n\nAda.\n")
    assert [(each.id, each.text, each.metadata["title"]) for each in found] == [
        ("a.md", "Rotate monthly.", "Key notes"),
        ("a.md#who", "Key notes\n\n# Who\n\nAda.", "Who"),
    ]
    assert [each.metadata["line"] for each in found] == [4, 8]


def test_documents_name_others_as_links_do() -> None:
    (found,) = split_document("adr/2.md", "---\nsupersedes: [1.md, ../old.md#part]\n---\nText\n")
    assert found.metadata["supersedes"] == ["1.md", "../old.md#part", "adr/1.md", "old.md#part"]


def test_html_has_front_matter_too() -> None:
    (found,) = split_document("a.html", "---\nvisible_to: ops\n---\n<p>Key</p>")
    assert (found.text, found.metadata["visible_to"]) == ("Key", ["ops"])


def test_html_says_what_people_see() -> None:
    html = (
        "<head><title>t</title></head><script>alert(1)</script><div class='related'><a href=x>menu</a></div>"
        "<p>a &amp; b{{- if .Page.Title -}}<br>{% block\nbody %}c</p><p><code>{{ x }}</code> {{</p>"
        "<pre>x =\n  1</pre><ul><li>one<li>two</ul><p>unclosed <b>bold <footer>foot"
    )
    assert html_to_markdown(html) == "a & b\n\nc\n\n`{{ x }}` {{\n\n    x =\n      1\n\n- one\n\n- two\n\nunclosed bold"
    for broken in ("<", "</p></p>", "<a href", "<nav><p>", "<![CDATA[x", "<pre></pre></pre>", "&#xFFFFFFFF;"):
        html_to_markdown(broken)


def test_what_is_ignored_or_secret_stays_out(tmp_path: Path) -> None:
    _write(tmp_path)
    reading = read_documents([tmp_path], tmp_path)
    assert reading.paths == ["docs/a.md"]
    assert list(reading.skipped) == ["docs/page.pdf"]
    assert "ABCDEFGHIJKLMNOP" not in reading.passages[0].text


def _write(folder: Path) -> Path:
    return write_all(
        folder,
        {
            ".causalistignore": "drafts/\n",
            "drafts/a.md": "# Draft\n\nnothing",
            "node_modules/x/README.md": "# No\n\nnothing",
            "docs/a.md": "# Key\n\naws_key = AKIA" + "ABCDEFGHIJKLMNOP" + "\n",
            "docs/page.pdf": "%PDF-1.4",
            "app.py": "x = 1\n",
        },
    )


def test_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1")
    with pytest.raises(NothingToIndex, match="no document"):
        read_documents([tmp_path], tmp_path)
    with pytest.raises(RepositoryNotFound):
        read_documents([tmp_path / "missing"], tmp_path)


def test_a_shelf_follows_its_documents(tmp_path: Path) -> None:
    write_all(tmp_path, {"docs/a.md": "# A\n\nThe Alpha Team.", "docs/b.md": "# B\n\nBeta Team.", "n/c.md": "# C\n\nx"})
    write_all(tmp_path, {"n/empty.md": "---\ntitle: Nothing\n---\n"})
    memory_file = MemoryFile.locate(None, tmp_path)
    assert memory_file.path == tmp_path / ".causalist" / "memory.db"
    with pytest.raises(IndexUnreadable, match="causalist memory add"):
        memory_file.open()
    assert memory_file.add([tmp_path / "docs", tmp_path / "n"])[:4] == (4, 3, 3, 0)
    assert memory_file.add([tmp_path / "docs", tmp_path / "n"])[:4] == (4, 3, 0, 0)  # one has no passage
    stamp = memory_file.path.stat().st_mtime_ns
    assert memory_file.add([tmp_path / "docs"])[:4] == (2, 2, 0, 0)
    assert memory_file.path.stat().st_mtime_ns == stamp
    (tmp_path / "docs" / "a.md").unlink()
    write_all(tmp_path, {"docs/b.md": "# B\n\nBeta Team is new."})
    assert memory_file.add([tmp_path / "docs"])[:4] == (1, 1, 1, 1)
    assert memory_file.open().passage_ids == ["docs/b.md#b", "n/c.md#c"]


def test_adding_again_reads_what_changed_and_equals_a_memory_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "docs/a.md": "# Alpha\n\nThe Alpha Team. See [beta](b.md#beta) and [later](c.md).",
        "docs/b.md": "# Beta\n\nBeta Team.",
        "docs/d.md": "# Delta\n\nDelta Team.",
    }
    write_all(tmp_path, texts)
    memory_file = MemoryFile.locate(None, tmp_path)
    memory_file.add([tmp_path / "docs"])
    parsed: list[str] = []
    original = documents.split_document
    monkeypatch.setattr(documents, "split_document", lambda path, text: (parsed.append(path), original(path, text))[1])
    assert memory_file.add([tmp_path / "docs"])[:4] == (3, 3, 0, 0)
    assert parsed == []
    # A new document is what an old one linked to already: that one is not read again, and refers to it.
    write_all(tmp_path, {"docs/c.md": "# Gamma\n\nGamma Team.", "docs/d.md": "# Delta\n\nOther Team."})
    assert memory_file.add([tmp_path / "docs"])[:4] == (4, 4, 3, 0)
    assert parsed == ["docs/c.md", "docs/d.md"]
    assert memory_file.open().passage("docs/a.md#alpha")[1]["references"] == ["docs/b.md#beta", "docs/c.md#gamma"]
    fresh = MemoryFile.locate(tmp_path / "fresh.db", tmp_path)
    fresh.add([tmp_path / "docs"])
    assert fresh.open().to_node_link() == memory_file.open().to_node_link()
    # Whoever changes the memory by other means has everything read again.
    index = memory_file.open()
    index.remove_passage("docs/b.md#beta")
    index.save(memory_file.path)
    parsed.clear()
    assert memory_file.add([tmp_path / "docs"])[:4] == (4, 4, 1, 0)
    assert len(parsed) == 4


def test_what_was_read_before_may_be_damaged_or_of_another_memory(tmp_path: Path) -> None:
    write_all(tmp_path, {"docs/a.md": "# A\n\nAlpha Team."})
    memory_file = MemoryFile.locate(None, tmp_path)
    memory_file.add([tmp_path / "docs"])
    beside = memory_file.path.with_name("memory.db.read")
    good = beside.read_text()
    for bad in ("", "[]", "{}", good.replace('"format": 1', '"format": 99'), good[: len(good) // 2], "\0"):
        beside.write_text(bad)
        assert memory_file.add([tmp_path / "docs"])[:4] == (1, 1, 0, 0)
    memory_file.path.unlink()
    assert memory_file.add([tmp_path / "docs"])[:4] == (1, 1, 1, 0)


def test_text_in_wide_characters_and_pages_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_bytes("The Ledger of Zoë Byron.".encode("utf-16"))
    (tmp_path / "page.html").write_text("<h1>One</h1><p>" + "A word of Ada. " * 2_000, encoding="utf-8")
    (tmp_path / "data.txt").write_bytes(b"a\0b")
    reading = read_documents([tmp_path], tmp_path)
    assert reading.paths == ["page.html", "wide.txt"]
    assert reading.passages[-1].text == "The Ledger of Zoë Byron."
    assert reading.skipped == {"data.txt": "binary"}


def test_older_encodings_are_read_where_nothing_is_utf_8(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("The café of Zoë Byron – “Byron’s”.".encode("cp1252"))
    (tmp_path / "spoilt.txt").write_bytes("The café of Zoë ".encode() + b"\xe9 Byron.")
    texts = {each.metadata["path"]: each.text for each in read_documents([tmp_path], tmp_path).passages}
    assert texts == {"old.txt": "The café of Zoë Byron – “Byron’s”.", "spoilt.txt": "The café of Zoë \ufffd Byron."}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("---\nvisible_to: ops\n---\nx", {"visible_to": ["ops"]}),
        ("---\nvisible_to:\n  - ops\n  - 'ada'\nconfidence: 0.25\n---\n",
         {"visible_to": ["ops", "ada"], "confidence": 0.25}),
        ("---\nsupersedes: [old.md, older.md#part]\ncontradicts: []\n...\n",
         {"supersedes": ["old.md", "older.md#part"], "contradicts": []}),
        ("---\nvisible_to:\ntitle: T\n---\n", {"visible_to": [], "title": "T"}),  # nobody
        ("---\nconfidence: high\ntimestamp: 2024-03-01T10:00:00Z\n---\n", {"timestamp": "2024-03-01T10:00:00Z"}),
        ("# No front matter\nvisible_to: ops\n", {}),
        ("---\nvisible_to: ops\n", {}),  # without an end
        ("\ufeff---\r\nvisible_to: [ops,\r\n  'ada' # both\r\n]\r\ntitle: T\r\n---\r\n",
         {"visible_to": ["ops", "ada"], "title": "T"}),
        ('+++\ntitle = "T"\ndate = 2024-03-01T10:00:00Z\nvisible_to = [\n  "ops",\n  "ada",\n]\n'
         '[extra]\ndate = 1999-01-01\ntitle = "of the table"\n+++\n',
         {"title": "T", "visible_to": ["ops", "ada"], "timestamp": "2024-03-01T10:00:00Z"}),
        ("\n\n---\nVisible-To: ops # and no one else\nconfidence: 0.5 # a guess\n---\n",
         {"visible_to": ["ops"], "confidence": 0.5}),
    ],
)  # fmt: skip
def test_front_matter(text: str, found: dict[str, object]) -> None:
    assert read_front_matter(text) == found


def test_what_few_may_see_is_hidden_from_the_rest(tmp_path: Path) -> None:
    (tmp_path / "open.md").write_text("# Ledger\n\nAda Byron keeps the Ledger.\n")
    (tmp_path / "hidden.md").write_text("---\nvisible_to: [ops]\n---\n# Ledger key\n\nThe key of the Ledger is 7.\n")
    memory = MemoryFile(tmp_path / "memory.db", tmp_path)
    memory.add([tmp_path])
    index = memory.open()

    def seen(**options: object) -> set[str]:
        found = index.retrieve("key of the Ledger", **options)  # type: ignore[arg-type]
        return {each.passage_id.partition("#")[0] for each in found}

    assert seen() == {"open.md", "hidden.md"}
    for mode in RetrievalMode:
        assert seen(readers=(), mode=mode) == seen(readers=("ada",), mode=mode) == {"open.md"}
        assert seen(readers=("ada", "ops"), mode=mode) == {"open.md", "hidden.md"}
    index.add_passage("secret", "Zeta Code opens the Ledger of Ada Byron.", metadata={"visible_to": ["ops"]})
    assert "open.md#ledger" in {each.passage_id for each in index.retrieve("Zeta Code")}
    assert index.retrieve("Zeta Code", readers=()) == []  # what is hidden leads nowhere
    hops = index.retrieve_multi_hop("key of the Ledger", readers=())
    assert {each.passage_id for each in hops} == {"open.md#ledger"}
    index.add_passage("letters", "The Ledger has one reader.", metadata={"visible_to": "ops"})
    for readers, n in (("ops", 4), ("pso", 1), (["p", "ops"], 4), ("", 1)):  # a name is no list of letters
        assert len(index.retrieve("Ledger", readers=readers)) == len(index.visible_to(readers)) == n
        assert index.retrieve_multi_hop("Ledger", readers=readers) != []
    for options, n in (([], 1), (["--reader", "ops"], 2)):
        run = CliRunner().invoke(
            memory_command, ["search", "key of the Ledger", "--memory", str(memory.path), "--json", *options]
        )
        assert len(json.loads(run.stdout)["results"]) == n
