"""Edges between repositories by what crosses a network or a build: requests -> routes, stubs -> services and so on.

In: the tables of shards as `join` has them. Out: rows of edges. A request leads to a route whose path is the end of its
own; the parts in front are what a gateway takes away. Words of the host, of variables and of these parts that are in
the name of a repository tell which one is asked. Without such a word a path must be published by one repository alone
and be no name that every service has. A route of the repository itself goes before those of others that are further
away. Repositories of other owners must have more in common than one path.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from causalist.fleet.links.services import ServiceKind, routes_for, words_of

if TYPE_CHECKING:
    import duckdb

# At most the precision on the systems of docs/benchmarks.md.
SERVICE_CONFIDENCES: Mapping[str, float] = {
    "http-route": 0.95,  # a word names the repository
    "http-path": 0.7,  # the path alone
    "http-operation": 0.7,  # an operation of an OpenAPI document
    "rpc-service": 0.95,
    "topic": 0.9,
    "async-channel": 0.9,
    "docker-image": 0.95,
    "workflow": 0.99,
    "submodule": 0.99,
    "sql-table": 0.5,
}
_RULES = {
    ServiceKind.RPC: ("rpc-service", "calls"),
    ServiceKind.TOPIC: ("topic", "emits"),
    ServiceKind.IMAGE: ("docker-image", "references"),
    ServiceKind.TABLE: ("sql-table", "references"),
}
_MAX_TARGETS = {ServiceKind.RPC: 3, ServiceKind.TOPIC: 20, ServiceKind.IMAGE: 3, ServiceKind.TABLE: 1}
# Words in names of repositories that tell nothing.
_VAGUE = {
    "service",
    "server",
    "api",
    "app",
    "the",
    "repo",
    "main",
    "core",
    "lib",
    "web",
    "client",
    "http",
    "svc",
    "src",
}
_COMMON_SHARE = 0.34  # of repositories with a word, above which it tells none of them from others
# Last parts of paths that most services have.
_COMMON_PATHS = {
    "health", "healthz", "metrics", "status", "ping", "ready", "readyz", "live", "livez", "version", "info", "login",
    "logout", "register", "users", "user", "items", "search", "config", "docs", "index", "home", "admin", "test", "api",
    "error", "fallback", "events", "me", "auth", "token", "upload", "download",
}  # fmt: skip
# What is asked of these is the page of a repository, which has any words in its path.
_CODE_HOST = re.compile(r"@(?:[\w-]+\.)*(?:github(?:usercontent)?\.com|gitlab\.com|bitbucket\.org)\b")
_MIN_PATHS = 3  # that a repository asks of a stranger
_MIN_PART = 5  # letters of a word that is a part of a name
_MAX_HOSTS = 3  # that a setting may name in the repositories of an owner
_MAX_RIVALS = 200  # routes of one path that are compared; a path of more says nothing without a word


class ServiceEdge(NamedTuple):
    """An edge; the columns are those of `EDGE_COLUMNS` from the first to `n`, then `note`."""

    source_repository: str
    source: str
    target_repository: str
    target: str
    kind: str
    rule: str
    confidence: float
    row: int
    n: int
    note: str


class _Route(NamedTuple):
    repository: str
    method: str
    node: str
    is_operation: bool = False


def service_edges(db: "duckdb.DuckDBPyConnection") -> Iterator[ServiceEdge]:
    """Yield the edges of services; `db` has the tables `p` and `u`. Rows may repeat."""
    repositories = [name for (name,) in db.execute("select distinct repo from p order by repo").fetchall()]
    tokens = tokens_of(repositories)
    named = [*_named_edges(db, tokens), *_repository_edges(db, repositories)]
    yield from named
    yield from _keep_likely(_route_edges(db, tokens), _find_related_owners(db, named))


def tokens_of(repositories: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the words of the name of each repository that tell it from others.

    >>> sorted(tokens_of(["x/customers-service", "x/visits-service"])["x/customers-service"])
    ['customer']
    """
    words = {}
    for name in repositories:
        tokens = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.rpartition("/")[2]).lower())
        tokens += [each.removesuffix("service") for each in tokens if each.endswith("service")]
        words[name] = {_stem(each) for each in tokens if len(each) > 1 and each not in _VAGUE}
    counts = Counter(word for each in words.values() for word in each)
    most = max(1, int(_COMMON_SHARE * len(repositories)))
    return {name: frozenset(word for word in each if counts[word] <= most) for name, each in words.items()}


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


