"""Scores of files from the history, from the roles of files, and from their tests.

Commit messages describe the purpose of a file in other words than its code. Two signals read them: the messages of all
commits of a file as one document, and the commits whose messages are similar to the query. Two other signals read no
text: which files change together with the best ones, and how often and how recently a file changed.

A user's question is about what happens rather than about what is drawn, unless it names the user interface: components,
templates and styles say the same words as the code behind them, more often, and decide nothing.

A later migration that makes a view or function again replaces it, and a migration undone makes the one before again. A
database has the last one only.

A query may ask for a role that usually ranks lower, such as tests; then it does not rank lower. "Where are the tests of
the parser" asks for tests. "Why can a final class not be mocked" does so in most repositories, but not in one about
mocks: there the word occurs in the names of its code.

Tests describe in sentences what code does ("keeps the cookie when redirected"), and their own files rank low. So the
text of a test counts for the code that it tests. Only the names of files tell which file a test is about: the imports
and calls of tests were measured as well and are less informative (docs/benchmarks.md).
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import select_first
from causalist._internal.lazy import lazy_regex
from causalist.model.graph import CodeGraph
from causalist.model.index import History, LexicalIndex
from causalist.model.node_ids import NodeKind, Role, split_id
from causalist.model.scores import Scores, Signal
from causalist.rank.lexical.bm25 import bm25, find_nodes_by_name
from causalist.rank.query.query import ParsedQuery
from causalist.rank.terms import stem

# One commit with all words of the query outweighs many with a single word.
LIKENESS_POWER = 2
HISTORY_SIGNALS = (Signal.MESSAGES, Signal.SIMILAR_COMMITS)  # the signals that read messages
HALF_WEIGHT_COMMITS = 50  # commits; the messages of a history of this length have half their weight
N_BEST = 3  # files whose partners are supported
_DAY = 86_400.0


def history_terms(terms: Mapping[str, float], history: History) -> dict[int, float]:
    """Return weight by number, for those terms of a query that any message has.

    `terms`: weight by term.
    """
    numbers = {history.commits.terms.position(term): weight for term, weight in terms.items()}
    numbers.pop(-1, None)
    return numbers


def history_query_terms(question: ParsedQuery, others: Mapping[str, float], history: History) -> dict[int, float]:
    """Return weight by number, for the terms to search for in messages.

    These are the terms of a query, possible abbreviations of them, and the `others` that replace them.
    """
    return history_terms({**others, **question.abbreviations, **question.terms}, history)


def history_signals(
    question: ParsedQuery, history: History, n_nodes: int, others: Mapping[str, float] = MappingProxyType({})
) -> dict[Signal, Scores]:
    """Return the two signals that read messages, by name.

    Each is divided by its largest value and multiplied by n / (n + HALF_WEIGHT_COMMITS) for n commits that touch these
    files. In a young history one message decides, and it may be about anything. `others`: weight by term, for words
    that replace those of the query.
    """
    terms = history_query_terms(question, others, history)
    n_commits = int(np.count_nonzero(np.diff(history.indptr)))
    reliability = n_commits / (n_commits + HALF_WEIGHT_COMMITS)
    signals = (message_scores(terms, history, n_nodes), similar_commit_scores(terms, history, n_nodes))
    scaled = (reliability * scores / (scores.max(initial=0.0) or 1.0) for scores in signals)
    return dict(zip(HISTORY_SIGNALS, scaled, strict=True))


def message_scores(terms: Mapping[int, float], history: History, n_nodes: int) -> Scores:
    """Return the BM25 scores of the messages of each file, for the result of `history_terms`."""
    return _of_nodes(bm25(history.messages, terms, len(history)), history, n_nodes)


def similar_commit_scores(terms: Mapping[int, float], history: History, n_nodes: int) -> Scores:
    """Return the sum of `likeness ** LIKENESS_POWER / files` over the commits of each file.

    Likeness is the BM25 score of a message divided by the best one; files is the number of files that the commit
    changed.
    """
    return _of_nodes(_sums(_commit_weights(terms, history), history), history, n_nodes)


def similar_commits(terms: Mapping[int, float], history: History, node: int, limit: int) -> list[str]:
    """Return the names of the commits with the largest parts in the `similar_commit_scores` of a file."""
    file = int(np.searchsorted(history.nodes, node))
    if file == len(history) or history.nodes[file] != node:
        return []
    owners = np.repeat(np.arange(len(history.commits)), np.diff(history.indptr))
    touching = owners[history.files == file]
    weights = _commit_weights(terms, history)[touching]
    order = np.lexsort((touching, -weights))[:limit]
    return [history.commits.names[i] for i in touching[order[weights[order] > 0]].tolist()]


def co_change_scores(scores: Scores, history: History, n_best: int = N_BEST) -> Scores:
    """Return a signal for the files that change together with the `n_best` files of `scores`.

    `scores` has shape (n_nodes,). The signal is the sum over these files of their scores, divided by the best score,
    times the strength of the partnership.
    """
    own = scores[history.nodes]
    best = np.lexsort((history.nodes, -own))[:n_best]
    result = np.zeros(len(history))
    pairs = history.co_changes
    for file in best[own[best] > 0].tolist():
        start, stop = int(pairs.indptr[file]), int(pairs.indptr[file + 1])
        # A partner occurs at most once among those of a file.
        result[pairs.others[start:stop]] += pairs.strengths[start:stop] * own[file] / own[best[0]]
    return _of_nodes(result, history, len(scores))


def churn_scores(history: History, n_nodes: int) -> Scores:
    """Return log(1 + commits) of each file, divided by the largest; commits decay by age."""
    values = np.log1p(history.churn)
    top = values.max(initial=0.0)
    return _of_nodes(values / top if top > 0 else values, history, n_nodes)


def recency_scores(history: History, n_nodes: int, half_life_days: float) -> Scores:
    """Return 0.5 ** (age / half life) of the last commit of each file.

    The age is relative to the newest commit. A file without commits has 0.
    """
    newest = history.last.max(initial=0)
    values = np.exp2(-(newest - history.last) / _DAY / half_life_days)
    return _of_nodes(np.where(history.last > 0, values, 0.0), history, n_nodes)


def _commit_weights(terms: Mapping[int, float], history: History) -> NDArray[np.float64]:
    likeness = bm25(history.commits.words, terms, len(history.commits))
    # A commit without existing files is not used to scale the others.
    likeness[np.diff(history.indptr) == 0] = 0.0
    top = likeness.max(initial=0.0)
    if top == 0:
        return likeness
    result: NDArray[np.float64] = (likeness / top) ** LIKENESS_POWER / np.maximum(history.commits.n_files, 1)
    return result


def _sums(weights: NDArray[np.float64], history: History) -> NDArray[np.float64]:
    spread = np.repeat(weights, np.diff(history.indptr))
    return np.bincount(history.files, weights=spread, minlength=len(history)).astype(np.float64)


def _of_nodes(values: NDArray[np.float64], history: History, n_nodes: int) -> Scores:
    scores = np.zeros(n_nodes)
    scores[history.nodes] = values
    return scores


ASKED_WORDS: dict[Role, tuple[str, ...]] = {
    Role.TEST: ("test", "tests", "testing", "spec", "fixture", "mock"),
    Role.DOCS: ("docs", "documentation", "readme", "changelog", "guide"),
    Role.EXAMPLE: ("example", "examples", "benchmark", "demo", "sample"),
    Role.CONFIG: ("ci", "workflow", "config", "lint", "build", "packaging", "setup", "pyproject", "tsconfig"),
    Role.MIGRATION: ("migration", "migrations"),
    Role.GENERATED: ("generated",),
    Role.VENDORED: ("vendored", "vendor"),
}
_UNNAMED = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.FIELD, NodeKind.EXTERNAL)
# Least share and least number of the definitions of code with a word in their name, for a repository that is about the
# word. docs/decisions/0006 has the shares of forty repositories.
_MIN_SUBJECT_SHARE = 0.01
_MIN_SUBJECT_DEFINITIONS = 10
# Phrases that certainly ask for tests.
_TESTS_OF = lazy_regex(
    r"\b(?:unit|integration|regression|existing|which)[ -]tests?\b|\btests? (?:of|for|that|which|cover\w*|check\w*)\b"
    r"|\b(?:is|are|was|were) (?:\S+ ){1,6}tested\b",
    needs=("test",),
)
_MAX_TITLE_CHARACTERS = 300  # characters of a title that are searched for such phrases


def queried_roles(question: ParsedQuery, graph: CodeGraph, lexical: LexicalIndex) -> NDArray[np.bool_]:
    """Return True for the nodes of a role that the title asks for, shape (n_nodes,)."""
    wanted = np.zeros(len(Role), dtype=np.bool_)
    for role, words in ASKED_WORDS.items():
        stems = dict.fromkeys(stem(word) for word in words)
        title_stems = [term for term in stems if term in question.title_terms]
        wanted[role] = any(not _is_subject(term, graph, lexical) for term in title_stems)
    if not wanted[Role.TEST]:
        wanted[Role.TEST] = (
            _TESTS_OF.search(question.text.split("\n", 1)[0][:_MAX_TITLE_CHARACTERS].lower()) is not None
        )
    result: NDArray[np.bool_] = wanted[graph.nodes.roles]
    return result


def _is_subject(term: str, graph: CodeGraph, lexical: LexicalIndex) -> bool:
    """Return True if the repository is about what a term says.

    Such a term does not ask for anything that is called by it.
    """
    number = lexical.terms.position(term)
    if number < 0:
        return False
    names, nodes = lexical.symbol_names, graph.nodes
    having = names.documents[int(names.indptr[number]) : int(names.indptr[number + 1])]
    n_having = int(np.count_nonzero((nodes.roles[having] == Role.CODE) & ~np.isin(nodes.kinds[having], _UNNAMED)))
    if n_having < _MIN_SUBJECT_DEFINITIONS:
        return False
    n_code = int(np.count_nonzero((nodes.roles == Role.CODE) & ~np.isin(nodes.kinds, _UNNAMED)))
    return n_having >= _MIN_SUBJECT_SHARE * n_code


# Factor of files that draw a user interface, for questions that name none (docs/benchmarks.md, "User interfaces").
USER_INTERFACE_FACTOR = 0.75
_DRAWING_SUFFIXES = (
    *(".tsx", ".jsx", ".vue", ".svelte", ".astro", ".css", ".scss", ".less", ".sass", ".html", ".htm", ".xaml"),
    *(".razor", ".cshtml", ".erb", ".haml", ".slim", ".twig", ".hbs", ".ejs", ".pug", ".phtml", ".jinja", ".tmpl"),
    *(".blade.php", ".leaf", ".heex", ".liquid", ".component.ts", ".xaml.cs", ".razor.cs", ".axaml.cs"),
)
_SCRIPT_SUFFIXES = (".js", ".mjs", ".ts", ".mts", ".coffee")
_SERVED_SCRIPT = lazy_regex(
    r"(?:^|/)(?:ui|frontend|front-end|webui|webapp|public|static|assets|www|wwwroot)/"
    r"|(?:^|/)(?:hooks?|composables|components|stores?)/use[^/]*$"
)
_USER_INTERFACE_WORDS = (
    *("browser", "button", "chart", "checkbox", "click", "color", "colour", "component", "css", "dark", "dialog"),
    *("diagram", "display", "drag", "draw", "drawn", "dropdown", "extension", "font", "form", "frontend", "hover"),
    *("html", "icon", "interface", "keyboard", "layout", "menu", "mobile", "modal", "phone", "popup", "press"),
    *("render", "rendered", "screen", "scroll", "shortcut", "show", "shown", "sidebar", "style", "stylesheet"),
    *("tab", "tap", "template", "theme", "toggle", "tooltip", "typing", "ui", "view", "widget", "window"),
)


def user_interface_factors(question: ParsedQuery, graph: CodeGraph) -> Scores:
    """Return the factor of each node by its file, shape (n_nodes,); 1 unless the file draws a user interface."""
    if not question.is_question or question.title_terms & _user_interface_stems():
        return np.ones(len(graph.nodes))
    return np.where(user_interface_nodes(graph), USER_INTERFACE_FACTOR, 1.0)


def user_interface_nodes(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return True for the nodes of files that draw a user interface, shape (n_nodes,).

    These are components, templates, styles, and scripts that a browser runs.
    """
    nodes = graph.nodes
    files = np.flatnonzero(nodes.kinds == NodeKind.FILE)
    scripts = files[nodes.ids.ending_in(files, _SCRIPT_SUFFIXES)]
    served = [node for node in scripts.tolist() if _SERVED_SCRIPT.search(nodes.ids[node].lower())]
    is_drawing = np.zeros(len(nodes) + 1, dtype=np.bool_)  # the last stands for nodes without a file
    is_drawing[files[nodes.ids.ending_in(files, _DRAWING_SUFFIXES)]] = True
    is_drawing[served] = True
    result: NDArray[np.bool_] = is_drawing[nodes.files]
    return result


