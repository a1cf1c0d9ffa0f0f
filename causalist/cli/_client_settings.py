"""A client's settings file: read, changed in few places, written whole or not at all, and put back.

Beside a file that is changed stays a copy of what it was, so that removing gives back the same bytes as long as nothing
else was changed meanwhile.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from causalist.cli import _jsonc_edit as _jsonc
from causalist.cli import _toml_edit as _toml
from causalist.errors import SettingsUnreadable, UsageError

_BACKUP = ".before-causalist"


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a file: `before` and `after` are its text, None where there is no file. `is_update` says
    that it has an entry already."""

    file: Path
    before: str | None
    after: str | None
    is_update: bool = False

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    @property
    def backup(self) -> Path:
        return self.file.with_name(self.file.name + _BACKUP)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to stand at `path`, over what an older one says and beside what else it holds. With `words` it is an item
    of the list at `path`, known by them. `given` are members of the file that go with it where they are missing."""

    path: tuple[str, ...]
    data: Mapping[str, object]
    words: str = ""
    given: Mapping[str, object] | None = None


def added(file: Path, entries: Sequence[Entry]) -> Change:
    """The file with all entries. Raises SettingsUnreadable."""
    before = _text(file)
    try:
        is_update = before is not None and any(_has(file, before, entry) for entry in entries)
        return Change(file, before, _with_all(file, before, entries), is_update)
    except (_jsonc.NotJson, _toml.NotToml) as error:
        raise SettingsUnreadable(f"{file} cannot be changed: {error}") from error


def removed(file: Path, entries: Sequence[Entry]) -> Change:
    """The file without any of the entries; as it was, if adding is all that happened to it since. Raises
    SettingsUnreadable."""
    before = _text(file)
    if before is None:
        return Change(file, None, None)
    change = Change(file, before, before)
    try:
        there = [entry for entry in entries if _has(file, before, entry)]
        if not there:
            return change
        earlier = _text(change.backup)
        # They may have been added one after another.
        for number in range(1, len(entries) + 1):
            for some in combinations(entries, number):
                if before == _with_all(file, earlier, some):
                    return Change(file, before, earlier)
        after = before
        for entry in there:
            after = _without(file, after, entry)
            after = _pruned(file, after, entry.path[: len(entry.path) - (not entry.words)], earlier)
        return Change(file, before, after)
    except (_jsonc.NotJson, _toml.NotToml) as error:
        raise SettingsUnreadable(f"{file} cannot be changed: {error}") from error


def apply(change: Change, *, keep_backup: bool, own_folder: bool = False) -> Path | None:
    """Carries out a change; returns the copy of what was there, if one was made. Raises UsageError.

    `own_folder` says that the folder of a file that is deleted was there for it alone, and goes too if it is empty.
    """
    file = change.file.resolve()  # a link stays a link
    copy: Path | None = None
    try:
        if change.after is None:
            file.unlink()
            if own_folder:
                with suppress(OSError):  # other files are in it
                    file.parent.rmdir()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            mode = stat.S_IMODE(file.stat().st_mode) if change.before is not None else None
            # What an earlier installation wrote is no state to go back to.
            if keep_backup and change.before is not None and not change.is_update:
                copy = change.backup
                _write(copy, change.before, mode)
            _write(file, change.after, mode)
        if not keep_backup:
            change.backup.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {change.file}: {error.strerror or error}") from error
    return copy


def _with_all(file: Path, text: str | None, entries: Sequence[Entry]) -> str:
    if text is None or not text.strip("\ufeff \t\r\n"):
        text = "" if _is_toml(file) else "{}\n"
    for entry in entries:
        text = _with_entry(file, text, entry)
    return text


def _with_entry(file: Path, text: str, entry: Entry) -> str:
    if _is_toml(file):
        known = _toml.member(text, entry.path)
        merged = _merged(known, entry)
        return text if merged == known else _toml.with_member(text, entry.path, merged)
    for key, value in (entry.given or {}).items():
        if _jsonc.member(text, (key,)) is None:
            text = _jsonc.with_member(text, (key,), value)
    known = _jsonc.member(text, entry.path)
    if entry.words:
        if isinstance(known, list) and [item for item in known if _holds(item, entry.words)] == [dict(entry.data)]:
            return text
        text = _jsonc.without_items(text, entry.path, lambda item: _holds(item, entry.words))
        return _jsonc.with_item(text, entry.path, dict(entry.data))
    merged = _merged(known, entry)
    return text if merged == known else _jsonc.with_member(text, entry.path, merged)


def _merged(known: object, entry: Entry) -> dict[str, object]:
    return {**known, **entry.data} if isinstance(known, dict) else dict(entry.data)


def _without(file: Path, text: str, entry: Entry) -> str:
    if _is_toml(file):
        return _toml.without_member(text, entry.path)
    if entry.words:
        return _jsonc.without_items(text, entry.path, lambda item: _holds(item, entry.words))
    return _jsonc.without_member(text, entry.path)


def _pruned(file: Path, text: str, path: Sequence[str], earlier: str | None) -> str:
    """`text` without what stands around a removed entry, as far as it is empty and was not there earlier."""
    for length in range(0 if _is_toml(file) else len(path), 0, -1):
        around = path[:length]
        is_there = earlier is not None and earlier.strip() and _jsonc.member(earlier, around) is not None
        if is_there or _jsonc.member(text, around) not in ({}, []):
            break
        text = _jsonc.without_member(text, around)
    return text


def _has(file: Path, text: str, entry: Entry) -> bool:
    if not text.strip("\ufeff \t\r\n"):
        return False
    if _is_toml(file):
        return _toml.member(text, entry.path) is not None
    known = _jsonc.member(text, entry.path)
    if not entry.words:
        return known is not None
    return isinstance(known, list) and any(_holds(item, entry.words) for item in known)


def _holds(value: object, words: str) -> bool:
    """Whether a string somewhere in a value has these words."""
    if isinstance(value, str):
        return words in value
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_holds(each, words) for each in below)


def _is_toml(file: Path) -> bool:
    return file.suffix == ".toml"


def _text(file: Path) -> str | None:
    """The file's text with its line ends. Raises SettingsUnreadable."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SettingsUnreadable(f"{file} cannot be changed: it is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise SettingsUnreadable(f"{file} cannot be read: {error.strerror or error}") from error


def _write(file: Path, text: str, mode: int | None) -> None:
    aside = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        # Settings may hold keys: never readable by more people than before.
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
        if mode is not None:
            aside.chmod(mode)
        aside.replace(file)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
