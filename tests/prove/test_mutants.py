"""Defects of functions, read by hand."""

import ast
from pathlib import Path

import pytest

from causalist.errors import ExtraMissing
from causalist.prove import mutants
from causalist.prove.mutants import MESSAGE, Mutant, make_mutants

needs_operators = pytest.mark.skipif(
    not pytest.importorskip("importlib.util").find_spec("mutmut"), reason="the extra `prove` is not installed"
)
RAISED = f'raise RuntimeError("{MESSAGE}")'

CODE = b'''class Shop:
    @property
    def price(self) -> "int":
        """Return it."""
        return self.net + 1

    def rows(self):
        yield 1


def short(a): return a
'''


def _texts(made: tuple[Mutant, ...]) -> list[str]:
    return [each.data.decode() for each in made]


@pytest.mark.slow
@needs_operators
def test_the_body_is_taken_away_first() -> None:
    made = make_mutants(CODE, "price", 2, 5, 2)
    assert [(each.line, each.what, each.n_more_lines) for each in made] == [
        (3, "raises an error at the start", 1),  # the line of its name
        (3, "returns nothing at once", 1),
    ]
    for text, statement in zip(_texts(made), (RAISED, "return"), strict=True):
        assert text == CODE.decode().replace('it."""\n', f'it."""\n        {statement}\n')


@needs_operators
def test_operators_change_the_body_alone() -> None:
    made = make_mutants(CODE, "price", 2, 5, 20)[2:]
    changed = {text.splitlines()[4].strip() for text in _texts(made)}
    assert changed == {"return self.net - 1", "return self.net + 2"}
    for text in _texts(made):
        assert text.splitlines()[:4] == CODE.decode().splitlines()[:4]


@needs_operators
def test_a_generator_stays_one_and_one_line_stays_one() -> None:
    for text in _texts(make_mutants(CODE, "rows", 7, 8, 2)):
        function = next(n for n in ast.walk(ast.parse(text)) if getattr(n, "name", "") == "rows")
        assert any(isinstance(each, ast.Yield) for each in ast.walk(function))
    made = make_mutants(CODE, "short", 11, 11, 2)
    assert [text.splitlines()[10] for text in _texts(made)] == [
        f"def short(a): {RAISED}; return a",
        "def short(a): return; return a",
    ]
    assert [each.n_more_lines for each in made] == [0, 0]


@pytest.mark.slow
@needs_operators
def test_mutants_differ_compile_and_are_the_same_each_time() -> None:
    file = Path(mutants.__file__)
    lines = file.read_text().splitlines()
    first = next(i for i, line in enumerate(lines, 1) if line.startswith("def _spread"))
    made = make_mutants(file.read_bytes(), "_spread", first, first + 18, 12)
    assert made == make_mutants(file.read_bytes(), "_spread", first, first + 18, 12)
    assert len({each.id for each in made}) == len(made) == 12
    for each in made:
        compile(each.data, "mutant", "exec")
    assert len({each.line for each in made[2:]}) >= 5  # they are spread over the lines


@needs_operators
def test_what_is_no_function_has_none() -> None:
    assert make_mutants(CODE, "nothing", 1, 11, 5) == ()
    assert make_mutants(b"def f(:\n", "f", 1, 1, 5) == ()


@needs_operators
def test_line_ends_and_encodings_are_kept() -> None:
    code = "# -*- coding: latin-1 -*-\r\ndef f():\r\n    return 'é'\r\n".encode("latin-1")
    made = make_mutants(code, "f", 2, 3, 2)
    assert made[0].data == code.replace(b"f():\r\n", f"f():\r\n    {RAISED}\r\n".encode())


def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "libcst", None)
    with pytest.raises(ExtraMissing, match=r'pip install "causalist\[prove\]"'):
        mutants.require_operators()
