"""Labeled questions, from a data file or from a repository's history.

Invalid lines of a data file raise EvaluationError with their line number. History gives commit messages, and as their
answers the files and definitions that each changed.

A commit is a question to the state before it. Most commits are unusable: a merge, a release or a run of a formatter has
no searchable message, and a commit that created its own answer could not have found it. Text that gives the answer away
(names of the files, issue numbers) is removed from the message.

History says which rows a change touched; the innermost definition around each of them is a right answer. If a change
touched many definitions, only its files are.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from causalist.errors import EvaluationError, GitError
from causalist.model.graph import CodeGraph
from causalist.model.index import CommitChange
from causalist.model.node_ids import NodeKind, Role, file_id
from causalist.model.role_by_path import role_of
from causalist.parse import dialect_of
from causalist.rank.terms import terms_of
from causalist.source import list_ancestors, read_changes
from causalist.source.git import RunningGit, git_arguments, is_git_folder, is_work_tree

# The parts become names of folders, hence neither "." nor "..".
_REPOSITORY = re.compile(r"(?!\.{1,2}/)[\w.-]+/(?!\.{1,2}$)[\w.-]+")


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with what answers it: paths, and perhaps ids of definitions.

    `commit` is the state to search; `hard` is true when no word of the question is part of a gold file's own name.
    `line` is 1-based.
    """

    line: int
    id: str
    repo: str
    lang: str
    commit: str
    query: str
    gold_files: tuple[str, ...]
    gold_symbols: tuple[str, ...]
    hard: bool


def read_questions(data: Path) -> list[LabelledQuestion]:
    """Return the questions of a file with one JSON object a line, in order; blank lines and other keys are ignored."""
    try:
        lines = data.read_bytes().split(b"\n")
    except OSError as error:
        raise EvaluationError(f"{data} cannot be read ({error}); give a file with one JSON object a line") from error
    questions = []
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        question = _question(line, number, f"{data}, line {number}")
        first = line_of.setdefault(question.id, number)
        if first != number:
            raise EvaluationError(f"{data}, line {number}: the id {question.id!r} is already on line {first}")
        questions.append(question)
    return questions


def _question(line: bytes, number: int, where: str) -> LabelledQuestion:
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise EvaluationError(f"{where}: not JSON ({error})") from error
    if not isinstance(row, dict):
        raise EvaluationError(f"{where}: a JSON object is needed, found {_kind(row)}")
    repo = _text(row, "repo", where)
    if not _REPOSITORY.fullmatch(repo):
        raise EvaluationError(f'{where}: "repo" is {repo!r}; it is written OWNER/NAME')
    if not isinstance(row.get("hard"), bool):
        raise EvaluationError(f'{where}: "hard" must be true or false, found {_describe(row, "hard")}')
    return LabelledQuestion(
        line=number,
        id=_text(row, "id", where),
        repo=repo,
        lang=_text(row, "lang", where),
        commit=_text(row, "base_commit", where),
        query=_text(row, "query", where),
        gold_files=_texts(row, "gold_files", where),
        gold_symbols=_texts(row, "gold_symbols", where) if row.get("gold_symbols") else (),
        hard=row["hard"],
    )


