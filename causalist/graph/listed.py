"""What the paths and languages of a program's files say by themselves, found once for the program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.graph.file_symbols import FileNames
from causalist.model.roles import role_of
from causalist.model.symbols import NodeId, Role, file_id


class Subject(NamedTuple):
    """`folder` is where the file stands, or where the folder does that it stands for."""

    number: int
    folder: str


class Folders(NamedTuple):
    """`of_file`: shape (n_files,), the number of the folder of each file. `is_code`: which are in a language with a
    grammar."""

    of_file: NDArray[np.int64]
    n: int
    is_code: NDArray[np.bool_]


@dataclass(slots=True)
class Listed:
    """Of one program, whose files are given each time."""

    _ids: tuple[NodeId, ...] | None = None
    _folders: Folders | None = None
    _subjects: dict[tuple[str, str], list[Subject]] | None = None

    def ids(self, files: Sequence[FileNames]) -> tuple[NodeId, ...]:
        if self._ids is None:
            self._ids = tuple(file_id(each.path) for each in files)
        return self._ids

    def folders(self, files: Sequence[FileNames]) -> Folders:
        if self._folders is None:
            numbers: dict[str, int] = {}
            of_file = [numbers.setdefault(each.path.rpartition("/")[0], len(numbers)) for each in files]
            is_code = np.array([each.settings is not None for each in files], dtype=np.bool_)
            self._folders = Folders(np.array(of_file, dtype=np.int64), len(numbers), is_code)
        return self._folders

    def subjects(self, files: Sequence[FileNames]) -> Mapping[tuple[str, str], Sequence[Subject]]:
        """What tests may be named after: files of code by language and name."""
        if self._subjects is None:
            self._subjects = {}
            for number, names in enumerate(files):
                settings = names.settings
                if settings is not None and settings.tests.names and role_of(names.path) == Role.CODE:
                    folder, _, file = names.path.rpartition("/")
                    name = file.partition(".")[0]
                    if name in settings.modules.index_stems and folder:
                        folder, _, name = folder.rpartition("/")  # the file stands for its folder
                    key = settings.family, name.lstrip("_")
                    self._subjects.setdefault(key, []).append(Subject(number, folder))
        return self._subjects
