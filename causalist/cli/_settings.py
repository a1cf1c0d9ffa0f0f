"""A client's settings file: read, changed in one place, written whole or not at all, and put back.

Beside a file that is changed stays a copy of what it was, so that removing gives back the same bytes as long as nothing
else was changed meanwhile.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from causalist.cli._jsonc import NotJson, member, with_member, without_member
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


def added(file: Path, path: Sequence[str], entry: Mapping[str, object]) -> Change:
    """`entry` at `path`, over what an older entry says and beside what else it holds. Raises SettingsUnreadable."""
    before = _text(file)
    try:
        is_update = before is not None and bool(before.strip("\ufeff \t\r\n")) and member(before, path) is not None
        return Change(file, before, _with_entry(before, path, entry), is_update)
    except NotJson as error:
        raise SettingsUnreadable(f"{file} cannot be changed: {error}") from error


def removed(file: Path, path: Sequence[str], entry: Mapping[str, object]) -> Change:
    """The file without what stands at `path`; as it was, if adding is all that happened to it since. Raises
    SettingsUnreadable."""
    before = _text(file)
    if before is None:
        return Change(file, None, None)
    change = Change(file, before, before)
    try:
        if member(before, path) is None:
            return change
        earlier = _text(change.backup)
        if before == _with_entry(earlier, path, entry):
            return Change(file, before, earlier)
        return Change(file, before, without_member(before, path))
    except NotJson as error:
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
            is_known = change.is_update and change.backup.exists()
            if keep_backup and change.before is not None and not is_known:
                copy = change.backup
                _write(copy, change.before, mode)
            _write(file, change.after, mode)
        if not keep_backup:
            change.backup.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {change.file}: {error.strerror or error}") from error
    return copy


def _with_entry(text: str | None, path: Sequence[str], entry: Mapping[str, object]) -> str:
    if text is None or not text.strip("\ufeff \t\r\n"):
        return with_member("{}\n", path, dict(entry))
    known = member(text, path)
    merged = {**known, **entry} if isinstance(known, dict) else dict(entry)
    return text if merged == known else with_member(text, path, merged)


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