class _Routed(NamedTuple):
    """An edge of a request, the path that was asked for, and the hints at the host."""

    edge: ServiceEdge
    path: str
    hints: str


def _route_edges(db: "duckdb.DuckDBPyConnection", tokens: Mapping[str, frozenset[str]]) -> list[_Routed]:
    import pyarrow as arrow

    uses = db.execute(
        f"select repo, node, module, name, min(row), sum(n) from u where kind = '{ServiceKind.ROUTE}'"
        " group by all order by all"
    ).fetchall()
    keys: dict[str, list[tuple[str, str]]] = {name: routes_for(name) for name in {row[3] for row in uses}}
    keys[""] = [("ANY /", ""), ("ANY /{}", "")]  # behind a gateway
    wanted = sorted({route.partition(" ")[2].lower() for routes_of_key in keys.values() for route, _ in routes_of_key})
    db.register("wanted", arrow.table({"path": arrow.array(wanted, arrow.string())}))
    rows = db.execute(
        f"select distinct path, repo, string_split(name, ' ')[1], node, kind = '{ServiceKind.OPERATION}' from p"
        " join wanted on lower(substr(name, strpos(name, ' ') + 1)) = path"
        f" where kind in ('{ServiceKind.ROUTE}', '{ServiceKind.OPERATION}') order by all"
    ).fetchall()
    db.unregister("wanted")
    # What handles a route is nearer than what documents it.
    handled = {row[0] for row in rows if not row[4]}
    routes: dict[str, list[_Route]] = defaultdict(list)
    for path, repository, method, node, is_operation in rows:
        if not is_operation or path not in handled:
            routes[path].append(_Route(repository, method, node, is_operation))
    # Found once for each path: thousands of repositories may publish and ask one of a common name.
    crowded = {path for path, each in routes.items() if len({route.repository for route in each}) > _MAX_RIVALS + 1}
    for path in crowded:
        del routes[path]
    hosts, gateways = _hosts_and_gateways(db)
    routed: list[_Routed] = []
    for repository, node, hints, name, row, n in uses:
        owner = owner_of(repository)
        for setting in re.findall(r"\$(\w+)", hints):
            hints += "".join(f" {word}" for host in hosts.get((owner, setting), ()) for word in words_of(host))
        if "@" not in hints and (passed := _pass_on(repository, name, gateways.get(owner, ()))) is not None:
            found = _find_routes(repository, hints + passed[0], name, passed[1], routes, tokens)
            found = found or _find_routes(repository, hints, name, keys[name], routes, tokens)
        else:
            found = _find_routes(repository, hints, name, keys[name], routes, tokens)
        for target, rule, confidence in found:
            note = "host or prefix" if rule == "http-route" else "path alone"
            if target.is_operation:
                rule, confidence = "http-operation", confidence * SERVICE_CONFIDENCES["http-operation"]
            edge = ServiceEdge(
                repository, node, target.repository, target.node, "routes", rule, confidence, row, int(n), note
            )
            routed.append(_Routed(edge, name.partition(" ")[2], hints))
    return routed


def _find_related_owners(db: "duckdb.DuckDBPyConnection", named: Iterable[ServiceEdge]) -> set[tuple[str, str]]:
    """Return pairs of owners, in both orders, whose repositories name each other's packages, images and so on."""
    rules = {"docker-image", "workflow", "submodule", "rpc-service"}
    pairs = {(owner_of(e.source_repository), owner_of(e.target_repository)) for e in named if e.rule in rules}
    rows = db.execute("select distinct source_repository, target_repository from edges").fetchall()
    pairs |= {(owner_of(a), owner_of(b)) for a, b in rows}
    return pairs | {(b, a) for a, b in pairs}


def owner_of(repository: str) -> str:
    """Return what is before the last slash of the name of a repository, "" if there is none."""
    return repository.rpartition("/")[0].lower()


