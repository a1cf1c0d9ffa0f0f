"""Edits of a client's settings file: add or remove entries, write atomically, keep a backup.

Removing entries restores the original bytes if the file was not changed otherwise. Files are JSON with comments or
TOML.
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
class FileEdit:
    """Planned edit of a file: its text before and after, None where the file does not exist.

    `is_update` is true if the file already had an entry.
    """

    file: Path
    before: str | None
    after: str | None
    is_update: bool = False

    @property
    def is_needed(self) -> bool:
        """True if the edit changes the file."""
        return self.before != self.after

    @property
    def backup(self) -> Path:
        """Path of the backup file."""
        return self.file.with_name(self.file.name + _BACKUP)


@dataclass(frozen=True, slots=True)
class SettingsEntry:
    """Entry to store at `path`. It overrides an older entry and keeps other keys of it.

    With `words`, it is an item of the list at `path` and is recognized by this substring. `given` are further members
    of the file, which are added if they are missing.
    """

    path: tuple[str, ...]
    data: Mapping[str, object]
    words: str = ""
    given: Mapping[str, object] | None = None


def add_entries(file: Path, entries: Sequence[SettingsEntry]) -> FileEdit:
    """Return the edit that adds all entries to a file. Raises SettingsUnreadable."""
    before = _read_text(file)
    try:
        is_update = before is not None and any(_has_entry(file, before, entry) for entry in entries)
        return FileEdit(file, before, _with_entries(file, before, entries), is_update)
    except (_jsonc.NotJson, _toml.NotToml) as error:
        raise SettingsUnreadable(f"{file} cannot be changed: {error}") from error


def remove_entries(file: Path, entries: Sequence[SettingsEntry]) -> FileEdit:
    """Return the edit that removes all entries from a file.

    It restores the original text if adding the entries was the only change since. Raises SettingsUnreadable.
    """
    before = _read_text(file)
    if before is None:
        return FileEdit(file, None, None)
    change = FileEdit(file, before, before)
    try:
        there = [entry for entry in entries if _has_entry(file, before, entry)]
        if not there:
            return change
        earlier = _read_text(change.backup)
        # The entries may have been added one by one.
        for number in range(1, len(entries) + 1):
            for some in combinations(entries, number):
                if before == _with_entries(file, earlier, some):
                    return FileEdit(file, before, earlier)
        after = before
        for entry in there:
            after = _without_entry(file, after, entry)
            after = _without_empty_parents(file, after, entry.path[: len(entry.path) - (not entry.words)], earlier)
        return FileEdit(file, before, after)
    except (_jsonc.NotJson, _toml.NotToml) as error:
        raise SettingsUnreadable(f"{file} cannot be changed: {error}") from error


def apply_edit(change: FileEdit, *, keep_backup: bool, own_folder: bool = False) -> Path | None:
    """Carry out an edit and return the path of the backup, if one was written. Raises UsageError.

    `own_folder` says that the folder of a deleted file existed for that file only; it is deleted too if it is empty.
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
            # Do not back up a file that an earlier installation wrote.
            if keep_backup and change.before is not None and not change.is_update:
                copy = change.backup
                _write(copy, change.before, mode)
            _write(file, change.after, mode)
        if not keep_backup:
            change.backup.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {change.file}: {error.strerror or error}") from error
    return copy


def _with_entries(file: Path, text: str | None, entries: Sequence[SettingsEntry]) -> str:
    if text is None or not text.strip("\ufeff \t\r\n"):
        text = "" if _is_toml(file) else "{}\n"
    for entry in entries:
        text = _with_entry(file, text, entry)
    return text


def _with_entry(file: Path, text: str, entry: SettingsEntry) -> str:
    if _is_toml(file):
        known = _toml.get_member(text, entry.path)
        merged = _merge_entry(known, entry)
        return text if merged == known else _toml.with_member(text, entry.path, merged)
    for key, value in (entry.given or {}).items():
        if _jsonc.get_member(text, (key,)) is None:
            text = _jsonc.with_member(text, (key,), value)
    known = _jsonc.get_member(text, entry.path)
    if entry.words:
        if isinstance(known, list) and [item for item in known if _contains_words(item, entry.words)] == [
            dict(entry.data)
        ]:
            return text
        text = _jsonc.without_items(text, entry.path, lambda item: _contains_words(item, entry.words))
        return _jsonc.with_item(text, entry.path, dict(entry.data))
    merged = _merge_entry(known, entry)
    return text if merged == known else _jsonc.with_member(text, entry.path, merged)


def _merge_entry(known: object, entry: SettingsEntry) -> dict[str, object]:
    return {**known, **entry.data} if isinstance(known, dict) else dict(entry.data)


def _without_entry(file: Path, text: str, entry: SettingsEntry) -> str:
    if _is_toml(file):
        return _toml.without_member(text, entry.path)
    if entry.words:
        return _jsonc.without_items(text, entry.path, lambda item: _contains_words(item, entry.words))
    return _jsonc.without_member(text, entry.path)


def _without_empty_parents(file: Path, text: str, path: Sequence[str], earlier: str | None) -> str:
    """Return `text` without parents of a removed entry that are empty and were not in the earlier file."""
    for length in range(0 if _is_toml(file) else len(path), 0, -1):
        around = path[:length]
        is_there = earlier is not None and earlier.strip() and _jsonc.get_member(earlier, around) is not None
        if is_there or _jsonc.get_member(text, around) not in ({}, []):
            break
        text = _jsonc.without_member(text, around)
    return text


def _has_entry(file: Path, text: str, entry: SettingsEntry) -> bool:
    if not text.strip("\ufeff \t\r\n"):
        return False
    if _is_toml(file):
        return _toml.get_member(text, entry.path) is not None
    known = _jsonc.get_member(text, entry.path)
    if not entry.words:
        return known is not None
    return isinstance(known, list) and any(_contains_words(item, entry.words) for item in known)


def _contains_words(value: object, words: str) -> bool:
    """Return True if a string anywhere in a value contains these words."""
    if isinstance(value, str):
        return words in value
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_contains_words(each, words) for each in below)


def _is_toml(file: Path) -> bool:
    return file.suffix == ".toml"


def _read_text(file: Path) -> str | None:
    """Return the file's text with its line ends, or None without a file. Raises SettingsUnreadable."""
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
