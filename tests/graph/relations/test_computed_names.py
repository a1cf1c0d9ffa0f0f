"""Members that are looked up by a computed name: those of the type around and its relatives whose names begin so."""

import pytest

from causalist.model.graph import EdgeKind
from tests.graph.relations.test_routes import graph_of

PYTHON = """
class Visitor:
    def visit(self, node):
        return getattr(self, "visit_" + node.kind)(node)

    def visit_default(self, node): ...
    def finish(self): ...


class Printer(Visitor):
    def visit_name(self, node): ...
    visit_limit = 3


class Parser:
    def formatted(self, token):
        return getattr(self, "_led_%s" % token)

    def interpolated(self, token):
        return getattr(self, f"_led_{token}", None)

    def named(self, token):
        name = "_nud_{}".format(token)
        handler = getattr(self, name)
        return handler

    def unknown(self, token):
        return getattr(self, token)

    def other(self, token):
        return getattr(token, "_led_" + token.kind)

    def whole(self):
        return getattr(self, "_led_plus")  # a whole name is none that begins one

    def _led_plus(self): ...
    def _nud_plus(self): ...
"""
SCRIPT = """
class Machine {
  enter(state) { return this[`enter${state}`](); }
  leave(state) { return this["leave" + state](); }
  any(state) { return this[state](); }
  enterIdle() {}
  leaveIdle() {}
}
"""
RUBY = """
class Report
  def render(format)
    send("render_#{format}", 1)
  end

  def ask(other)
    other.send("render_#{format}")
  end

  def render_html(n)
  end
end
"""
PHP = """<?php
class Model {
    public function get($key) { return $this->{'get' . $key}(); }
    public function fill($key) { $method = 'set' . ucfirst($key); return $this->$method(1); }
    public function getName() { return 1; }
    public function setName($name) { return 2; }
}
"""


def found(path: str, text: str) -> dict[str, list[str]]:
    """Return, by name of the user, the names that it leads to."""
    graph = graph_of({path: text})
    result: dict[str, list[str]] = {}
    for number in range(len(graph.edges)):
        edge = graph.edge(number)
        if edge.rule == "name-prefix":
            assert edge.kind == EdgeKind.EMITS.label
            result.setdefault(edge.source.partition("::")[2], []).append(edge.target.partition("::")[2])
    return {user: sorted(names) for user, names in result.items()}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            PYTHON,
            {
                "Visitor.visit": ["Printer.visit_name", "Visitor.visit_default"],
                "Parser.formatted": ["Parser._led_plus"],
                "Parser.interpolated": ["Parser._led_plus"],
                "Parser.named": ["Parser._nud_plus"],
            },
        ),
        ("a.ts", SCRIPT, {"Machine.enter": ["Machine.enterIdle"], "Machine.leave": ["Machine.leaveIdle"]}),
        ("a.rb", RUBY, {"Report.render": ["Report.render_html"]}),
        ("a.php", PHP, {"Model.get": ["Model.getName"], "Model.fill": ["Model.setName"]}),
    ],
)
def test_members_whose_names_begin_like_it(path: str, text: str, expected: dict[str, list[str]]) -> None:
    assert found(path, text) == expected