def _keep_likely(edges: Sequence["_Routed"], related: Container[tuple[str, str]]) -> Iterator[ServiceEdge]:
    """Yield the edges of requests without those that chance explains better.

    Services of all kinds have a `/login`. Between repositories of other owners, which use nothing else of each other,
    only several paths say that one is asked.
    """
    paths: dict[tuple[str, str], set[str]] = defaultdict(set)
    for edge, path, _ in edges:
        paths[edge.source_repository, edge.target_repository].add(path)
    for edge, path, hints in edges:
        # A setting holds the address of another service; without one, the page or program may ask itself.
        is_short = edge.rule == "http-path" and path.strip("/").count("/") == 0 and "$" not in hints
        owners = owner_of(edge.source_repository), owner_of(edge.target_repository)
        n = len(paths[edge.source_repository, edge.target_repository])
        is_near = owners[0] == owners[1] or owners in related
        if n >= (_MIN_PATHS if not is_near else 2 if is_short else 1):
            yield edge


def _hosts_and_gateways(
    db: "duckdb.DuckDBPyConnection",
) -> tuple[dict[tuple[str, str], list[str]], dict[str, list[tuple[str, str, str]]]]:
    """Return the hosts of settings by owner and name, and (path, repository, host) of gateways by owner, long first."""
    kinds = f"'{ServiceKind.ADDRESS}', '{ServiceKind.GATEWAY}'"
    hosts: dict[tuple[str, str], list[str]] = defaultdict(list)
    gateways: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for kind, name, repository, host in db.execute(
        f"select distinct kind, name, repo, to_name from p where kind in ({kinds}) order by all"
    ).fetchall():
        if kind == ServiceKind.GATEWAY:
            gateways[owner_of(repository)].append((name, repository, host))
        elif host not in (known := hosts[owner_of(repository), name]):
            known.append(host)
    few = {name: each for name, each in hosts.items() if len(each) <= _MAX_HOSTS}
    for some in gateways.values():
        some.sort(key=lambda each: (-len(each[0]), each))
    return few, gateways


def _pass_on(
    repository: str, name: str, gateways: Sequence[tuple[str, str, str]]
) -> tuple[str, list[tuple[str, str]]] | None:
    """Return (words of the host, routes) that a gateway passes a request on to, None if none or several do.

    A gateway of the repository that asks is asked first.
    """
    method, _, path = name.partition(" ")
    own = [each for each in gateways if each[1] == repository]
    for some in (own, gateways):
        fit = [each for each in some if each[0] != "/" and f"{path.rstrip('/')}/".startswith(f"{each[0]}/")]
        hosts = {host for prefix, _, host in fit if prefix == fit[0][0]}
        if len(hosts) == 1:
            rest = path[len(fit[0][0]) :].rstrip("/") or "/"
            whole = routes_for(f"{method} {path.rstrip('/')}")
            behind = [*routes_for(f"{method} {rest}"), *([(f"{method} /{{}}", "")] if rest.count("/") == 1 else [])]
            return " " + " ".join(words_of(hosts.pop())), [*whole, *behind]
    return None


def _find_routes(
    repository: str,
    hints: str,
    name: str,
    keys: Sequence[tuple[str, str]],
    routes: Mapping[str, list[_Route]],
    tokens: Mapping[str, frozenset[str]],
) -> list[tuple[_Route, str, float]]:
    """Return the routes that a request leads to, with the rule and its confidence.

    A word that is a part of a name tells less than one that is it: if the path alone says otherwise, neither counts.
    """
    if _CODE_HOST.search(hints):
        return []
    words = {_stem(word.lstrip("@")) for word in hints.split()}
    words |= {word.removesuffix("service") for word in words}
    method, has_no_host = name.partition(" ")[0], "@" not in hints and "$" not in hints
    in_part: list[_Route] = []
    alone: list[_Route] = []
    share = 1.0
    for key, front in keys:
        path = key.partition(" ")[2].lower()  # as some frameworks compare them
        n_literal = path.count("/") - path.count("{}")
        # What catches all paths is not told by words of this one.
        in_front = () if path == "/{}" else front.split()
        before = words | {_stem(each) for part in in_front for each in re.findall(r"[a-z]+", part.lower())}
        there = routes.get(path, ())
        rivals = [each for each in there if each.repository != repository]
        if has_no_host and len(rivals) < len(there) and _fit(method, [e for e in there if e.repository == repository]):
            break  # it has the route itself, and what is further away is no nearer to the request
        if not rivals or len({each.repository for each in rivals}) > _MAX_RIVALS:
            continue
        fit = _fit(method, rivals)
        n_told = {each.repository: len(tokens[each.repository] & before) for each in fit}
        best = max(n_told.values(), default=0)
        if best:
            return _share(_of_one_method([each for each in fit if n_told[each.repository] == best]), "http-route")
        if not in_part and not front and n_literal:
            in_part = [each for each in fit if _is_part(words, tokens[each.repository])]
        is_common = n_literal == 1 and path.strip("/{}").lower() in _COMMON_PATHS
        is_whole = not front and path.count("{}") == name.count("{}") and not {"@", "?"} & set(hints)
        if fit and not alone and n_literal and not is_common and is_whole:
            alone = fit if len({each.repository for each in routes[path]}) == 1 else []
            share = 1.0 if n_literal > 1 else 0.7
    if in_part and alone and {each.repository for each in in_part} != {each.repository for each in alone}:
        return []
    if in_part:
        return _share(_of_one_method(in_part), "http-route", 0.85)
    return _share(_of_one_method(alone), "http-path", share)


