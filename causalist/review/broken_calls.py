"""Call sites that a changed signature breaks, by their arguments.

In: changed definitions and the index after the change. Out: `BrokenCall` with the reason. A call is broken if it fitted
the parameters before the change and does not fit those after it, so that a call that the graph relates to a wrong
definition is rarely reported. Calls with an unknown number of arguments (`*args`, spreads) are skipped.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from causalist._internal.dataclass_arrays import unique_sorted
from causalist.model.graph import BUILD_VARIANT, CodeGraph, EdgeKind
from causalist.model.index import Index
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, file_id, last_name, split_id
from causalist.navigate.edges import find_overridden
from causalist.navigate.implicit_calls import class_of_constructor
from causalist.parse import dialect_of, with_line_feeds
from causalist.rank import bm25
from causalist.rank.terms import terms_of
from causalist.review.changes import ChangedDefinition, ChangeKind, DefinitionVersion, ReadFile
from causalist.review.syntax_file import CallAt, DeclaredParameter, SyntaxFile

_MIN_CONFIDENCE = 0.5  # or certainty, of the edge that says which definition is called
_GONE_SHARE = 0.8  # of calls by the unique name of a removed definition, that meant it
_NAME_SHARE = 0.6  # of calls by the unique name of a definition, that mean it
_MIN_NAME_CHARACTERS = 6  # characters of a name that says enough
_MAX_FILES = 200  # with a name in their text
# Methods of these languages are called with a receiver only, so that a call of a name alone means something else.
_RECEIVER_LANGUAGES = frozenset({"python", "javascript", "flow", "typescript", "tsx", "go", "rust", "php"})
_ITSELF = (b"self.", b"cls.", b"this.", b"$this->", b"self::", b"static::", b"Self::")
_UNTOLD_ARITY = frozenset({"javascript", "flow"})  # may be called with more arguments than there are parameters
_MAX_NAMESAKES = 40


class BrokenCall(NamedTuple):
    """A call that no longer fits: `line` is 1-based in `path`, `node` stands around it and calls `target`.

    `confidence` is the certainty of the edge to the target, by which the call means it.
    """

    path: str
    line: int
    node: str
    target: str
    why: str
    confidence: float


def locate_versions(graph: CodeGraph, definitions: Iterable[ChangedDefinition]) -> dict[int, int]:
    """Return the node of each changed definition by its position; those that the graph does not have are left out.

    Of definitions with one name, that in the same row counts.
    """
    nodes, version_by_node = graph.nodes, dict[int, int]()
    by_file: dict[str, dict[tuple[int, str], int]] = {}
    for position, changed in enumerate(definitions):
        version = changed.new
        file = nodes.ids.position(file_id(changed.path))
        if version is None:
            if changed.old is None and file >= 0:
                version_by_node[position] = file
            continue
        if file < 0:
            continue
        if changed.path not in by_file:
            inside = np.flatnonzero(nodes.files == file).tolist()
            by_file[changed.path] = {(int(nodes.start_rows[n]), last_name(nodes.ids[n])): n for n in reversed(inside)}
        node = by_file[changed.path].get((version.fact.start_row, version.fact.name), nodes.ids.position(changed.node))
        if node >= 0:
            version_by_node[position] = node
    return version_by_node


def find_broken_calls(
    index: Index,
    definitions: Sequence[ChangedDefinition],
    places: dict[int, int],
    read: Callable[[str], bytes | None],
    known: Mapping[str, ReadFile] | None = None,
) -> tuple[BrokenCall, ...]:
    """Return the calls that changed, renamed and removed definitions break, the surest first.

    `places` are those of `locate_versions`; `read` gives a file after the change, None if it cannot be read. `known`
    are files that were read already.
    """
    files = _Files(read, known or {})
    call_by_key: dict[tuple[str, int, str], BrokenCall] = {}
    for position, each in enumerate(definitions):
        old, new = each.old, each.new
        if old is None or old.fact.kind not in CALLABLE_KINDS:
            continue
        if each.kind == ChangeKind.REMOVED or (new is not None and new.fact.name != old.fact.name):
            broken = _find_calls_of_gone(index, files, old, new)
        elif each.kind in (ChangeKind.SIGNATURE, ChangeKind.MOVED) and new is not None and position in places:
            broken = _find_misfits(index, files, places[position], old, new)
        else:
            continue
        for call in broken:
            key = (call.path, call.line, call.target)
            if key not in call_by_key or call.confidence > call_by_key[key].confidence:
                call_by_key[key] = call
    return tuple(sorted(call_by_key.values(), key=lambda call: (-call.confidence, call.path, call.line, call.target)))


class _Files:
    """Syntax trees of files, each read once."""

    def __init__(self, read: Callable[[str], bytes | None], known: Mapping[str, ReadFile]) -> None:
        self._read, self._known = read, known
        self._texts: dict[str, bytes | None] = {}
        self._trees: dict[str, SyntaxFile | None] = {}
        self._spans: dict[int, list[tuple[int, int]]] = {}

    def _callables(self, graph: CodeGraph, node: int) -> list[tuple[int, int]]:
        """Return the (start byte, end byte) of the callables in the file of a node."""
        nodes, file = graph.nodes, int(graph.nodes.files[node])
        if file not in self._spans:
            inside = np.flatnonzero((nodes.files == file) & np.isin(nodes.kinds, sorted(CALLABLE_KINDS)))
            spans = zip(nodes.start_bytes[inside].tolist(), nodes.end_bytes[inside].tolist(), strict=True)
            self._spans[file] = list(spans)
        return self._spans[file]

    def tree(self, path: str) -> SyntaxFile | None:
        if path in self._known:
            return self._known[path].syntax
        if path not in self._trees:
            data = self._text(path)
            self._trees[path] = None if data is None else SyntaxFile.read(path, data)
        return self._trees[path]

    def _text(self, path: str) -> bytes | None:
        if path in self._known:
            return self._known[path].text
        if path not in self._texts:
            data = self._read(path)
            self._texts[path] = None if data is None else with_line_feeds(data)
        return self._texts[path]

    def imports(self, path: str, name: str) -> bool:
        """Return True if a changed file imports something by this name."""
        return path in self._known and any(each.alias == name for each in self._known[path].facts.imports)

    def is_on_itself(self, path: str, call: CallAt) -> bool:
        """Return True for a call of a method of the object or class that the caller belongs to."""
        return (self._text(path) or b"").startswith(_ITSELF, call.start)

    def is_on_type(self, path: str, call: CallAt, type_name: str) -> bool:
        """Return True for a call on a type that is written by its name."""
        written = tuple(f"{type_name}{mark}".encode() for mark in (".", "::"))
        return (self._text(path) or b"").startswith(written, call.start)

    def is_own_name(self, graph: CodeGraph, node: int, name: str) -> bool:
        """Return True if a node or a function around it has a parameter of this name."""
        nodes = graph.nodes
        while node >= 0 and nodes.kinds[node] in CALLABLE_KINDS:
            tree = self.tree(split_id(nodes.ids[node])[0])
            span = int(nodes.start_bytes[node]), int(nodes.end_bytes[node])
            listed = None if tree is None else tree.parameters(*span, is_method=False)
            if any(each.name == name for each in listed or ()):
                return True
            node = int(nodes.parents[node])
        return False

    def calls_in(self, graph: CodeGraph, node: int, names: frozenset[str]) -> list[CallAt]:
        """Return the calls by these names in a node, outside of callables in it."""
        nodes, path = graph.nodes, split_id(graph.nodes.ids[node])[0]
        text = self._text(path)
        is_file = nodes.kinds[node] == NodeKind.FILE
        start, end = (0, 1 << 60) if is_file else (int(nodes.start_bytes[node]), int(nodes.end_bytes[node]))
        if text is None or not any(text.find(name.encode(), start, end) >= 0 for name in names):
            return []  # before the file is parsed
        tree = self.tree(path)
        calls = [] if tree is None else tree.calls(start, end, names)
        if not calls:
            return []
        inner = [span for span in self._callables(graph, node) if start <= span[0] < end and span != (start, end)]
        return [call for call in calls if not any(first <= call.start < last for first, last in inner)]


def _find_misfits(
    index: Index, files: _Files, node: int, old: DefinitionVersion, new: DefinitionVersion
) -> list[BrokenCall]:
    """Return the calls of a definition that fitted its old parameters and do not fit its new ones."""
    if old.parameters is None or new.parameters is None or old.parameters == new.parameters:
        return []
    graph = index.graph
    nodes, edges = graph.nodes, graph.edges
    targets, names = {node: 1.0}, {new.fact.name}
    owner = class_of_constructor(graph, node)
    if owner >= 0:
        targets[owner] = 1.0
        names.add(last_name(nodes.ids[owner]))
        names |= {"super", "this", "base", "__init__"}
    for base in find_overridden(graph, [node], _MIN_CONFIDENCE):
        targets.setdefault(base, 0.0)  # calls of these are not those of the changed one alone
    overloads = graph.namesakes(node)
    if len(overloads) > _MAX_NAMESAKES:
        return []
    signatures = {node: new.parameters}
    tree = files.tree(new.path)
    for other in overloads:
        listed = None if tree is None else tree.parameters(
            int(nodes.start_bytes[other]), int(nodes.end_bytes[other]), is_method=new.is_method
        )  # fmt: skip
        if listed is not None:
            signatures[other] = listed
        targets[other] = 1.0
    by_source: dict[int, float] = {}
    told: dict[int, tuple[set[int], int]] = {}  # first rows of the calls that edges stand for, and their number
    numbers = graph.edges_into(np.array([n for n, share in targets.items() if share], dtype=np.int64))
    for number, confidence in zip(numbers.tolist(), graph.certainties(numbers).tolist(), strict=True):
        if edges.kinds[number] == EdgeKind.CALLS and confidence >= _MIN_CONFIDENCE:
            source = int(edges.sources[number])
            by_source[source] = max(by_source.get(source, 0.0), confidence)
            rows, n_calls = told.get(source, (set(), 0))
            told[source] = {*rows, int(edges.rows[number])}, n_calls + int(edges.counts[number])
    # Where arguments choose between overloads, a call that no longer fits has lost its target.
    name = new.fact.name
    is_only_one = owner < 0 and all(other in targets for other in _find_by_name(index, name))
    if is_only_one:
        for source in _untold_callers(graph, name, new.path):
            by_source.setdefault(source, _GONE_SHARE)
        for source in _writers_of(index, name, new.path, is_whole=True):
            by_source.setdefault(source, _NAME_SHARE)
    on_type: set[int] = set()  # callers of which only calls on the type, or bare ones inside of it, count
    around = int(nodes.parents[node])
    holder = last_name(nodes.ids[around]) if around >= 0 and nodes.kinds[around] in TYPE_KINDS else ""
    holder = holder if owner < 0 and holder and _find_by_name(index, holder) == [around] else ""
    if not is_only_one and holder:
        written = _writers_of(index, name, new.path, is_whole=False)
        on_type = {*_untold_callers(graph, name, new.path), *written} - by_source.keys()
        by_source |= dict.fromkeys(on_type, _GONE_SHARE)
    misfits: list[BrokenCall] = []
    for source, confidence in sorted(by_source.items()):
        path = split_id(nodes.ids[source])[0]
        caller = files.tree(path)
        variants = _variants_of(graph, source)
        shared = _calls_others(graph, source, {*targets, *variants} if node in variants else set(targets), names)
        fitting = [listed for other, listed in signatures.items() if other == node or other not in variants]
        calls = files.calls_in(graph, source, frozenset(names))
        if not is_only_one and source in told and len(calls) > told[source][1]:
            # Others may call something else.
            rows = told[source][0]
            calls = [c for c in calls if c.row in rows or (holder and files.is_on_type(path, c, holder))]
        for call in calls:
            is_on_type = bool(holder) and files.is_on_type(path, call, holder)
            if call.is_open or caller is None or (shared and call.name in names and not is_on_type):
                continue
            if call.is_bare and files.is_own_name(graph, source, call.name):
                continue
            if source in on_type and not (
                int(nodes.parents[source]) == around and caller.language not in _RECEIVER_LANGUAGES
                if call.is_bare
                else is_on_type
            ):
                continue
            language = caller.language
            if any(describe_misfit(call, listed, language) == "" for listed in fitting):
                continue
            if describe_misfit(call, behind_receiver(old.parameters), language):
                continue
            why = describe_misfit(call, new.parameters, language)
            misfits.append(BrokenCall(path, call.row + 1, nodes.ids[source], nodes.ids[node], why, confidence))
    return misfits


def _variants_of(graph: CodeGraph, source: int) -> set[int]:
    """Return the functions that a node calls in some builds only: each must fit, because no build has another."""
    if BUILD_VARIANT not in graph.rule_names:
        return set()
    numbers = np.array(graph.outgoing(source), dtype=np.int64)
    rule = graph.rule_names.index(BUILD_VARIANT)
    return set(graph.edges.targets[numbers[graph.edges.rules[numbers] == rule]].tolist())


def _calls_others(graph: CodeGraph, source: int, targets: set[int], names: set[str]) -> bool:
    """Return True if a node also calls something else by one of these names: which call is which is not known."""
    edges = graph.edges
    return any(
        edges.kinds[number] == EdgeKind.CALLS
        and int(edges.targets[number]) not in targets
        and graph.edge(number).certainty >= _MIN_CONFIDENCE
        and last_name(graph.nodes.ids[int(edges.targets[number])]) in names
        for number in graph.outgoing(source)
    )


def describe_misfit(call: CallAt, parameters: Sequence[DeclaredParameter], language: str) -> str:
    """Return why a call does not fit parameters, "" if it does."""
    behind = behind_receiver(parameters)
    if len(behind) < len(parameters):  # the receiver stands before the dot, or is the first argument
        why = describe_misfit(call, behind, language)
        return why and (describe_misfit(call, [parameters[0]._replace(form="positional"), *behind], language) and why)
    given = [each for each in call.arguments if not each.name]
    named = [each.name for each in call.arguments if each.name]
    positional = [each for each in parameters if each.form == "positional"]
    by_name = {each.name for each in parameters if each.form in ("positional", "keyword") and each.label}
    takes_list = any(each.form == "list" for each in parameters)
    takes_map = any(each.form == "map" for each in parameters)
    if language != "swift":
        unknown = [name for name in named if name not in by_name]
        if unknown and not takes_map:
            if language == "ruby" and not any(each.form == "keyword" for each in parameters):
                return ""  # a hash as the last argument
            return f"no parameter is named {unknown[0]!r}"
    n_given = len(given) - (1 if call.is_scoped and language == "rust" and len(given) > len(positional) else 0)
    if n_given > len(positional) and not takes_list and language not in _UNTOLD_ARITY:
        return f"{n_given} arguments in place of {_count(positional)}"
    if language == "swift":
        n_needed = sum(not each.is_optional for each in positional)
        n_all = len(call.arguments)
        if n_all < n_needed:
            return f"{n_all} arguments in place of {_count(positional)}"
        return "" if n_all <= len(positional) or takes_list else f"{n_all} arguments in place of {_count(positional)}"
    missing = [
        each for i, each in enumerate(positional) if i >= n_given and not each.is_optional and each.name not in named
    ]
    if missing:
        return f"nothing is given for {missing[0].name!r}" if missing[0].name else f"{n_given} arguments are too few"
    needed = [e for e in parameters if e.form == "keyword" and not e.is_optional and e.name not in named]
    if needed:
        return f"nothing is given for the keyword {needed[0].name!r}"
    doubled = [name for name in named if name in [each.name for each in positional[:n_given]]]
    if doubled:
        return f"{doubled[0]!r} is given twice"
    for argument, parameter in zip(given, positional, strict=False):
        if argument.literal and parameter.type and argument.literal != parameter.type:
            return f"a {argument.literal} is given for {parameter.name!r}, which is a {parameter.type}"
    return ""


def behind_receiver(parameters: Sequence[DeclaredParameter]) -> Sequence[DeclaredParameter]:
    """Return the parameters of a call with the receiver before the dot, as extension methods are mostly called."""
    return parameters[1:] if parameters and parameters[0].form == "receiver" else parameters


def _count(parameters: Sequence[DeclaredParameter]) -> str:
    least = sum(not each.is_optional for each in parameters)
    return str(least) if least == len(parameters) else f"{least} to {len(parameters)}"


def _find_calls_of_gone(
    index: Index, files: _Files, old: DefinitionVersion, new: DefinitionVersion | None
) -> list[BrokenCall]:
    """Return the calls by a name that nothing in the repository has any more, in files that knew the definition.

    They have no known target. Names that something else in the repository has are left out, and so are calls that the
    definition cannot have been meant by: those of a parameter or import of that name, those of a name alone if it was
    a method, and those in other files if it stood in a function. A name that files call which have nothing to do with
    the definition is one of others, too: then only calls on the object itself, or without any, are kept.
    """
    name, graph, nodes = old.fact.name, index.graph, index.graph.nodes
    if _find_by_name(index, name):
        return []
    is_renamed = new is not None
    why = f"{name} is now {new.fact.qualname}" if new is not None and is_renamed else f"{name} was removed"
    target = old.node
    broken: list[BrokenCall] = []
    informed = _files_that_use(graph, old.path)
    sources = _untold_callers(graph, name, old.path)
    strangers = {s for s in sources if informed is not None and int(nodes.files[s]) not in informed}
    for source in sources:
        path = split_id(nodes.ids[source])[0]
        if source in strangers or (old.is_local and path != old.path):
            continue
        if path == old.path and files.imports(path, name):
            continue
        for call in files.calls_in(graph, source, frozenset({name})):
            is_method = old.is_method and _language(files, path) in _RECEIVER_LANGUAGES
            if call.is_bare and (is_method or files.is_own_name(graph, source, name)):
                continue
            if strangers and not call.is_bare and not files.is_on_itself(path, call):
                continue
            if (
                call.is_open
                or old.parameters is None
                or not describe_misfit(call, behind_receiver(old.parameters), _language(files, path))
            ):
                broken.append(BrokenCall(path, call.row + 1, nodes.ids[source], target, why, _GONE_SHARE))
    return broken


def _files_that_use(graph: CodeGraph, path: str) -> set[int] | None:
    """Return the files that use something of a file, or that it uses; None if the graph does not have it."""
    nodes, edges = graph.nodes, graph.edges
    own = nodes.ids.position(file_id(path))
    if own < 0:
        return None
    of_sources, of_targets = nodes.files[edges.sources], nodes.files[edges.targets]
    users = unique_sorted(of_sources[of_targets == own]).tolist()
    return {own, *users, *unique_sorted(of_targets[of_sources == own]).tolist()}


def _writers_of(index: Index, name: str, path: str, *, is_whole: bool) -> list[int]:
    """Return the callables and files with a name in their text, in the language of a file."""
    graph, lexical = index.graph, index.lexical
    nodes = graph.nodes
    # A name of one word is stored by its stem, which others have: then something else must say what is meant.
    terms = (name.lower(),) if is_whole else terms_of(name)
    words = [word for word in map(lexical.terms.position, terms) if word >= 0]
    if not words or len(name) < _MIN_NAME_CHARACTERS:
        return []
    term = min(words, key=lambda word: lexical.files.indptr[word + 1] - lexical.files.indptr[word])
    scores = bm25(lexical.files, {term: 1.0}, len(nodes))
    language = dialect_of(path)
    matching = [n for n in np.flatnonzero(scores > 0).tolist() if dialect_of(split_id(nodes.ids[n])[0]) == language]
    inside = np.flatnonzero(np.isin(nodes.files, matching[:_MAX_FILES])).tolist()
    return [n for n in inside if nodes.kinds[n] in (*CALLABLE_KINDS, NodeKind.FILE)]


def _untold_callers(graph: CodeGraph, name: str, path: str) -> list[int]:
    """Return the nodes that may call something of this name without a known target.

    They have an unresolved call by it, use something outside of the repository with it, or are in the file `path`.
    """
    nodes, unresolved = graph.nodes, graph.unresolved
    sources: set[int] = set()
    if len(unresolved):
        position = unresolved.texts.position(name)
        sources |= set(unresolved.sources[unresolved.names == position].tolist())
    ends = (f".{name}", f":{name}", f"/{name}", f"#{name}")
    outside = np.flatnonzero(nodes.kinds == NodeKind.EXTERNAL)
    written = zip(outside.tolist(), nodes.ids.some(outside), strict=True)
    gone = [n for n, node in written if node.endswith(ends)]
    if gone:
        numbers = graph.edges_into(np.array(gone, dtype=np.int64))
        is_call = np.isin(graph.edges.kinds[numbers], (EdgeKind.CALLS, EdgeKind.REFERENCES))
        sources |= {int(s) for s in graph.edges.sources[numbers[is_call]].tolist()}
    own = nodes.ids.position(file_id(path))
    if own >= 0:
        sources |= {own, *np.flatnonzero(nodes.files == own).tolist()}
    return sorted(n for n in sources if nodes.kinds[n] in (*CALLABLE_KINDS, NodeKind.FILE))


def _language(files: _Files, path: str) -> str:
    tree = files.tree(path)
    return "" if tree is None else tree.language


def _find_by_name(index: Index, name: str) -> list[int]:
    """Return the definitions of the repository with this name."""
    lexical, nodes = index.lexical, index.graph.nodes
    position = lexical.names.position(name.lower())
    if position < 0:
        return []
    namesakes = lexical.name_nodes[lexical.name_indptr[position] : lexical.name_indptr[position + 1]].tolist()
    return [n for n in namesakes if nodes.kinds[n] != NodeKind.EXTERNAL and last_name(nodes.ids[n]) == name]
