"""Calls that code which never ran is likely to make, by what code like it was seen to call.

In: a graph, the calls that runs saw, the text of definitions. Out: pairs of definitions with a probability. They have
no edge of their own: operators, properties, hooks of classes and methods of what an expression returns, which no rule
follows. Runs show who else calls them, and with them what such code looks like.

The features of code are the names and operators in its text and the definitions that it uses. A pair is looked at if
the caller says the name of the callee, or an operator that runs it, or shares a feature with enough of its callers. Its
probability is a logistic function of counts. The weights are fitted on test files of suites of which the other half was
observed; see docs/benchmarks.md.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from math import exp, log
from typing import NamedTuple

from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, last_name, split_id
from causalist.parse import dialect_of

MIN_LIKELY = 0.1  # less likely calls are left out
# Weights of the values of `pairs_of` and `alike_targets`, by `python -m tests.benchmarks.observe.likeness`.
WEIGHTS = (
    -0.72, 0.44, 0.37, -0.39, -0.29, 0.61, 0.58, 0.15, -0.09, -0.89, 2.43, 2.10, -0.16, 2.95, 0.21, 2.53, 1.39, 0.09,
    1.78, -0.29, 0.06, 0.71, -0.99,
)  # fmt: skip
TARGET_WEIGHTS = (-0.53, 1.31, -0.53, 0.95, -0.53, 0.69)
MAX_LIKELY = 0.75  # where more was said, this share was right

_STRING = re.compile(
    rb'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|#[^\n]*', re.DOTALL
)
_TOKEN = re.compile(
    rb"(\.\s*)?([A-Za-z_]\w*)[ \t]*(\(?)|(==|!=|<=|>=|<<|>>|//|\*\*|->|\)[ \t]*\(|[<>+\-*/%&|^~@])|([\])]?\[)"
)
_ASSIGNED = re.compile(rb"\b([A-Za-z_]\w*)\s*=(?!=)|\bas\s+([A-Za-z_]\w*)|\bfor\s+([A-Za-z_]\w*)\s+in\b")
# What in a text may run a special method: an operator, a word, or "name(" for a call of a function.
_RUNNING = {
    "__eq__": "==", "__ne__": "!=", "__lt__": "<", "__gt__": ">", "__le__": "<=", "__ge__": ">=",
    "__getitem__": "[", "__setitem__": "[", "__delitem__": "del", "__add__": "+", "__radd__": "+", "__iadd__": "+",
    "__sub__": "-", "__neg__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%",
    "__pow__": "**", "__and__": "&", "__or__": "|", "__xor__": "^", "__invert__": "~", "__lshift__": "<<",
    "__rshift__": ">>", "__matmul__": "@", "__len__": "len(", "__str__": "str(", "__repr__": "repr(",
    "__hash__": "hash(", "__format__": "format(", "__contains__": "in", "__enter__": "with", "__exit__": "with",
    "__aenter__": "with", "__aexit__": "with", "__iter__": "for", "__aiter__": "for", "__next__": "next(",
    "__bool__": "if", "__call__": ")(", "__getattr__": ".?", "__getattribute__": ".", "__setattr__": ".",
    "__init_subclass__": "class", "__set_name__": "class", "__new__": "class", "__init__": "class",
}  # fmt: skip
_CALLING_KINDS = frozenset({*CALLABLE_KINDS, *TYPE_KINDS, NodeKind.FILE})
_USES = frozenset({EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.READS, EdgeKind.WRITES, EdgeKind.EXTENDS})
_MIN_USE = 0.3  # confidence of an edge that counts as a feature
_MIN_SHARE = 0.25  # of the callers with a feature, for a callee that is not mentioned
_MIN_COUNTED = 0.05  # share of the callers with a feature; rarer callees say as little as none
_MAX_NAMESAKES = 40  # more definitions of one name are not told apart
_PRIOR, _PRIOR_WEIGHT = 0.1, 1.0  # a share of callers before any was seen, and for how many it stands
_MAX_ALIKE = 1000  # definitions that share a trait
_DECORATORS = re.compile(rb"\s*@[^\n]*(?:\n(?!\s*(?:async\s+)?(?:def|class)\b)[^\n]*)*")
_CLASS_HEAD = re.compile(rb"(?:\s*@[^\n]*(?:\n(?!\s*class\b)[^\n]*)*)?\s*class\b[^:]*:")
_DECORATOR = re.compile(rb"^\s*@\s*(?:\w+\s*\.\s*)*(\w+)", re.MULTILINE)
_COMMON_DECORATORS = frozenset(
    {"property", "staticmethod", "classmethod", "setter", "abstractmethod", "wraps", "overload"}
)
_MAX_STEPS = 50  # of bases of a class


def read_tokens(text: bytes) -> frozenset[str]:
    """Return the names and operators of a text, without strings and comments.

    >>> sorted(read_tokens(b"x = a.b(c) == d[0]  # no"))
    ['.', '.b(', '==', '[', 'a', 'c', 'd', 'x']
    """
    plain = _STRING.sub(b'""', text)
    tokens = set[str]()
    for dot, name, opened, operator, bracket in _TOKEN.findall(plain):
        if name:
            tokens.add(("." if dot else "") + name.decode("ascii") + opened.decode())
            if dot:
                tokens.add(".")
        elif operator:
            tokens.add(")(" if operator.startswith(b")") else operator.decode("ascii"))
        elif bracket:
            tokens.add("[")
    for match in _ASSIGNED.finditer(plain):
        if next(filter(None, match.groups())).decode() + "(" in tokens:
            tokens.add(")(")  # a call of what a variable holds
    return frozenset(tokens)


class _Content(NamedTuple):
    """Tokens of a definition, the definitions that it uses, and the bases of classes that it defines or calls."""

    tokens: frozenset[str]
    uses: frozenset[int]
    derived: frozenset[int]
    made: frozenset[int]


def likely_calls(
    graph: CodeGraph, text_of: Callable[[int], bytes], seen: Collection[tuple[int, int]], ran: Collection[int]
) -> dict[tuple[int, int], float]:
    """Return calls with their probabilities that runs did not see: of callers that never ran, or of such callees.

    `seen` are the calls that runs saw, `ran` the definitions and files that ran, `text_of` the text of a node.
    """
    if not seen:
        return {}
    likeness, chance_by_call = CallLikeness(graph, text_of, seen, ran), dict[tuple[int, int], float]()
    for caller in likeness.callers:
        pairs, weights = (
            (likeness.alike_targets(caller), TARGET_WEIGHTS)
            if caller in likeness.ran
            else (likeness.pairs_of(caller), WEIGHTS)
        )
        for callee, values in pairs:
            chance = 1.0 / (1.0 + exp(-sum(a * b for a, b in zip(weights, values, strict=True))))
            if chance >= MIN_LIKELY:
                chance_by_call[caller, callee] = round(min(chance, MAX_LIKELY), 3)
    return chance_by_call


class CallLikeness:
    """Features of the definitions of a graph, and counts of those that runs saw call each other.

    `seen` are pairs of callers and callees, `ran` the callers that ran at all.
    """

    def __init__(
        self, graph: CodeGraph, text_of: Callable[[int], bytes], seen: Collection[tuple[int, int]], ran: Collection[int]
    ) -> None:
        self._graph, self._text_of = graph, text_of
        ids, kinds = graph.nodes.ids, graph.nodes.kinds
        is_python = [dialect_of(split_id(each)[0]) == "python" for each in ids]
        self.callables = [node for node in range(len(graph.nodes)) if is_python[node] and kinds[node] in CALLABLE_KINDS]
        self.callers = [node for node in range(len(graph.nodes)) if is_python[node] and (kinds[node] in _CALLING_KINDS)]
        self._children: dict[int, list[int]] = defaultdict(list)
        for node, parent in enumerate(graph.nodes.parents.tolist()):
            if parent >= 0:
                self._children[parent].append(node)
        self._leaves = {node: last_name(ids[node]) for node in self.callables}
        self._by_leaf: dict[str, list[int]] = defaultdict(list)
        self._by_token: dict[str, list[int]] = defaultdict(list)
        for node, leaf in self._leaves.items():
            self._by_leaf[leaf].append(node)
            for token in _tokens_that_run(leaf):
                self._by_token[token].append(node)
        self._names = {last_name(each) for each in ids}
        self._near: dict[int, frozenset[int]] = {}
        self._traits: dict[int, tuple[object, ...]] = {}
        self._in_file: dict[int, frozenset[int]] = {}
        self._bases: dict[int, tuple[int, ...]] = {}
        self._features: dict[int, _Content] = {}
        self._count(seen, ran)

    def _count(self, seen: Collection[tuple[int, int]], ran: Collection[int]) -> None:
        """Count, by feature, the callers that have it, and those of each callee."""
        self._called: dict[int, set[int]] = defaultdict(set)
        for source, target in seen:
            if target in self._leaves:
                self._called[source].add(target)
        self.ran = self._all_that_ran({*ran, *self._called})
        self._count_targets()
        self._n: Counter[object] = Counter()
        self._n_calls: dict[object, Counter[int]] = defaultdict(Counter)
        self._n_mentions: Counter[int] = Counter()
        self._n_called: Counter[int] = Counter()
        for node in sorted(self.ran):
            called = self._called[node]
            for feature in self.features_of(node):
                self._n[feature] += 1
                self._n_calls[feature].update(called)
            mentioned = self.mentioned_by(node)
            self._n_mentions.update(mentioned.keys())
            self._n_called.update(called & mentioned.keys())
        self._likely = {
            feature: [(callee, k) for callee, k in sorted(counts.items()) if k >= _MIN_COUNTED * self._n[feature]]
            for feature, counts in self._n_calls.items()
        }
        self._n_calls.clear()

    def _all_that_ran(self, ran: set[int]) -> frozenset[int]:
        """Return what ran, with the bodies of classes in it."""
        kinds, parents = self._graph.nodes.kinds, self._graph.nodes.parents
        ran_here = ran & set(self.callers)
        for node in self.callers:  # what is around comes first
            if kinds[node] in TYPE_KINDS and int(parents[node]) in ran_here:
                ran_here.add(node)
        return frozenset(ran_here)

    def _count_targets(self) -> None:
        """Count the callees that ran by their traits, and for each caller those that it called."""
        self._n_traits: Counter[object] = Counter()
        for node in self.callables:
            if node in self.ran:
                self._n_traits.update(self.traits_of(node))
        self._by_trait: dict[object, list[int]] = defaultdict(list)
        for node in self.callables:
            for trait in self.traits_of(node):
                self._by_trait[trait].append(node)
        self._n_of_caller: dict[int, Counter[object]] = {
            source: Counter(trait for target in sorted(targets) for trait in self.traits_of(target))
            for source, targets in self._called.items()
        }

    def traits_of(self, node: int) -> tuple[object, ...]:
        """Return what a callee has in common with others: what it overrides, and its decorators."""
        if node not in self._traits:
            owner, leaf = self.owner_of(node), self._leaves[node]
            traits: list[object] = [(base, leaf) for base in self.bases_of(owner)] if owner >= 0 else []
            head = _DECORATORS.match(self._text_of(node))
            names = _DECORATOR.findall(head[0]) if head else ()
            traits += sorted({name.decode() for name in names} - _COMMON_DECORATORS)
            self._traits[node] = tuple(traits)
        return self._traits[node]

    def alike_targets(self, node: int) -> Iterator[tuple[int, tuple[float, ...]]]:
        """Yield callees that never ran but are like those that a caller called, with what `TARGET_WEIGHTS` are for."""
        best: dict[int, tuple[float, int, bool, int]] = {}
        for trait, k in sorted(self._n_of_caller.get(node, {}).items(), key=repr):
            n = max(self._n_traits[trait], k)
            share = (k + _PRIOR * _PRIOR_WEIGHT) / (n + _PRIOR_WEIGHT)
            for callee in self._by_trait[trait] if len(self._by_trait[trait]) <= _MAX_ALIKE else ():
                if callee not in self.ran and callee != node:
                    support = share, k, isinstance(trait, str), n
                    best[callee] = max(best.get(callee, support), support)
        for callee, (share, k, is_decorator, n) in sorted(best.items()):
            yield callee, (1.0, _logit(share), log(1 + k), float(is_decorator), float(n >= 3), float(n - k == 0))

    def features_of(self, node: int) -> Iterator[object]:
        """Yield the tokens of a definition, the definitions that it uses, and its file."""
        tokens, uses, derived, made = self._read(node)
        kind = self._graph.kind(node)
        yield from (("derives from", base) for base in sorted(derived))
        yield from (("makes", base) for base in sorted(made))
        if kind in CALLABLE_KINDS:
            yield from sorted(tokens)
            yield from sorted(uses)
            yield "file", int(self._graph.nodes.files[node])
        else:  # whose bodies run otherwise
            kind = NodeKind.FILE if kind is NodeKind.FILE else NodeKind.CLASS
            yield from (f"{kind.label} {token}" for token in sorted(tokens))
            yield from ((kind.label, use) for use in sorted(uses))

    def _read(self, node: int) -> _Content:
        if node not in self._features:
            tokens = set(read_tokens(self._body_of(node)))
            if any(each[0] == "." and each[1:].rstrip("(") not in self._names for each in tokens if len(each) > 1):
                tokens.add(".?")
            self._features[node] = _Content(frozenset(tokens), *self._uses_of(node))
        return self._features[node]

    def _uses_of(self, node: int) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
        """Return the definitions that one uses, with the bases of classes, and the bases of classes defined in it."""
        edges, level, uses, derived, made = self._graph.edges, [node], set[int](), set[int](), set[int]()
        is_function = self._graph.kind(node) in CALLABLE_KINDS
        for scope in level:
            inner = self._children.get(scope, ())
            level += inner if is_function else [x for x in inner if self._graph.kind(x) not in CALLABLE_KINDS]
            for number in self._graph.outgoing(scope):
                if edges.kinds[number] in _USES and edges.confidences[number] >= _MIN_USE:
                    is_base = edges.kinds[number] == EdgeKind.EXTENDS
                    target = int(edges.targets[number])
                    if scope != node or not is_base:
                        (derived if is_base else uses).update(self.bases_of(target))
                    if edges.kinds[number] == EdgeKind.CALLS and self._graph.nodes.kinds[target] in TYPE_KINDS:
                        made.update(self.bases_of(target))
        return frozenset(uses), frozenset(derived), frozenset(made)

    def _body_of(self, node: int) -> bytes:
        """Return the text that runs when a definition does: of a class or file, without the bodies of functions."""
        text, nodes = self._text_of(node), self._graph.nodes
        if self._graph.kind(node) in CALLABLE_KINDS or not text:
            head = _DECORATORS.match(text)  # which runs where the definition stands
            return text[head.end() :] if head else text
        start = 0 if self._graph.kind(node) is NodeKind.FILE else int(nodes.start_bytes[node])
        level, parts, end = [node], list[bytes](), 0
        if start or self._graph.kind(node) is not NodeKind.FILE:
            head = _CLASS_HEAD.match(text)
            end = head.end() if head else 0
        for each in level:
            level += [x for x in self._children.get(each, ()) if self._graph.kind(x) not in CALLABLE_KINDS]
        inner = (x for each in level for x in self._children.get(each, ()) if self._graph.kind(x) in CALLABLE_KINDS)
        for each in sorted(inner, key=lambda x: int(nodes.start_bytes[x])):
            first = int(nodes.start_bytes[each]) - start
            if first < end:
                continue
            head = _DECORATORS.match(text, first)
            parts.append(text[end : head.end() if head else first])
            end = int(nodes.end_bytes[each]) - start
        return b"".join((*parts, text[end:]))

    def bases_of(self, node: int) -> tuple[int, ...]:
        """Return a node and, of a class, what it derives from."""
        if node not in self._bases:
            edges, types = self._graph.edges, [node]
            for each in types:
                for number in self._graph.outgoing(each) if len(types) < _MAX_STEPS else ():
                    if edges.kinds[number] == EdgeKind.EXTENDS and int(edges.targets[number]) not in types:
                        types.append(int(edges.targets[number]))
            self._bases[node] = tuple(types)
        return self._bases[node]

    def mentioned_by(self, node: int) -> Mapping[int, str]:
        """Return the definitions whose name, or an operator that may run them, is in the text of a definition."""
        token_by_node: dict[int, str] = {}
        for token in sorted(self._read(node)[0]):
            for each in self._by_token.get(token, ()):
                leaf = self._leaves[each]
                if each != node and (_is_special(leaf) or len(self._by_leaf[leaf]) <= _MAX_NAMESAKES):
                    token_by_node.setdefault(each, token)
        return token_by_node

    def owner_of(self, node: int) -> int:
        """Return the class of a method, -1 for none."""
        parent = int(self._graph.nodes.parents[node])
        return parent if parent >= 0 and self._graph.nodes.kinds[parent] in TYPE_KINDS else -1

    def pairs_of(self, node: int) -> Iterator[tuple[int, tuple[float, ...]]]:
        """Yield the callees that a definition may have, with the values that `WEIGHTS` are for."""
        is_counted = node in self.ran
        own = self._called[node] if is_counted else set[int]()
        by_tokens, by_uses, support = dict[int, float](), dict[int, float](), dict[int, int]()
        for feature in self.features_of(node):
            n = self._n[feature] - is_counted
            best = by_tokens if isinstance(feature, str) else by_uses
            for callee, k in self._likely.get(feature, ()) if n > 0 else ():
                share = (k - (callee in own) + _PRIOR * _PRIOR_WEIGHT) / (n + _PRIOR_WEIGHT)
                if share > best.get(callee, 0.0):
                    best[callee] = share
                    support[callee] = max(k - (callee in own), support.get(callee, 0))
        shares = {each: max(by_tokens.get(each, 0.0), by_uses.get(each, 0.0)) for each in by_tokens | by_uses}
        mentioned = self.mentioned_by(node)
        content = self._read(node)
        uses = content.uses | content.derived
        near = frozenset[int]().union(*map(self._near_of, uses))
        in_file = self._read_file(int(self._graph.nodes.files[node]))
        for callee in sorted(mentioned.keys() | {each for each, share in shares.items() if share >= _MIN_SHARE}):
            if callee == node:
                continue
            token, owner, leaf = mentioned.get(callee, ""), self.owner_of(callee), self._leaves[callee]
            share = shares.get(callee, _PRIOR / (1 + _PRIOR_WEIGHT))
            n = self._n_mentions[callee] - (is_counted and bool(token))
            k = self._n_called[callee] - (bool(token) and callee in own)
            of_mentions = (k + _PRIOR * _PRIOR_WEIGHT) / (n + _PRIOR_WEIGHT)
            is_special = _is_special(leaf)
            is_used, is_near = owner in uses, owner in near
            if is_special and not (is_used or is_near or share >= _MIN_SHARE):
                continue
            is_method_call, is_read = token.startswith(".") and token.endswith("("), token.startswith(".")
            yield (
                callee,
                (
                    1.0,
                    _logit(share),
                    _logit(by_uses.get(callee, _PRIOR / (1 + _PRIOR_WEIGHT))),
                    log(1 + support.get(callee, 0)),
                    log(1 + k),
                    _logit(of_mentions) if token else -3.0,
                    float(is_used),
                    float(is_near),
                    log(len(self._by_leaf[leaf])) if not is_special else 0.0,
                    float(k > 0),
                    float(is_method_call and not is_special),
                    float(is_read and not is_method_call and not is_special),
                    float(bool(token) and not is_read and not is_special),
                    float(bool(token) and is_special),
                    float(is_method_call and not is_special and (is_used or is_near)),
                    float(is_read and not is_method_call and not is_special and (is_used or is_near)),
                    float(bool(token) and is_special and is_used),
                    float(owner < 0),
                    float(len(self._by_leaf[leaf]) == 1 and is_method_call),
                    float(token in (".", ".?", ")(", "[", "==", "class", "for", "if", "in", "with")),
                    float(owner in in_file),
                    float(self._graph.kind(node) not in CALLABLE_KINDS),
                    float(self._graph.kind(node) is NodeKind.FILE),
                ),
            )

    def _read_file(self, node: int) -> frozenset[int]:
        if node not in self._in_file:
            edges = self._graph.edges
            self._in_file[node] = frozenset(
                base for number in self._graph.outgoing(node) for base in self.bases_of(int(edges.targets[number]))
            )
        return self._in_file[node]

    def _near_of(self, node: int) -> frozenset[int]:
        """Return the classes that the code of a definition uses: calling it may return one of their objects."""
        if node not in self._near:
            edges, kinds, near = self._graph.edges, self._graph.nodes.kinds, set[int]()
            for inner in (node, *(self._children.get(node, ()) if kinds[node] in TYPE_KINDS else ())):
                for number in self._graph.outgoing(inner):
                    target = int(edges.targets[number])
                    is_use = edges.kinds[number] in _USES and edges.confidences[number] >= _MIN_USE
                    if is_use and kinds[target] in TYPE_KINDS:
                        near.update(self.bases_of(target))
            if (owner := self.owner_of(node)) >= 0:
                near.update(self.bases_of(owner))
            self._near[node] = frozenset(near)
        return self._near[node]


def _tokens_that_run(leaf: str) -> Iterator[str]:
    if leaf in _RUNNING:
        yield _RUNNING[leaf]
    elif not _is_special(leaf):
        yield from (f".{leaf}(", f".{leaf}", f"{leaf}(", leaf)


def _is_special(leaf: str) -> bool:
    return leaf.startswith("__") and leaf.endswith("__")


def _logit(share: float) -> float:
    return log(share / (1.0 - share))
