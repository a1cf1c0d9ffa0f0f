"""Fixtures of pytest: functions whose result a test gets by the name of a parameter.

In: the text of a file, its syntax tree and its definitions. Out: an `Export` for each fixture, `fixture:` and its name;
that of a fixture in a class has the class before it. Files of tests see those of the `conftest.py` above them.
"""

import re
from collections.abc import Sequence

import tree_sitter

from causalist.model.facts import Definition, Export
from causalist.model.symbols import FIXTURE_PREFIX
from causalist.parse.routes.source import RouteText, keyword, literal

_FIXTURE = re.compile(rb"@(?:\w+\.)*\w*(?P<name>fixture)\b(?P<call>\s*\()?")


def read_fixtures(tree: tree_sitter.Tree, data: bytes, definitions: Sequence[Definition]) -> list[Export]:
    """Return the fixtures that decorators make, in the order of the file."""
    if b"fixture" not in data:
        return []
    source, found = RouteText(data, tree, definitions), list[Export]()
    for match in source.matches(_FIXTURE, "name"):
        number = source.decorated(match.start("name"))
        if number < 0:
            continue
        arguments = source.arguments(match.end())[0] if match["call"] else []
        definition = definitions[number]
        name = literal(keyword(arguments, "name") or "") or definition.name
        holder = definition.qualname.rpartition(".")[0]
        exported = f"{holder}.{name}" if holder else name
        found.append(Export(definition.qualname, f"{FIXTURE_PREFIX}{exported}", definition.start_row))
    return found
