"""Functions of look-alikes and of the rest of a service, in no language: what they do, drawn from seventeen shapes.

Integers, texts, truth values, lists of entities and counts by text are all the types there are, so that every printer
can say them. Shapes have options and may nest; no two functions of a module have the same name.
"""

import random
from collections.abc import Callable
from typing import NamedTuple


class Entity(NamedTuple):
    """`name` in snake case; `fields` are (name, "int", "text" or "bool")."""

    name: str
    fields: tuple[tuple[str, str], ...]

    def of_type(self, kind: str) -> list[str]:
        return [name for name, its in self.fields if its == kind]


class Function(NamedTuple):
    """`parameters` are (name, type); a type is "int", "text", "bool", "counts", "list", "one", "request" or "response".

    "list" and "one" are of the module's entity. `fails` if it can end in an error; `loads` if it reads the table.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str
    body: tuple
    doc: str
    fails: bool = False
    loads: bool = False


_STATES = ("open", "held", "done", "late", "draft", "sealed", "north", "spare", "bulk", "fresh")
_MESSAGES = ("nothing to do", "skipped", "finished", "looked at all", "begins", "unusual amount", "kept as it was")


class Shapes:
    """Draws functions about one entity."""

    def __init__(self, entity: Entity, hubs: tuple[str, ...], chance: random.Random) -> None:
        self.entity, self.hubs, self.chance = entity, hubs, chance
        self.ints, self.texts, self.bools = (entity.of_type(kind) for kind in ("int", "text", "bool"))

    def draw(self, shape: str, taken: set[str]) -> Function:
        """A function of this shape whose name is not taken."""
        made: Function = getattr(self, f"_{shape}")()
        name, n = made.name, 2
        while name in taken:
            name, n = f"{made.name}_{_ORDINALS[n % len(_ORDINALS)]}", n + 1
        taken.add(name)
        return made._replace(name=name, body=(*self._asides(made), *made.body))

    def _asides(self, made: Function) -> list[tuple]:
        """Calls of hubs at the beginning of a function."""
        found: list[tuple] = []
        if "log" in self.hubs and self.chance.random() < 0.35:
            found.append(("log", f"{made.name.replace('_', ' ')}: {self.chance.choice(_MESSAGES)}"))
        if "metrics" in self.hubs and self.chance.random() < 0.3:
            found.append(("count", f"{self.entity.name}.{made.name.split('_')[0]}"))
        return found

    def _many(self) -> str:
        return plural(self.entity.name)

    def _condition(self, item: str = "item") -> tuple:
        """Something that may hold of an item."""
        choices: list[Callable[[], tuple]] = [
            lambda: (">", ("field", item, self.chance.choice(self.ints)), self.chance.choice((0, 1, 5, 12, 40))),
            lambda: ("==", ("field", item, self.chance.choice(self.texts)), ("lit", self.chance.choice(_STATES))),
            lambda: ("truth", ("field", item, self.chance.choice(self.bools))),
            lambda: ("not", ("truth", ("field", item, self.chance.choice(self.bools)))),
        ]
        first = self.chance.choice(choices)()
        second = self.chance.choice(choices)()
        if first[-1] != second[-1] and first[1] != second[1] and self.chance.random() < 0.4:
            return (self.chance.choice(("and", "or")), first, second)
        return first

    def _total(self) -> Function:
        field = self.chance.choice(self.ints)
        inner: tuple = (("inc", "sum", ("field", "item", field)),)
        if self.chance.random() < 0.6:
            inner = (("if", self._condition(), inner, ()),)
        verb = self.chance.choice(("total", "sum", "add_up"))
        body = (("let", "sum", 0), ("for", "item", "items", inner), ("return", "sum"))
        doc = f"Returns the {field.replace('_', ' ')} of all {self._said()} together."
        return Function(f"{verb}_{field}_of_{self._many()}", (("items", "list"),), "int", body, doc)

    def _tally(self) -> Function:
        field = self.chance.choice(self.texts)
        by: object = 1 if self.chance.random() < 0.5 else ("field", "item", self.chance.choice(self.ints))
        inner: tuple = (("tally", "counts", ("field", "item", field), by),)
        if self.chance.random() < 0.4:
            inner = (("if", self._condition(), inner, (("tally", "counts", ("lit", "other"), 1),)),)
        body = (("counts", "counts"), ("for", "item", "items", inner), ("return", "counts"))
        verb = self.chance.choice(("count", "group", "spread"))
        doc = f"Returns how many {self._said()} there are by {field.replace('_', ' ')}."
        return Function(f"{verb}_{self._many()}_by_{field}", (("items", "list"),), "counts", body, doc)

    def _select(self) -> Function:
        condition = self._condition()
        inner: tuple = (("if", condition, (("push", "kept", "item"),), ()),)
        head: tuple = (("new_list", "kept"),)
        if self.chance.random() < 0.4:
            head += (("setting", "most", f"{self.entity.name.upper()}_MOST", self.chance.choice((20, 50, 100))),)
            inner = (("if", ("and", condition, ("<", ("len", "kept"), "most")), (("push", "kept", "item"),), ()),)
        body = (*head, ("for", "item", "items", inner), ("return", "kept"))
        adjective = self.chance.choice(("open", "late", "large", "usable", "recent", "odd", "visible"))
        verb = self.chance.choice(("select", "pick", "keep", "list"))
        doc = f"Returns the {adjective} ones among the {self._said()}."
        return Function(f"{verb}_{adjective}_{self._many()}", (("items", "list"),), "list", body, doc)

    def _largest(self) -> Function:
        field, label = self.chance.choice(self.ints), self.chance.choice(self.texts)
        inner = (
            ("if", (">", ("field", "item", field), "top"), (("set", "top", ("field", "item", field)),
                                                             ("set", "name", ("field", "item", label))), ()),
        )  # fmt: skip
        body = (("let", "top", 0), ("let_text", "name"), ("for", "item", "items", inner), ("return", "name"))
        verb = self.chance.choice(("largest", "leading", "top"))
        doc = f"Returns the {label.replace('_', ' ')} of the one with the most {field.replace('_', ' ')}."
        return Function(f"{verb}_{self.entity.name}_by_{field}", (("items", "list"),), "text", body, doc)

    def _classify(self) -> Function:
        field = self.chance.choice(self.ints)
        limits = sorted(self.chance.sample(range(1, 90), self.chance.randrange(2, 5)), reverse=True)
        labels = self.chance.sample(_STATES, len(limits) + 1)
        steps = tuple(
            ("if", (">", ("field", "item", field), limit), (("return", ("lit", label)),), ())
            for limit, label in zip(limits, labels, strict=False)
        )
        name = self.chance.choice(("band", "grade", "class", "level"))
        doc = f"Returns the {name} of a {self._said_one()} by its {field.replace('_', ' ')}."
        body = (*steps, ("return", ("lit", labels[-1])))
        return Function(f"{name}_of_{self.entity.name}", (("item", "one"),), "text", body, doc)

    def _describe(self) -> Function:
        fields = self.chance.sample(self.texts, min(len(self.texts), self.chance.randrange(1, 3)))
        parts: list[object] = []
        for field in fields:
            parts += [("field", "item", field), ("lit", self.chance.choice((", ", " / ", ": ", " - ")))]
        body: tuple = (("return", ("join", *parts[:-1])),)
        if self.chance.random() < 0.6:
            body = (("if", self._condition(), (("return", ("join", ("lit", "* "), *parts[:-1])),), ()), *body)
        verb = self.chance.choice(("label", "describe", "caption"))
        doc = f"Returns a line about a {self._said_one()}."
        return Function(f"{verb}_{self.entity.name}", (("item", "one"),), "text", body, doc)

    def _average(self) -> Function:
        field = self.chance.choice(self.ints)
        body = (
            ("if", ("==", ("len", "items"), 0), (("return", 0),), ()),
            ("let", "sum", 0),
            ("for", "item", "items", (("inc", "sum", ("field", "item", field)),)),
            ("return", ("//", "sum", ("len", "items"))),
        )
        doc = f"Returns the mean {field.replace('_', ' ')}, rounded down."
        return Function(f"mean_{field}_of_{self._many()}", (("items", "list"),), "int", body, doc)

    def _validate(self) -> Function:
        rules: list[tuple] = []
        for field in self.chance.sample(self.ints, min(len(self.ints), self.chance.randrange(1, 3))):
            text = f"{field.replace('_', ' ')} is too small"
            rules.append(("if", ("<", ("field", "item", field), 0), (("fail", text),), ()))
        field = self.chance.choice(self.texts)
        rules.append(
            (
                "if",
                ("==", ("field", "item", field), ("lit", "")),
                (("fail", f"{field.replace('_', ' ')} is missing"),),
                (),
            )
        )
        self.chance.shuffle(rules)
        verb = self.chance.choice(("validate", "require_sound", "inspect"))
        doc = f"Refuses a {self._said_one()} that is not sound."
        return Function(f"{verb}_{self.entity.name}", (("item", "one"),), "bool", (*rules, ("return", True)), doc, True)

    def _same(self) -> Function:
        fields = self.chance.sample([name for name, _ in self.entity.fields], self.chance.randrange(2, 4))
        body = tuple(
            ("if", ("!=", ("field", "item", field), ("field", "other", field)), (("return", False),), ())
            for field in fields
        )
        doc = f"Returns whether two {self._said()} say the same."
        name = f"{self.chance.choice(('is_same', 'equals', 'matches'))}_{self.entity.name}"
        return Function(name, (("item", "one"), ("other", "one")), "bool", (*body, ("return", True)), doc)

    def _until(self) -> Function:
        field = self.chance.choice(self.ints)
        inner = (
            ("if", (">", ("+", "used", ("field", "item", field)), "room"), (("return", "n"),), ()),
            ("inc", "used", ("field", "item", field)),
            ("inc", "n", 1),
        )
        body = (("let", "used", 0), ("let", "n", 0), ("for", "item", "items", inner), ("return", "n"))
        doc = f"Returns how many {self._said()} fit, in order."
        verb = self.chance.choice(("fit", "fill_with", "load"))
        return Function(f"{verb}_{self._many()}", (("items", "list"), ("room", "int")), "int", body, doc)

    def _points(self) -> Function:
        steps: list[tuple] = [("let", "points", self.chance.choice((0, 10, 50)))]
        for _ in range(self.chance.randrange(2, 5)):
            field = self.chance.choice(self.ints)
            gain: object = self.chance.choice((1, 2, 5, ("*", ("field", "item", field), 2)))
            steps.append(("if", self._condition(), (("inc", "points", gain),), ()))
        name = self.chance.choice(("urgency", "weight", "points", "appeal"))
        doc = f"Returns the {name} of a {self._said_one()}; more comes first."
        return Function(f"{name}_of_{self.entity.name}", (("item", "one"),), "int", (*steps, ("return", "points")), doc)

    def _gap(self) -> Function:
        field = self.chance.choice(self.ints)
        body = (
            ("let", "left", ("-", ("field", "item", field), "taken")),
            ("if", ("<", "left", 0), (("return", 0),), ()),
            ("return", "left"),
        )
        doc = f"Returns the {field.replace('_', ' ')} that is left."
        name = f"{field}_left_of_{self.entity.name}"
        return Function(name, (("item", "one"), ("taken", "int")), "int", body, doc)

    def _pairs(self) -> Function:
        field = self.chance.choice(self.texts)
        test = ("==", ("field", "left", field), ("field", "right", field))
        inner = (("for", "right", "others", (("if", test, (("inc", "n", 1),), ()),)),)
        body = (("let", "n", 0), ("for", "left", "items", inner), ("return", "n"))
        doc = f"Returns how many pairs of {self._said()} share their {field.replace('_', ' ')}."
        return Function(f"pair_{self._many()}_by_{field}", (("items", "list"), ("others", "list")), "int", body, doc)

    def _handle(self) -> Function:
        wanted = self.chance.choice(self.texts)
        inner = (("if", ("==", ("field", "item", wanted), "wanted"), (("push", "kept", "item"),), ()),)
        body = (
            ("query", "wanted", wanted),
            ("load", "items"),
            ("new_list", "kept"),
            ("for", "item", "items", inner),
            ("reply", ("len", "kept")),
        )
        verb = self.chance.choice(("list", "show", "browse", "export"))
        doc = f"Lists {self._said()} by {wanted.replace('_', ' ')}."
        name = f"{verb}_{self._many()}"
        return Function(name, (("request", "request"),), "response", body, doc, loads=True)

    def _handle_total(self) -> Function:
        field = self.chance.choice(self.ints)
        inner = (("if", self._condition(), (("inc", "sum", ("field", "item", field)),), (("inc", "skipped", 1),)),)
        body: tuple = (("load", "items"), ("let", "sum", 0), ("let", "skipped", 0), ("for", "item", "items", inner))
        body += (("if", (">", "skipped", "sum"), (("reply", self.chance.choice((0, 1))),), ()),)
        verb = self.chance.choice(("summarize", "preview", "get"))
        doc = f"Sums up the {self._said()} for a page."
        name = f"{verb}_{self.entity.name}_{field}"
        return Function(name, (("request", "request"),), "response", (*body, ("reply", "sum")), doc, loads=True)

    def _sweep(self) -> Function:
        inner = (("if", self._condition(), (("inc", "n", 1),), ()),)
        key = f"{self.entity.name.upper()}_SWEEP"
        body = (
            ("load", "items"),
            ("setting", "most", key, self.chance.choice((10, 100, 500))),
            ("let", "n", 0),
            ("for", "item", "items", inner),
            ("if", (">", "n", "most"), (("return", "most"),), ()),
            ("return", "n"),
        )
        verb = self.chance.choice(("sweep", "review", "recount", "tidy"))
        doc = f"Goes over all {self._said()}; runs every night."
        return Function(f"{verb}_{self._many()}", (), "int", body, doc, loads=True)

    def _said(self) -> str:
        return self._many().replace("_", " ")

    def _said_one(self) -> str:
        return self.entity.name.replace("_", " ")


_ORDINALS = ("again", "too", "apart", "further", "beside", "briefly")
PURE = ("total", "tally", "select", "largest", "average", "until", "pairs")
ABOUT_ONE = ("classify", "describe", "validate", "same", "points", "gap")
HANDLERS = ("handle", "handle_total")
SHAPES_BY_KIND = {
    "report": PURE,
    "rules": ABOUT_ONE,
    "service": (*PURE, *ABOUT_ONE, "sweep"),
    "handler": (*HANDLERS, "handle", "describe", "select"),
    "job": ("sweep", "sweep", "tally", "points"),
    "view": ("describe", "largest", "tally", "classify"),
    "desk": (*ABOUT_ONE, "until", "sweep", "handle"),
}


def plural(name: str) -> str:
    """The plural of the last word."""
    if name.endswith("y") and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"
