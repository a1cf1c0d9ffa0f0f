"""Gold edges, the repositories that they are of, and what the graph says there.

The oracle for TypeScript and JavaScript lists edges between the files that it covers, and counts an import of any other
file of the repository as wrong: a declaration file, `package.json`. What TypeScript says of those is in
`gold/NAME.elsewhere.jsonl.gz`, made by `ts_elsewhere.cjs`, and is part of the gold here.
"""

import gzip
import importlib.util
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from causalist.graph import Confidences
from tests.benchmarks.edges.predictions import Prediction

_HERE = Path(__file__).parent / "gold"
# Edges that a gold calls wrong although reading the code shows that they are right: (gold, start of the target) -> why.
# They are not judged.
MISREAD: Mapping[tuple[str, str], str] = {
    ("undici", "lib/web/webidl/index.js:webidl."): (
        "the object is annotated with an interface of a declaration file, so that the type checker names the "
        "declaration, outside of what is covered, and not the function assigned to it"
    ),
    ("rxjs", "src/internal/scheduler/animationFrameProvider.ts:animationFrameProvider."): (
        "the object is annotated with an interface whose members are `typeof requestAnimationFrame` and the like, so "
        "that the type checker names the browser's functions, and not the object's own, which run"
    ),
    ("axios", "lib/helpers/AxiosURLSearchParams.js:prototype."): (
        "methods of a prototype that stands in a variable, which the type checker does not follow; they run"
    ),
    ("socketio", "packages/engine.io/lib/parser-v3/utf8.ts:utf8"): (
        "required in a TypeScript file, where the type checker follows no `require`; the calls are written by other "
        "names, so that it is not seen that they are unknown"
    ),
    ("tox", "src/tox/tox_env/python/virtual_env/api.py:VirtualEnv._default_pass_env"): (
        "the class called has two bases, of which jedi takes the first with its bases before the second; the order "
        "that Python looks in finds this one"
    ),
    **{
        ("click", f"src/click/{function}"): (
            "a function that another one returns, whose type is only a callable: the type checker names the type, and "
            "the function runs"
        )
        for function in ("_compat.py:_make_cached_stream_func.func", "decorators.py:option.decorator")
    },
    **{
        ("mkdocs", f"mkdocs/tests/{path}.py:assert_type"): (
            "imported from elsewhere where types are checked (`if TYPE_CHECKING`), and defined for all that runs"
        )
        for path in ("config/config_options_tests", "plugin_tests")
    },
}


class Gold(NamedTuple):
    """`meta` is the first row of the file."""

    name: str
    path: Path
    meta: dict[str, Any]

    @property
    def repo(self) -> str:
        return str(self.meta["repo"])

    @property
    def commit(self) -> str:
        return str(self.meta["commit"])

    @property
    def uncovered(self) -> frozenset[str]:
        """Functions whose edges are not judged."""
        return frozenset(self.meta.get("uncovered", ()))


class Judged(NamedTuple):
    """An edge that the gold knows of. `kinds` is "calls", "imports" or "extends"."""

    repo: str
    kinds: str
    edge: Prediction
    right: bool
    known: bool = True  # whether the gold says whether it is right

    @property
    def rule(self) -> str:
        return self.edge.parts[0][0]

    @property
    def claim(self) -> float:
        """How many right edges it would be if its rule were always right: the part of a candidate set."""
        return min(1.0, sum(1 / candidates for _, candidates in self.edge.parts))


