"""What of a passage is shown."""

from causalist.memory.documents import find_excerpt

LEAVE = """## Family Leave

People like their work. It is said to be fair. If you become a parent, you get 16 weeks of leave. Ask Ada Byron
about the papers.

| Country | Weeks |
| ------- | ----- |
| Norway  | 20    |
"""


def test_the_stretch_with_most_of_the_question() -> None:
    found = find_excerpt(LEAVE, "How many weeks of leave does a parent get?", length=60)
    assert found.text == "… If you become a parent, you get 16 weeks of leave. …"
    assert found.words == ("weeks", "leave", "parent")
    assert find_excerpt(LEAVE, "papers", names=["ada_byron"], length=35).text == "… Ask Ada Byron about the papers. …"
    assert find_excerpt(LEAVE, "leave", length=5_000).text.startswith("People like their work.")
    # A word of the heading counts as said, and the heading is not repeated.
    assert find_excerpt(LEAVE, "family", length=25) == ("People like their work. …", ("family",))


def test_words_that_are_not_there() -> None:
    assert find_excerpt(LEAVE, "zebra", length=25) == ("People like their work. …", ())
    assert find_excerpt("", "zebra") == ("", ())
    assert find_excerpt("# Only a heading", "heading").words == ("heading",)


def test_sentences_without_an_end_are_cut_around_the_word() -> None:
    text = "word " * 300 + "needle " + "word " * 300
    found = find_excerpt(text, "needle", length=80)
    assert "needle" in found.text and len(found.text) < 120
    assert found.text.startswith("… ") and found.text.endswith(" …")
    assert len(find_excerpt("x" * 10_000, "needle", length=80).text) < 200