def _fit(method: str, routes: Sequence[_Route]) -> list[_Route]:
    return [each for each in routes if method in ("ANY", each.method) or each.method in ("ANY", "")]


def _is_part(words: Iterable[str], tokens: Iterable[str]) -> bool:
    """Return True if a word begins or ends a longer word of a name.

    >>> _is_part(["balance"], ["balancereader"]), _is_part(["read"], ["reader"])
    (True, False)
    """
    long = tuple(word for word in words if len(word) >= _MIN_PART and word not in _VAGUE)
    return any(token.startswith(long) or token.endswith(long) for token in tokens) if long else False


def _of_one_method(routes: list[_Route]) -> list[_Route]:
    """Return those of one method for each repository: what is asked without a method is read."""
    methods = {each.method for each in routes}
    return [each for each in routes if each.method == "GET"] if len(methods) > 1 and "GET" in methods else routes


def _share(routes: list[_Route], rule: str, share: float = 1.0) -> list[tuple[_Route, str, float]]:
    confidence = SERVICE_CONFIDENCES[rule] * share / max(len({each.repository for each in routes}), 1)
    return [(each, rule, confidence) for each in routes]


def _named_edges(db: "duckdb.DuckDBPyConnection", tokens: Mapping[str, frozenset[str]]) -> Iterator[ServiceEdge]:
    """Yield edges of what has the same name on both sides, except what a repository has itself.

    A repository that defines tables has a database of its own: its names are not those of another.
    """
    kinds = ", ".join(f"'{each}'" for each in _RULES)
    rows = db.execute(
        f"""
        with asked as (select repo, kind, name, node, min(row) as row, sum(n) as n from u where kind in ({kinds})
                       group by all),
            offered as (select distinct repo, kind, name, node from p where kind in ({kinds})),
            owners as (select kind, name, count(distinct repo) as n_owners from offered group by all
                       having n_owners <= 20)
        select a.kind, a.name, a.repo, a.node, o.repo, o.node, a.row, a.n, n_owners
        from asked a join offered o using (kind, name) join owners using (kind, name)
        where a.repo <> o.repo
            and not exists (select 1 from offered x where x.repo = a.repo and x.kind = a.kind
                            and (x.name = a.name or a.kind = '{ServiceKind.TABLE}'))
        order by all
        """
    ).fetchall()
    yield from _images_of_repositories(db)
    yield from _channels(db)
    for kind, name, repo, node, other, target, row, n, n_owners in rows:
        rule, edge_kind = _RULES[ServiceKind(kind)]
        is_told = any(token in name.lower() for token in tokens[other])
        if n_owners > _MAX_TARGETS[ServiceKind(kind)] and not is_told:
            continue
        share = 1 if kind == ServiceKind.TOPIC or (is_told and n_owners > 1) else n_owners
        yield ServiceEdge(
            repo, node, other, target, edge_kind, rule, SERVICE_CONFIDENCES[rule] / share, row, int(n), ""
        )


