"""A repository's own history -> questions with their answers: what somebody wrote when changing code, and which files.

A commit is a question to the state before it. Most commits are none: a merge, a release or a run of a formatter says
nothing that could be looked for, and what created its own answer could not have been found. What gives the answer
away (names of the files, numbers of reports) is taken out of the message.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from causalist.errors import GitError
from causalist.evaluate.dataset import LabelledQuestion
from causalist.model.history import Change
from causalist.model.roles import role_of
from causalist.model.symbols import Role
from causalist.parse import dialect_of
from causalist.rank.terms import terms_of
from causalist.source import ancestry, read_changes
from causalist.source.git import Running, locate

MOST_ANSWERS = 3  # files; a change of more is no answer to one question
FEWEST_WORDS = 4
_MOST_CHANGED = 12  # files of any kind; more is an edit in bulk
_LONGEST_QUESTION = 2_000  # characters
_BATCH = 100  # commits that are looked at together

_TRAILER = re.compile(r"^(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)*-(?:by|on|Id|id)|Change-Id|git-svn-id)\s?:.*$", re.MULTILINE)
_LINK = re.compile(r"https?://\S+")
_NUMBER = re.compile(
    r"\(?(?:\b(?:(?:clos|fix|resolv)(?:e[sd]?|ing|ed|es)?|refs?|see|part of|issues?|pr|pull request|bug)\b:?\s*)?"
    r"(?:\b[\w.-]+/[\w.-]+)?(?:#|\bGH-)\d+\b\)?",
    re.IGNORECASE,
)
# "fix(parser)!: ", "net/http, url: ", "[core] "; what stands there is where the change is.
_SCOPE = re.compile(
    r"(\A\s*|^\s*[*-] +)(?:\[[^\]\n]{1,40}\]\s*:?|[\w./*{}-]+(?:\([^)\n]{0,60}\))?(?:, ?[\w./*{}-]+)*!?:(?=\s))\s*",
    re.MULTILINE,
)
_WORD = re.compile(r"[^\W\d_]\w+")
_TOOLS = (
    r"black|isort|ruff|flake8|prettier|eslint|gofmt|gofumpt|goimports|rustfmt|cargo fmt|clippy|clang-format|rubocop"
)
_REASONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("merge", re.compile(r"\AMerge\b")),
    ("revert", re.compile(r"\A\W*(?:re)?revert\b|^This reverts commit", re.IGNORECASE | re.MULTILINE)),
    (
        "dependencies",
        re.compile(
            r"\A[^\n]*(?:\b(?:deps|dependabot|renovate)\b|\b(?:bump|updat|upgrad|pin)\w*\b[^\n]*"
            r"\b(?:dependenc\w+|requirements|lock ?file|packages?|submodules?)\b|\bbump\b[^\n]* from [^\n]* to )",
            re.IGNORECASE,
        ),
    ),
    (
        "version",
        re.compile(
            r"\A\W*(?:\w+(?:\([^)]*\))?:\s*)?(?:(?:prepare |cut |new )?(?:for )?release\b"
            r"|(?:bump|set|update)\w*\s+(?:\w+\s+)?version|version\s+v?\d|bump\b|v?\d+\.\d+)",
            re.IGNORECASE,
        ),
    ),
    (
        "formatting",
        re.compile(
            rf"\A\W*(?:style\b|(?:re)?format(?:ting|ted)?(?:\W*$|\s+(?:all|code|files?|everything|sources?|tests?|with)\b)|lint\w*\b|whitespace\b|(?:\w+\s+)?(?:{_TOOLS})\b"
            rf"|[^\n]*\b(?:upgrade|update)\w*\b[^\n]*\b(?:{_TOOLS})\b"
            rf"|(?:fix|run|apply|appease|clean ?up)\w*\s+(?:the\s+|some\s+)?(?:{_TOOLS}|lint\w*|format(?:ting|ter)\b"
            r"|whitespace|indentation|code style|style|imports? order))",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Mined:
    """`questions`, the newest first, each with the name of the commit that answered it as its id; `left_out` counts
    the commits that were looked at and are no question, by reason."""

    questions: tuple[LabelledQuestion, ...]
    left_out: Mapping[str, int]


def mine(git_dir: Path, n: int, head: str = "HEAD") -> Mined:
    """The newest `n` questions that the history behind `head` holds, fewer where there are no more. Raises GitError."""
    names = ancestry(git_dir, head)
    left_out: Counter[str] = Counter()
    found: dict[str, LabelledQuestion] = {}
    for start in range(0, len(names), _BATCH):
        changes = list(read_changes(git_dir, names[start : start + _BATCH]))
        parents = _parents(git_dir, [change.name for change in changes])
        for change in changes:
            question = _question_of(git_dir, change, parents[change.name])
            if isinstance(question, str):
                left_out[question] += 1
            elif question.query in found:
                left_out["repeated"] += 1
            else:
                found[question.query] = question
                if len(found) == n:
                    return Mined(tuple(found.values()), dict(sorted(left_out.items())))
    return Mined(tuple(found.values()), dict(sorted(left_out.items())))


def cleaned(message: str, files: Sequence[str] = ()) -> str:
    """A message without what gives its answer away: numbers of reports, links, trailers, a leading scope, the paths and
    names of `files`.

    >>> cleaned("fix(auth): check it in auth/session.py (#12)\\n\\nSigned-off-by: A", ["auth/session.py"])
    'check it in'
    """
    text = _NUMBER.sub("", _LINK.sub("", _TRAILER.sub("", message)))
    text = _SCOPE.sub(r"\1", text)
    for path in files:
        for name in (path, path.rpartition("/")[2]):
            text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", "", text)
    lines = (re.sub(r"[ \t]+", " ", line).strip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()[:_LONGEST_QUESTION]


def why_not(message: str) -> str | None:
    """The reason for which a message is no question, whatever was changed; None if it may be one."""
    return next((reason for reason, said in _REASONS if said.search(message)), None)


def _question_of(git_dir: Path, change: Change, parent: str) -> LabelledQuestion | str:
    """The question that a commit is, or why it is none."""
    reason = why_not(change.message)
    if reason is not None:
        return reason
    if change.n_files > _MOST_CHANGED:
        return "many files"
    code = [path for path in change.files if _is_code(path)]
    if not code or len(code) > MOST_ANSWERS:
        return "no code" if not code else "many files"
    statuses = _statuses(git_dir, parent, change.name)
    files = {path: status for path, status in statuses.items() if _is_code(path)}
    if set(files.values()) != {"M"}:
        return "new files"
    query = cleaned(change.message, list(files))
    if len(_WORD.findall(query)) < FEWEST_WORDS:
        return "few words"
    gold = tuple(sorted(files))
    return LabelledQuestion(
        line=0,
        id=change.name,
        repo="",
        lang=dialect_of(gold[0]),
        commit=parent,
        query=query,
        gold_files=gold,
        gold_symbols=(),
        hard=_terms([query]).isdisjoint(_terms(path.rpartition("/")[2].partition(".")[0] for path in gold)),
    )


def _is_code(path: str) -> bool:
    return bool(dialect_of(path)) and role_of(path) is Role.CODE


def _terms(texts: Iterable[str]) -> set[str]:
    return {term for text in texts for word in _WORD.findall(text) for term in terms_of(word)}


def _parents(git_dir: Path, names: Sequence[str]) -> dict[str, str]:
    done = Running(locate(git_dir), "rev-list", "--no-walk", "--parents", *names).finish().accepted()
    rows = (line.split() for line in done.output.decode("ascii").splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 2}


def _statuses(git_dir: Path, parent: str, commit: str) -> dict[str, str]:
    """How each file was changed: M, A, D or T."""
    command = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", parent, commit, "--")
    fields = Running(locate(git_dir), *command).finish().accepted().output.split(b"\0")
    try:
        return {fields[i + 1].decode("utf-8"): fields[i].decode("ascii") for i in range(0, len(fields) - 1, 2)}
    except UnicodeDecodeError as error:
        raise GitError(f"{commit} changed a file whose name is not UTF-8 ({error})") from error
