"""Functions without a name that are given to calls: which of them are definitions, and how they are called."""

import pytest

from causalist.model.node_ids import NodeKind, escape_name, unescape_name
from tests.parse.facts_of import facts_of


def _handlers(text: str, dialect: str = "javascript") -> list[tuple[str, str]]:
    return [(d.name, d.qualname) for d in facts_of(text, dialect).definitions if d.kind == NodeKind.HANDLER]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('on("a", () => {});', "on a"),
        ('this.bus.on("a", function () {});', "on a"),
        ("bus?.once('a', async () => {});", "once a"),
        ("app.get(`/a`, check, (req, res) => {});", "get /a"),
        ('app.use("/a", wrap(async (req) => {}));', "use /a"),
        ("bus.on(Events.Saved, () => {});", "on Events.Saved"),
        ("bus.on(SAVED, () => {});", "on SAVED"),
        ('it.only("a", () => {});', "it a"),
        ('describe.each([[1], [f(2)]])("a %i", (n) => {});', "describe a %i"),
        ("it.each`\n  a\n  ${1}\n`('b', ({ a }) => {});", "it b"),
        ('test.skipIf(isCold())("a", () => {});', "test a"),
        ('  describe ("a", () => {});', "describe a"),
        (r'it("says \"a\"   and\n b", () => {});', 'it says "a" and b'),
        ('it("' + "long " * 30 + '", () => {});', "it " + "long " * 15 + "long…"),
    ],
)
def test_the_name_is_of_callee_and_string(text: str, name: str) -> None:
    assert [each[0] for each in _handlers(text)] == [name]


@pytest.mark.parametrize(
    "text",
    [
        'name.replace("a", () => "b");',
        'knex.createTable("a", (table) => { table.id(); });',
        'vi.mock("./a", () => ({ a: 1 }));',
        'socket.emit("a", 1, (answer) => {});',
        "items.map((item) => item);",
        "bus.on(name, () => {});",
        "bus.on(`a ${name}`, () => {});",
        'bus.on("", () => {});',
        'bus.on("a", listener);',
        'https.get("https://a.example/b", (answer) => {});',
        'make().each("a", () => {});',
        'function f(bus) {\n  bus.on("a", () => stop());\n}',
    ],
)
def test_other_functions_belong_to_what_they_stand_in(text: str) -> None:
    assert _handlers(text) == []


def test_typed_calls_and_chains() -> None:
    text = 'app\n  .get<Params>("/a", (q) => { f(q); })\n  .post("/b", (q) => {\n    g(q);\n  });\n'
    facts = facts_of(text, "typescript")
    found = [(d.name, d.start_row, d.end_row) for d in facts.definitions]
    assert found == [("get /a", 0, 1), ("post /b", 2, 4)]
    calls = {call.callee: call.scope for call in facts.calls}
    assert (calls["f"], calls["g"], calls["app.get"]) == (0, 1, -1)


def test_what_joins_and_numbers_names_is_escaped() -> None:
    text = 'describe("a.b", () => {\n  it("100% of #1 is c::d~2", () => {\n    function e() {}\n  });\n});\n'
    facts = facts_of(text, "javascript")
    assert [d.qualname for d in facts.definitions] == [
        "describe a%2Eb",
        "describe a%2Eb.it 100%25 of %231 is c%3A%3Ad%7E2",
        "describe a%2Eb.it 100%25 of %231 is c%3A%3Ad%7E2.e",
    ]
    assert [d.parent for d in facts.definitions] == [-1, 0, 1]


@pytest.mark.parametrize("name", ["a.b", "%2E", "a::b:c", "#~%", "on a%7Eb~2"])
def test_an_escaped_name_is_read_back(name: str) -> None:
    assert not set(".#~") & set(escape_name(name)) and "::" not in escape_name(name)
    assert unescape_name(escape_name(name)) == name