def superseded_factors(graph: CodeGraph, is_asked: NDArray[np.bool_]) -> Scores:
    """Return the factor of each node by whether a later migration replaces it, shape (n_nodes,).

    It is 1 for the last definition of a name, and for nodes of a role that the query asks for.
    """
    return np.where(superseded_nodes(graph) & ~is_asked, SUPERSEDED_FACTOR, 1.0)


def superseded_nodes(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return True for definitions of SQL that another migration of the folder makes again, shape (n_nodes,).

    The last one by the numbers in its path counts, and of one file the first: the part that undoes it comes behind.
    None counts of what stands in a script of its own that is no migration: that one is kept as the database is now.
    """
    nodes = graph.nodes
    result = np.zeros(len(nodes), dtype=np.bool_)
    scripts = np.flatnonzero((nodes.kinds == NodeKind.FILE) & np.isin(nodes.roles, [Role.MIGRATION, Role.CODE]))
    scripts = scripts[nodes.ids.ending_in(scripts, (".sql",))]
    files = scripts[nodes.roles[scripts] == Role.MIGRATION]
    if not len(files):
        return result
    place_of_file: dict[int, tuple[str, bool, list[str | int]]] = {}
    for file in files.tolist():
        path = split_id(nodes.ids[file])[0]
        folder = "/".join(part for part in path.split("/")[:-1] if not part[:1].isdigit())
        order = [int(part) if part.isdigit() else part for part in _NUMBER.split(path)]
        place_of_file[file] = folder, not _UNDOING.search(path), order
    made: dict[tuple[str, int, str], list[tuple[bool, list[str | int], int]]] = {}
    kept: set[tuple[int, str]] = set()  # what has a script of its name that is no migration
    is_script = np.zeros(len(nodes) + 1, dtype=np.bool_)  # the last stands for nodes without a file
    is_script[scripts] = True
    inner = np.flatnonzero(is_script[nodes.files] & np.isin(nodes.kinds, _MADE_AGAIN))
    for node in inner.tolist():
        kind, name = int(nodes.kinds[node]), nodes.ids[node].partition("::")[2].partition("~")[0]
        if (place := place_of_file.get(int(nodes.files[node]))) is None:
            if nodes.ids[nodes.files[node]].rpartition("/")[2].removesuffix(".sql") == name.rpartition(".")[2]:
                kept.add((kind, name))
            continue
        folder, is_making, order = place
        made.setdefault((folder, kind, name), []).append((is_making, order, -node))
    for (_, kind, name), places in made.items():
        places.sort()
        result[[-number for *_, number in (places if (kind, name) in kept else places[:-1])]] = True
    return result


@lru_cache(maxsize=1)
def _user_interface_stems() -> frozenset[str]:
    return frozenset(map(stem, _USER_INTERFACE_WORDS))


SUPERSEDED_FACTOR = 0.25  # chosen by hand: that of the role, which rarely decides among definitions alike
_MADE_AGAIN = (NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.STRUCT, NodeKind.CLASS)
_NUMBER = lazy_regex(r"(\d+)")
_UNDOING = lazy_regex(r"(?:^|[/._-])(?:down|undo|rollback|revert)\.sql$")

_MARK = lazy_regex(
    r"^(?:tests?|specs?)[_-]+|^Test(?=[A-Z])|[_-](?:tests?|specs?|it|e2e)$"
    r"|(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|Suite|IT)$"
)
_MAX_TEST_FILES = 40  # best test files that are read
_MAX_TESTED_FILES = 6  # files that the name of a test file may mean; with more, none is used


def scores_from_tests(
    texts: NDArray[np.float64], has_queried_role: NDArray[np.bool_], graph: CodeGraph, lexical: LexicalIndex
) -> NDArray[np.float64]:
    """Return the score that each file of code gets from its tests, shape (n_nodes,).

    The score is the best of `texts` of the test files with the same name, each divided by the square root of the number
    of files that it may mean. `texts`: the match of the text of each file, at least 0. `has_queried_role`: nodes
    with a role that the query asks for; such tests give no score to others.
    """
    nodes = graph.nodes
    scores = np.zeros(len(nodes))
    tests = np.flatnonzero(
        (nodes.kinds == NodeKind.FILE) & (nodes.roles == Role.TEST) & ~has_queried_role & (texts > 0)
    )
    is_code = (nodes.kinds == NodeKind.FILE) & (nodes.roles == Role.CODE)
    for test in select_first(texts, tests, _MAX_TEST_FILES).tolist():
        files = _tested_files(split_id(nodes.ids[test])[0], is_code, graph, lexical)
        for file in files:
            scores[file] = max(scores[file], texts[test] / np.sqrt(len(files)))
    return scores


def stem_under_test(path: str) -> str:
    """Return the name of a test file in lower case, without its test prefix or suffix.

    >>> [stem_under_test(path) for path in ("tests/test_cookies.py", "src/router.test.ts", "a/HtmlParserTests.cs")]
    ['cookies', 'router', 'htmlparser']
    """
    name = path.rpartition("/")[2].partition(".")[0]
    while (shorter := _MARK.sub("", name, count=1)) not in ("", name):
        name = shorter
    return name.lower()


def _tested_files(path: str, is_code: NDArray[np.bool_], graph: CodeGraph, lexical: LexicalIndex) -> list[int]:
    """Return the files of code with the name of a test's subject, from the most similar folders.

    The result is empty if there are many.
    """
    name = stem_under_test(path)
    candidates = np.array(
        [*find_nodes_by_name(name, lexical), *find_nodes_by_name(f"_{name}", lexical)], dtype=np.int64
    )
    files = candidates[is_code[candidates]].tolist()
    if len(files) > 1:
        own = set(path.lower().split("/")[:-1])
        paths = [split_id(graph.nodes.ids[file])[0].lower() for file in files]
        shared = [len(own.intersection(each.split("/")[:-1])) for each in paths]
        most = max(shared)
        files = [file for file, n in zip(files, shared, strict=True) if n == most]
    return files if len(files) <= _MAX_TESTED_FILES else []