def _channels(db: "duckdb.DuckDBPyConnection") -> Iterator[ServiceEdge]:
    """Yield edges from what sends to a channel to what receives from it, one of them in a document of AsyncAPI.

    A document leads to another only where no code of the repository of the other receives.
    """
    rows = db.execute(
        f"""
        with sent as (select repo, kind, name, node, min(row) as row, sum(n) as n from u
                      where kind in ('{ServiceKind.TOPIC}', '{ServiceKind.CHANNEL}') group by all),
            received as (select distinct repo, kind, name, node from p
                         where kind in ('{ServiceKind.TOPIC}', '{ServiceKind.CHANNEL}')),
            owners as (select name, count(distinct repo) as n_owners from received group by all)
        select s.repo, s.node, r.repo, r.node, s.row, s.n
        from sent s join received r using (name) join owners using (name)
        where s.repo <> r.repo and n_owners <= {_MAX_TARGETS[ServiceKind.TOPIC]}
            and (s.kind = '{ServiceKind.CHANNEL}' or r.kind = '{ServiceKind.CHANNEL}')
            and (s.kind <> r.kind or not exists (select 1 from received x where x.repo = r.repo and x.name = r.name
                                                 and x.kind = '{ServiceKind.TOPIC}'))
        order by all
        """
    ).fetchall()
    for repo, node, other, target, row, n in rows:
        confidence = SERVICE_CONFIDENCES["async-channel"]
        yield ServiceEdge(repo, node, other, target, "emits", "async-channel", confidence, row, int(n), "")


def _images_of_repositories(db: "duckdb.DuckDBPyConnection") -> Iterator[ServiceEdge]:
    """Yield edges of images that no file builds by name to the Dockerfile of the repository that is called so.

    Pipelines name images by variables. The group of the image must be the owner of the repository, or that of an
    image which the fleet is known to build.
    """
    rows = db.execute(
        f"""
        with used as (select repo, node, name, min(row) as row, sum(n) as n,
                             string_split(name, '/')[-1] as short, string_split(name, '/')[-2] as owner
                      from u where kind = '{ServiceKind.IMAGE}' and contains(name, '/') group by all),
            built as (select distinct name, string_split(name, '/')[-2] as owner from p
                      where kind = '{ServiceKind.IMAGE}' and contains(name, '/')),
            files as (select repo, arg_min(node, (len(node), node)) as node from u where kind = '{ServiceKind.IMAGE}'
                      and regexp_matches(lower(node), '(^|/)dockerfile[^/]*$|[.]dockerfile$')
                      and not regexp_matches(lower(node), '(^|/)tests?/') group by repo),
            named as (select repo, node, lower(string_split(repo, '/')[-1]) as short,
                             lower(string_split(repo, '/')[-2]) as owner from files)
        select a.repo, a.node, f.repo, f.node, a.row, a.n from used a join named f using (short)
        where a.repo <> f.repo and not exists (select 1 from built b where b.name = a.name)
            and (a.owner = f.owner or exists (select 1 from built b where b.owner = a.owner))
        order by all
        """
    ).fetchall()
    for repo, node, other, target, row, n in rows:
        confidence = SERVICE_CONFIDENCES["docker-image"] * 0.9
        yield ServiceEdge(repo, node, other, target, "references", "docker-image", confidence, row, int(n), "name")


def _repository_edges(db: "duckdb.DuckDBPyConnection", repositories: Iterable[str]) -> Iterator[ServiceEdge]:
    """Yield edges of what names a repository: workflows and submodules."""
    by_name: dict[str, list[str]] = defaultdict(list)  # hosts do not tell cases apart
    for name in repositories:
        by_name[name.lower()].append(name)
    node_by_path: dict[tuple[str, str], str] = {
        (repo, name): node
        for repo, name, node in db.execute(
            f"select repo, name, min(node) from p where kind in ('{ServiceKind.WORKFLOW}', 'repository') group by all"
        ).fetchall()
    }
    rows: list[tuple[Any, ...]] = db.execute(
        "select repo, kind, name, node, min(row), sum(n) from u"
        f" where kind in ('{ServiceKind.WORKFLOW}', '{ServiceKind.SUBMODULE}') group by all order by all"
    ).fetchall()
    for repo, kind, name, node, row, n in rows:
        owner, _, rest = name.partition("/")
        project, _, path = rest.partition("/")
        owner = repo.rpartition("/")[0] if owner == ".." else owner
        exact = [each for each in by_name.get(f"{owner}/{project}".lower(), ()) if each != repo]
        exact = [each for each in exact if each == f"{owner}/{project}"] or exact
        repositories_named = exact or [each for each in by_name.get(project.lower(), ()) if each != repo]
        rule = "workflow" if kind == ServiceKind.WORKFLOW else "submodule"
        target = node_by_path.get((repositories_named[0], path)) if len(repositories_named) == 1 else None
        if target is not None:
            confidence = SERVICE_CONFIDENCES[rule] * (1.0 if exact else 0.9)
            yield ServiceEdge(
                repo, node, repositories_named[0], target, "references", rule, confidence, row, int(n), ""
            )