def _text(row: Mapping[str, object], key: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise EvaluationError(f'{where}: "{key}" must be a text that is not empty, found {_describe(row, key)}')
    return value


def _texts(row: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    value = row.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
        raise EvaluationError(
            f'{where}: "{key}" must be a list of texts that is not empty, found {_describe(row, key)}'
        )
    if len(set(value)) < len(value):
        raise EvaluationError(f'{where}: "{key}" names something twice: {value}')
    return tuple(value)


def _describe(row: Mapping[str, object], key: str) -> str:
    return _kind(row[key]) if key in row else "no such key"


def _kind(value: object) -> str:
    """Return a value as the message shows it.

    >>> _kind([]), _kind(3), _kind(None)
    ('[]', '3', 'null')
    """
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


MAX_ANSWER_FILES = 3  # files; a change of more is no answer to one question
MIN_WORDS = 4
_MAX_CHANGED_FILES = 12  # files of any kind; more is an edit in bulk
_MAX_QUESTION_CHARACTERS = 2_000  # characters
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
class MinedQuestions:
    """Questions from a history, the newest first, and the number of commits left out by reason.

    The id of a question is the name of the commit that answered it.
    """

    questions: tuple[LabelledQuestion, ...]
    left_out: Mapping[str, int]


def mine_questions(git_dir: Path, n: int, head: str = "HEAD") -> MinedQuestions:
    """Return the newest `n` questions in the history of `head`, or all if there are fewer.

    Raises GitError.
    """
    names = list_ancestors(git_dir, head)
    left_out: Counter[str] = Counter()
    question_by_query: dict[str, LabelledQuestion] = {}
    for start in range(0, len(names), _BATCH):
        changes = list(read_changes(git_dir, names[start : start + _BATCH]))
        parents = _parents(git_dir, [change.name for change in changes])
        for change in changes:
            question = _question_of(git_dir, change, parents[change.name])
            if isinstance(question, str):
                left_out[question] += 1
            elif question.query in question_by_query:
                left_out["repeated"] += 1
            else:
                question_by_query[question.query] = question
                if len(question_by_query) == n:
                    return MinedQuestions(tuple(question_by_query.values()), dict(sorted(left_out.items())))
    return MinedQuestions(tuple(question_by_query.values()), dict(sorted(left_out.items())))


def clean_message(message: str, files: Sequence[str] = ()) -> str:
    r"""Return a message without the text that gives its answer away.

    Removed are issue numbers, links, trailers, a leading scope, and the paths and names of `files`.

    >>> clean_message("fix(auth): check it in auth/session.py (#12)\n\nSigned-off-by: A", ["auth/session.py"])
    'check it in'
    """
    text = _NUMBER.sub("", _LINK.sub("", _TRAILER.sub("", message)))
    text = _SCOPE.sub(r"\1", text)
    for path in files:
        for name in (path, path.rpartition("/")[2]):
            text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", "", text)
    lines = (re.sub(r"[ \t]+", " ", line).strip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()[:_MAX_QUESTION_CHARACTERS]


def find_exclusion_reason(message: str) -> str | None:
    """Return the reason for which a message is no question, whatever was changed; None if it may be one."""
    return next((reason for reason, pattern in _REASONS if pattern.search(message)), None)


def _question_of(git_dir: Path, change: CommitChange, parent: str) -> LabelledQuestion | str:
    """Return the question that a commit makes, or the reason why it makes none."""
    reason = find_exclusion_reason(change.message)
    if reason is not None:
        return reason
    if change.n_files > _MAX_CHANGED_FILES:
        return "many files"
    code = [path for path in change.files if _is_code(path)]
    if not code or len(code) > MAX_ANSWER_FILES:
        return "no code" if not code else "many files"
    statuses = _statuses(git_dir, parent, change.name)
    files = {path: status for path, status in statuses.items() if _is_code(path)}
    if set(files.values()) != {"M"}:
        return "new files"
    query = clean_message(change.message, list(files))
    if len(_WORD.findall(query)) < MIN_WORDS:
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
    done = RunningGit(git_arguments(git_dir), "rev-list", "--no-walk", "--parents", *names).finish().check()
    rows = (line.split() for line in done.output.decode("ascii").splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 2}


def _statuses(git_dir: Path, parent: str, commit: str) -> dict[str, str]:
    """Return the change status of each file by path: M, A, D or T."""
    command = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", parent, commit, "--")
    fields = RunningGit(git_arguments(git_dir), *command).finish().check().output.split(b"\0")
    try:
        return {fields[i + 1].decode("utf-8"): fields[i].decode("ascii") for i in range(0, len(fields) - 1, 2)}
    except UnicodeDecodeError as error:
        raise GitError(f"{commit} changed a file whose name is not UTF-8 ({error})") from error


_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MAX_COMMITS_A_BATCH = 500  # commits a call of git; arguments have a limit


def clone_places(clones: Path, repo: str) -> tuple[Path, Path]:
    """Return the possible paths of the clone of OWNER/NAME: OWNER+NAME/repo, OWNER/NAME."""
    return clones / repo.replace("/", "+") / "repo", clones / repo


def find_clone(clones: Path, repo: str) -> Path | None:
    """Return the first of those paths that is itself a repository: bare, a `.git` folder or a work tree.

    A folder merely inside of a repository is skipped: git would answer for the enclosing one.
    """
    for place in clone_places(clones, repo):
        if is_git_folder(place) or is_work_tree(place):
            return place
    return None


def sort_oldest_first(git_dir: Path, commits: Iterable[str]) -> list[str]:
    """Return the distinct commits by commit time, unknown ones last.

    Neighbors in this order share most of their blobs. The order decides which blobs are parsed again, never a result.
    If git fails, the given order is kept.
    """
    distinct = list(dict.fromkeys(commits))
    # Only full hashes: another name is not what git prints, and one with a dash would be read as an option.
    hashes = [commit for commit in distinct if _HASH.fullmatch(commit)]
    times: dict[str, int] = {}
    for start in range(0, len(hashes), _MAX_COMMITS_A_BATCH):
        batch = hashes[start : start + _MAX_COMMITS_A_BATCH]
        try:
            rows = RunningGit(
                git_arguments(git_dir), "rev-list", "--no-walk", "--ignore-missing", "--timestamp", *batch
            ).finish()
        except GitError:
            return distinct
        if rows.code == 0:
            times.update((name, int(time)) for time, name in map(str.split, rows.output.decode("ascii").splitlines()))
    return sorted(distinct, key=lambda commit: times.get(commit, 1 << 62))


# What can be the answer to a question by itself.
DEFINITION_KINDS = (
    NodeKind.FUNCTION,
    NodeKind.METHOD,
    NodeKind.CLASS,
    NodeKind.STRUCT,
    NodeKind.INTERFACE,
    NodeKind.TRAIT,
    NodeKind.ENUM,
    NodeKind.TYPE,
    NodeKind.CONSTANT,
    NodeKind.MACRO,
)
MAX_DEFINITIONS = 6  # of one question; more than these name a region, not an answer
_MAX_HUNK_ROWS = 60  # of a hunk that are looked at

_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)

Hunk = tuple[int, int]  # first row, number of rows; 0-based, and 0 rows where lines were added behind the row


def find_changed_definitions(
    git_dir: Path, base: str, answer: str, graph: CodeGraph, files: Sequence[str]
) -> list[str]:
    """Return the sorted ids of the innermost definitions whose rows the commit `answer` changed in `files`.

    The definitions are those of the state `base`, from which `graph` was built. Raises GitError.
    """
    nodes = {
        node
        for path in files
        for node in _around(graph, path, list(read_hunks(read_patch(git_dir, base, answer, path))))
    }
    return sorted(graph.nodes.ids[node] for node in nodes)


def read_patch(git_dir: Path, base: str, answer: str, path: str) -> bytes:
    """Return what git says of the change of a file between two commits, without lines around. Raises GitError."""
    options = ("-r", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index")
    command = ("--literal-pathspecs", "diff-tree", *options, base, answer, "--", path)
    done = RunningGit(git_arguments(git_dir), *command).finish()
    if done.code:
        raise GitError(f"git diff-tree failed: {done.messages}")
    return done.output


def read_hunks(patch: bytes) -> Iterator[Hunk]:
    r"""Yield the rows of the old state that each hunk of a patch without context replaces.

    >>> list(read_hunks(b"@@ -3 +3 @@ f\n-a\n+b\n@@ -7,2 +7,0 @@\n-c\n-d\n@@ -9,0 +8 @@\n+e\n"))
    [(2, 1), (6, 2), (8, 0)]
    """
    for match in _HUNK.finditer(patch):
        n_rows = 1 if match[2] is None else int(match[2])
        yield int(match[1]) - 1, n_rows


def _around(graph: CodeGraph, path: str, hunks: Sequence[Hunk]) -> set[int]:
    """Return the innermost definitions of a file that enclose the rows of hunks.

    Rows added after the last row of a definition do not belong to it.
    """
    nodes = graph.nodes
    file = nodes.ids.position(file_id(path))
    if file < 0:
        return set()
    inside = np.flatnonzero((nodes.files == file) & np.isin(nodes.kinds, DEFINITION_KINDS))
    starts, ends, order = nodes.start_rows[inside], nodes.end_rows[inside], nodes.start_bytes[inside]
    definitions: set[int] = set()
    for first, n_rows in hunks:
        for row in range(first, first + min(max(n_rows, 1), _MAX_HUNK_ROWS)):
            around = np.flatnonzero((starts <= row) & ((ends >= row) if n_rows else (ends > row)))
            if len(around):
                definitions.add(int(inside[around[np.argmax(order[around])]]))
    return definitions