def load_gold(edgebench: Path, name: str) -> Gold:
    path = _HERE / f"{name}.jsonl.gz"
    if not path.is_file():
        path = edgebench / "gold" / f"{name}.jsonl.gz"
    if not path.is_file():
        raise SystemExit(f"no gold at {path}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return Gold(name, path, json.loads(next(lines))["meta"])


def all_names(edgebench: Path) -> list[str]:
    """Names of all golds here and there."""
    found = {path.name.removesuffix(".jsonl.gz") for folder in (_HERE, edgebench / "gold") for path in folder.glob("*")}
    return sorted(name for name in found if "." not in name)


def load_scorer(edgebench: Path) -> ModuleType:
    path = edgebench / "score.py"
    specification = importlib.util.spec_from_file_location("edge_scorer", path)
    if specification is None or specification.loader is None or not path.is_file():
        raise SystemExit(f"no scorer at {path}; --edgebench names the folder that holds score.py and gold/")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    own = module.load_gold

    def load(path: str, by: str | None = None, without: Collection[str] = ()) -> Any:
        """As the scorer's own, with the edges into files of the repository that the gold does not cover."""
        meta, required, optional, alternatives, unknown = own(path, by, without)
        more = _HERE / f"{Path(path).name.removesuffix('.jsonl.gz')}.elsewhere.jsonl.gz"
        for row in module.rows(str(more)) if more.is_file() else ():
            kind = row["kind"]
            edge = module.norm(row["src"], kind), module.norm(row["dst"], kind, True)
            if edge not in optional[kind]:
                required[kind][edge] = row["cat"]
                alternatives.update({(kind, edge[0], module.norm(alt, kind, True)): edge for alt in row.get("alt", ())})
        # A call of an object in Python is one of `__call__`, and is unknown under the name of what holds the object.
        unknown |= {(source, "__call__") for source, _ in unknown}
        return meta, required, optional, alternatives, unknown

    module.load_gold = load
    return module


def judged(gold: Gold, rows: Iterable[Prediction], scorer: ModuleType) -> list[Judged]:
    """The edges of which the gold says whether they are right."""
    return [each for each in seen(gold, rows, scorer) if each.known]


def seen(gold: Gold, rows: Iterable[Prediction], scorer: ModuleType) -> Iterator[Judged]:
    """Those, and the calls at sites that its oracle could not resolve.

    The gold says nothing of kinds that it does not list, of what it does not cover, and of edges that it calls optional
    or misreads. Golds name no targets in files that they do not cover, so that a call into one is judged only where the
    gold says that this name is something else. Bases that are another name for a type are not judged: oracles leave
    them out."""
    _, required, optional, alternatives, unknown = scorer.load_gold(str(gold.path))
    files = set(gold.meta["files"])
    elsewhere = {(source, _leaf(target)) for source, target in (*required["calls"], *optional["calls"])}
    misread = tuple(start for name, start in MISREAD if name == gold.name)
    for each in rows:
        kind = scorer.ALIAS.get(each.kind, each.kind)
        source, target = scorer.norm(each.source, kind), scorer.norm(each.target, kind, True)
        if kind == "contains" or not required[kind]:
            continue
        if each.source in gold.uncovered or each.source.partition(":")[0] not in files:
            continue
        if (source, target) in optional[kind] or (kind == "extends" and each.alias) or target.startswith(misread):
            continue
        is_right = (source, target) in required[kind] or (kind, source, target) in alternatives
        if not is_right and kind == "calls":
            name = (source, _leaf(target))
            if name in unknown:
                yield Judged(gold.repo, kind, each, False, False)
                continue
            if target.partition(":")[0] not in files and name not in elsewhere:
                continue
        yield Judged(gold.repo, kind, each, is_right)


def scored(
    gold: Gold, rows: Iterable[Prediction], scorer: ModuleType, table: Confidences, least: float
) -> dict[str, dict[str, float]]:
    """The scorer's figures by kind, of edges with a confidence of at least `least` by that table."""
    known = [
        {"kind": each.kind, "src": each.source, "dst": each.target, "confidence": confidence}
        for each in rows
        if each.source not in gold.uncovered and (confidence := each.confidence(table)) >= least
    ]
    result: dict[str, dict[str, float]] = scorer.score(str(gold.path), known)["kinds"]
    return result


def _leaf(name: str) -> str:
    return name.partition(":")[2].rpartition(".")[2]
