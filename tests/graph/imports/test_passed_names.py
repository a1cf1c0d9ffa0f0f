"""Names that namespaces pass on by what they import."""

from collections.abc import Callable

import pytest

from causalist.graph.imports.declared_packages import PassedNames
from causalist.graph.program import Program
from causalist.parse import load_settings, parse_file

N_MODULES = 24  # each imports all others: more ways between them than could ever be walked


def program_of(texts: dict[str, str]) -> Program:
    return Program.from_files([(p, parse_file(p, t.encode())) for p, t in sorted(texts.items())], load_settings())


def counted(program: Program) -> tuple[PassedNames, Callable[[], int]]:
    """Return the names that are passed on, and the number of namespaces that were asked so far."""
    asked: list[int] = []

    def find_own(definition: int, name: str) -> int:
        asked.append(definition)
        return program.find_own_member(definition, name)

    names = PassedNames(program.declared, program.files, program.file_of, find_own)
    return names, lambda: len(asked)


def test_a_web_of_modules_is_walked_once() -> None:
    pytest.importorskip("tree_sitter_fortran")
    texts = {}
    for i in range(N_MODULES):
        uses = "".join(f"  use m{j}\n" for j in range(N_MODULES) if j != i)
        body = "contains\n  subroutine open_door()\n  end subroutine\n" if i == N_MODULES - 1 else ""
        texts[f"m{i}.f90"] = f"module m{i}\n{uses}{body}end module\n"
    program = program_of(texts)
    names, n_asked = counted(program)
    first = next(i for i, symbols in enumerate(program.files) if symbols.path == "m0.f90")
    [found] = names.find(first, 0, "open_door")
    assert program.files[program.file_of[found]].path == f"m{N_MODULES - 1}.f90"
    assert n_asked() <= N_MODULES
    assert names.find(first, 0, "close_door") == []
    assert n_asked() <= 2 * N_MODULES
