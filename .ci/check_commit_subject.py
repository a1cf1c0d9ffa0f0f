"""Check the subjects of commits: `area: effect`, at most 72 characters.

    check_commit_subject.py FILE        the message in FILE, as git hands it to a commit-msg hook
    check_commit_subject.py --since-base [REVISION]
                                        all commits of REVISION (default: HEAD) that came after the base commit

Exempt are merges, reverts and `fixup!` commits, whose subjects git writes. Exit code 1: a subject has another form.
Needs nothing but Python 3.11 and git.
"""

import re
import subprocess
import sys
from pathlib import Path

# The form of subjects was agreed on after this commit. Older ones have others, and history is not rewritten.
BASE = "df41ef546c80af505ce799ae1cfb54717b8e9016"
MAX_LENGTH = 72  # characters; GitHub folds what is longer

_FORM = re.compile(r"^_?[a-z][a-z-]*(, [a-z-]+)?: .{1,}$")
_EXEMPT = re.compile(r"^(Merge |Revert \"|fixup! )")
_SCISSORS = re.compile(r"^# -+ >8 -+$")


def fault_of(subject: str) -> str:
    """Return what is wrong with a subject, or "" if nothing is.

    >>> fault_of("rank: add the name-coverage signal"), fault_of('Revert "rank: add it"')
    ('', '')
    >>> fault_of("Add a signal")
    'must have the form "area: effect", for example "rank: add the name-coverage signal"'
    """
    if _EXEMPT.match(subject):
        return ""
    if not _FORM.match(subject):
        return 'must have the form "area: effect", for example "rank: add the name-coverage signal"'
    if len(subject) > MAX_LENGTH:
        return f"has {len(subject)} characters; at most {MAX_LENGTH} are allowed"
    return ""


def subject_of(message: str) -> str:
    """Return the first line of a message that is neither empty nor a comment, or "" if there is none.

    >>> subject_of("# a comment\\n\\ndocs: say more\\n\\nBody.\\n")
    'docs: say more'
    """
    for line in message.splitlines():
        if _SCISSORS.match(line):
            break
        if line.strip() and not line.startswith("#"):
            return line.rstrip()
    return ""


def subjects_since(base: str, revision: str) -> list[tuple[str, str]]:
    """Return (short commit, subject) of the commits after `base` that are no merges, newest first.

    Raises ValueError if `base` is not an ancestor: then nothing can be said about what came after it.
    """
    if _git("merge-base", "--is-ancestor", base, revision).returncode:
        raise ValueError(
            f"{base[:10]} is not an ancestor of {revision}; fetch the whole history (git fetch --unshallow)"
        )
    done = _git("log", "--no-merges", "--format=%h%x00%s", f"{base}..{revision}")
    if done.returncode:
        raise ValueError(done.stderr.strip())
    rows = [line.partition("\0") for line in done.stdout.splitlines()]
    return [(commit, subject) for commit, _, subject in rows]


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], capture_output=True, encoding="utf-8", errors="replace", check=False)


def main(arguments: list[str]) -> int:
    """Check what the arguments name, print what is wrong, and return the exit code."""
    match arguments:
        case ["--since-base"] | ["--since-base", _]:
            try:
                checked = subjects_since(BASE, arguments[1] if len(arguments) > 1 else "HEAD")
            except ValueError as error:
                print(error, file=sys.stderr)
                return 2
        case [file] if not file.startswith("-"):
            checked = [("", subject_of(Path(file).read_text(encoding="utf-8", errors="replace")))]
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    is_good = True
    for commit, subject in checked:
        if fault := fault_of(subject):
            is_good = False
            print(f"{commit} {subject!r}: {fault}".strip(), file=sys.stderr)
    if is_good and arguments[0] == "--since-base":
        print(f"{len(checked)} subjects checked")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
