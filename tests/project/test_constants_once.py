"""A constant of a module has one value: a second assignment would hide the first, and nobody would read it again."""

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "causalist"


def test_no_module_gives_a_constant_two_values() -> None:
    twice = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
        targets += [node.target for node in body if isinstance(node, ast.AnnAssign)]
        counts = Counter(t.id for t in targets if isinstance(t, ast.Name))
        found = sorted(name for name, n in counts.items() if n > 1)
        if found:
            twice[path.relative_to(PACKAGE).as_posix()] = found
    assert twice == {}
