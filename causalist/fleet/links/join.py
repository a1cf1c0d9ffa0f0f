"""The join of what shards publish with what others use -> edges between repositories.

In: the Parquet tables of shards. Out: one Arrow table of edges, sorted. A use leads to the longest published module
that its names begin with, then name by name to a definition: through what a package passes on from another, and along
the bases of a type. Each step is one hash join over all uses that are on their way, so that the cost of a repository
does not depend on how many there are.

If several repositories publish a module, the one whose package the user's manifests declare is meant, of several
versions the newest that the declared range allows, else the newest. Copies in folders of vendored code publish nothing.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causalist.errors import ExtraMissing
from causalist.fleet.links.published_and_used import FORMAT
from causalist.fleet.links.service_join import ServiceEdge, service_edges
from causalist.fleet.object_store import FleetStore
from causalist.fleet.repository_shard import Shard
from causalist.index.freshness import index_version

if TYPE_CHECKING:
    import duckdb
    import pyarrow as arrow

_CODE_KINDS = "'import', 'call', 'reference', 'extends', 'member', 'attribute'"  # of uses
LINKS = "links"  # the table in the store
_MEMORY = "2GB"  # of the join; what is more goes to a temporary file
_MAX_ROUNDS = 6  # packages that pass a name on from one to the next
_MAX_MEMBERS = 6  # steps along members and bases
# Measured precision of the rules, see docs/benchmarks.md. Rules of services are beside their join.
CONFIDENCES: Mapping[str, float] = {
    "package-import": 0.99,
    "symbol-import": 0.99,
    "symbol-call": 0.95,
    "symbol-use": 0.95,
    "symbol-base": 0.95,
}
_REGISTRIES = {"jvm": "maven", "dotnet": "nuget", "php": "composer", "ruby": "rubygems"}  # by ecosystem, if named so

_NUMBERS = {"confidence": "float64", "row": "int32", "n": "int32"}  # types of columns that are no texts
EDGE_COLUMNS = (
    "source_repository", "source", "target_repository", "target", "kind", "rule", "confidence", "row", "n", "package",
    "version", "note",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LinkTables:
    """Files with the tables of the shards, by the name of the repository."""

    publishes: Mapping[str, Path]
    uses: Mapping[str, Path]


def join_links(tables: LinkTables, *, threads: int = 1) -> "arrow.Table":
    """Return the edges between repositories.

    Columns are `EDGE_COLUMNS`: `row` is 0-based in the file of the source, `n` counts sites, `version` is that of the
    package that was chosen and `note` says why it was: "only", "declared", "newest" or "outside of the declared range".
    Rows are sorted by all columns. Raises ExtraMissing.
    """
    try:
        import duckdb
    except ImportError as error:
        raise ExtraMissing("a fleet needs more packages: pip install 'causalist[fleet]'") from error
    if not tables.publishes:
        return _no_edges()
    with tempfile.TemporaryDirectory(prefix="causalist-links-") as folder:
        place, limits = str(Path(folder) / "links.duckdb"), {"threads": threads, "memory_limit": _MEMORY}
        with duckdb.connect(place, config=limits) as connection:
            return _Join(connection).run(tables)


def _no_edges() -> "arrow.Table":
    import pyarrow as arrow

    return arrow.schema([(name, getattr(arrow, _NUMBERS.get(name, "string"))()) for name in EDGE_COLUMNS]).empty_table()


def link_shards(shards: Sequence[Shard], store: FleetStore) -> "arrow.Table":
    """Return the edges between shards as `join_links` does; those of unchanged shards are read from the store.

    Shards without tables have none. Raises FleetError and ExtraMissing.
    """
    ready = [each for each in shards if "publishes" in each.objects and "uses" in each.objects]
    named = [(each.name, each.objects["publishes"], each.objects["uses"]) for each in ready]
    state = hashlib.sha256(json.dumps([FORMAT, index_version(), sorted(named)]).encode()).hexdigest()
    stored_table = store.local_table(LINKS)
    import pyarrow.parquet as parquet

    if stored_table is not None and (parquet.read_schema(stored_table).metadata or {}).get(b"shards") == state.encode():
        return parquet.read_table(stored_table)
    paths = [{each.name: store.local_object(each.objects[k], k) for each in ready} for k in ("publishes", "uses")]
    table = join_links(LinkTables(*paths)).replace_schema_metadata({"shards": state})
    with tempfile.TemporaryDirectory(prefix="causalist-links-") as folder:
        path = Path(folder) / LINKS
        parquet.write_table(table, path, compression="zstd")
        store.write_table(LINKS, path)
    return table


@dataclass(slots=True)
class _Join:
    db: "duckdb.DuckDBPyConnection"

    def run(self, tables: LinkTables) -> "arrow.Table":
        self._read("p", tables.publishes)
        self._read("u", tables.uses)
        self._prepare()
        for number in range(_MAX_ROUNDS):
            self.db.execute(f"create or replace temp table frontier as select * from todo where round = {number}")
            if not self.db.execute("select count(*) from frontier").fetchone()[0]:
                break
            self._find_modules()
            self._choose_providers()
            self._find_names(number)
            self._find_members(number)
        self._collect_code_edges()
        self._collect_service_edges()
        names = ", ".join(EDGE_COLUMNS)
        return self.db.sql(f"select {names} from edges order by all").to_arrow_table()

    def _read(self, name: str, paths: Mapping[str, Path]) -> None:
        import pyarrow as arrow

        repositories = sorted(paths)
        places = arrow.table({"repo": repositories, "filename": [str(paths[each]) for each in repositories]})
        self.db.register("places", places)
        files = sorted({str(each) for each in paths.values()})
        self.db.execute(
            f"create temp table {name} as select places.repo, t.* exclude (filename)"
            " from read_parquet($files, filename = true) t join places using (filename)",
            {"files": files},
        )
        self.db.unregister("places")

    def _prepare(self) -> None:
        self.db.execute(
            f"""
            create temp table modules as
                select ecosystem, module, repo, package, min(node) as node
                from p where kind = 'module' group by all;
            create temp table packages as
                select ecosystem, package, repo, max(name) as version, min(node) as node, min(module) as folder
                from p where kind = 'package' group by all;
            create temp table heads as
                select distinct ecosystem, split_part(module, separator, 1) as head
                from (select distinct ecosystem, module from modules
                      union select distinct ecosystem, package from packages), (values ('.'), ('/')) as s (separator);
            create temp table names as
                select repo, ecosystem, module, name, min(node) as node from p where kind = 'name' group by all;
            create temp table members as
                select repo, to_name as owner, name, min(node) as node from p where kind = 'member' group by all
                union all
                select repo, regexp_replace(node, '\\.[^.]*$', '') as owner, regexp_extract(name, '[^.]*$') as name,
                    min(node) as node
                from p where kind = 'name' and contains(name, '.') group by all;
            create temp table bases as
                select distinct repo, ecosystem, node, to_module, to_name from p where kind = 'base';
            create temp table forwards as
                select distinct repo, ecosystem, module, name, to_module, to_name from p where kind = 'forward';
            create temp table requires as
                select repo, ecosystem, module as package, min(name) as spec
                from u where kind = 'requires' group by all;
            create temp table places as
                select row_number() over (order by repo, ecosystem, modules, name) as place, *
                from (select distinct repo, ecosystem, module as modules, name from u
                      where kind in ({_CODE_KINDS}));
            create temp table todo as
                select place, 0 as round, repo, ecosystem, unnest(string_split(modules, ' ')) as module, name
                from places;
            create temp table results (
                place bigint, round integer, repo varchar, node varchar, rest varchar, package varchar,
                version varchar, note varchar, via varchar, is_name boolean);
            """
        )

    def _find_modules(self) -> None:
        """Find the longest published module that the names of each use begin with, and who publishes it."""
        self.db.execute(
            """
            create or replace temp table keys as
                select *, string_split(whole, separator) as parts from (
                    select f.*,
                        case when ecosystem in ('npm', 'go', 'ruby') and module <> '' then '/'
                             else '.' end as separator,
                        case when module = '' then name
                             when ecosystem in ('npm', 'go', 'ruby') or name = '' then module
                              else module || '.' || name end as whole
                    from frontier f)
                -- Most imports are of what the fleet does not have: their prefixes need not be made.
                where (ecosystem, string_split(whole, separator)[1]) in (select (ecosystem, head) from heads);
            create or replace temp table tried as
                select place, repo, ecosystem, module as written, name, parts, k,
                    case separator when '/' then array_to_string(list_slice(parts, 1, k), '/')
                         else array_to_string(list_slice(parts, 1, k), '.') end as module
                from (select *, unnest(range(1, len(parts) + 1)) as k from keys);
            create or replace temp table found as
                select t.*, m.repo as target, m.package, m.node
                from tried t join modules m using (ecosystem, module) where m.repo <> t.repo
                    -- Constants of Ruby say nothing of where they are from; a manifest must.
                    and (t.written <> '' or exists (select 1 from requires r where r.repo = t.repo
                        and r.ecosystem = 'rubygems' and r.package = m.package));
            -- A name that a module defines goes before its submodule of that name.
            delete from found where ecosystem = 'pypi' and k > len(string_split(written, '.')) and exists (
                select 1 from names n where n.repo = found.target and n.ecosystem = 'pypi' and n.module = found.written
                    and n.name = found.parts[len(string_split(found.written, '.')) + 1] and contains(n.node, '::'));
            create or replace temp table longest as
                select place, written, max(k) as k from found group by all;
            create or replace temp table found as
                select f.* from found f join longest using (place, written, k);
            insert into found
                select t.*, g.repo, g.package, g.node
                from tried t join packages g on g.ecosystem = t.ecosystem and g.package = t.module and g.repo <> t.repo
                where t.ecosystem in ('npm', 'go')
                    and not exists (select 1 from longest l where l.place = t.place and l.written = t.written);
            create or replace temp table wide as
                select place, repo, ecosystem, written, name, parts, k, module,
                    list(distinct {'repo': target, 'package': package, 'node': node}
                         order by {'repo': target, 'package': package, 'node': node}) as providers
                from found group by all;
            """
        )

    def _choose_providers(self) -> None:
        import pyarrow as arrow

        rows = self.db.execute(
            "select distinct repo, ecosystem, module, providers from wide where len(providers) > 1 order by all"
        ).fetchall()
        specs: dict[tuple[str, str, str], str] = {}
        versions: dict[tuple[str, str, str], str] = {}
        if rows:
            specs = {(r, e, p): s for r, e, p, s in self.db.execute("from requires").fetchall()}
            versions = {(r, e, p): v for e, p, r, v, _, _ in self.db.execute("from packages").fetchall()}
        chosen = []
        for repo, ecosystem, module, providers in rows:
            registry = _REGISTRIES.get(ecosystem, ecosystem)
            options = []
            for each in providers:
                version = versions.get((each["repo"], registry, each["package"]), "")
                spec = specs.get((repo, registry, each["package"]))
                options.append(_Option(each["repo"], each["package"], each["node"], version, spec))
            best, note = choose_provider(options)
            chosen.append((repo, ecosystem, module, best.repository, best.package, best.node, note))
        names = ("repo", "ecosystem", "module", "target", "package", "node", "note")
        columns = {name: arrow.array([row[i] for row in chosen], arrow.string()) for i, name in enumerate(names)}
        self.db.register("chosen", arrow.table(columns))
        self.db.execute(
            """
            create or replace temp table provided as
                select w.place, w.repo, w.ecosystem, w.written, w.name, w.parts, w.k, w.module,
                    coalesce(c.target, w.providers[1].repo) as target,
                    coalesce(c.package, w.providers[1].package) as package,
                    coalesce(c.node, w.providers[1].node) as node, coalesce(c.note, 'only') as note
                from wide w left join chosen c
                    on c.repo = w.repo and c.ecosystem = w.ecosystem and c.module = w.module;
            create or replace temp table provided as
                select r.*, coalesce(g.version, '') as version,
                    case when r.ecosystem in ('npm', 'go', 'ruby') and written <> '' and name <> ''
                            then string_split(name, '.')
                         when r.ecosystem in ('npm', 'go', 'ruby') and written <> '' then []
                         else list_slice(parts, k + 1, len(parts)) end as rest
                from provided r left join packages g
                    on g.repo = r.target and g.package = r.package
                    and g.ecosystem = case r.ecosystem when 'jvm' then 'maven' when 'dotnet' then 'nuget'
                        when 'php' then 'composer' when 'ruby' then 'rubygems' else r.ecosystem end;
            """
        )
        self.db.unregister("chosen")

    def _find_names(self, number: int) -> None:
        """Find the definition of each name in its module, or where the module has it from."""
        self.db.execute(
            f"""
            create or replace temp table tried as
                select *, array_to_string(list_slice(rest, 1, j), '.') as wanted
                from (select *, unnest(range(1, len(rest) + 1)) as j from provided where len(rest) > 0);
            create or replace temp table named as
                select t.place, t.written, t.target, t.ecosystem, t.package, t.version, t.note, t.module, t.j, t.rest,
                    n.node
                from tried t join names n on n.repo = t.target and n.ecosystem = t.ecosystem
                    and n.module = t.module and n.name = t.wanted;
            create or replace temp table named as
                select distinct on (place, written) * from named order by place, written, j desc, node;
            create or replace temp table unnamed as
                select * from provided r where len(rest) > 0
                    and not exists (select 1 from named n where n.place = r.place and n.written = r.written);
            insert into todo
                select r.place, {number + 1}, r.target, r.ecosystem,
                    f.to_module,
                    concat_ws('.', nullif(case when f.to_name = '*' then rest[1] else f.to_name end, ''),
                        nullif(array_to_string(list_slice(rest, 2, len(rest)), '.'), ''))
                from unnamed r join forwards f on f.repo = r.target and f.ecosystem = r.ecosystem
                    and f.module = r.module and f.name in (r.rest[1], '*');
            insert into results
                select place, {number}, target, node, array_to_string(rest, '.'), package, version, note, module, false
                from provided;
            create or replace temp table walking as
                select place, written, target, ecosystem, package, version, note, module, node,
                    list_slice(rest, j + 1, len(rest)) as rest, 0 as step
                from named;
            """
        )

    def _find_members(self, number: int) -> None:
        """Follow the rest of the names from a definition to its members, and along its bases to theirs."""
        for _ in range(_MAX_MEMBERS):
            self.db.execute(
                f"""
                insert into results
                    select place, {number}, target, node, array_to_string(rest, '.'), package, version, note, module,
                        true
                    from walking;
                create or replace temp table walking as select * from walking where len(rest) > 0;
                create or replace temp table stepped as
                    select w.* replace (m.node as node, list_slice(rest, 2, len(rest)) as rest)
                    from walking w join members m on m.repo = w.target and m.owner = w.node and m.name = w.rest[1];
                create or replace temp table stuck as
                    select * from walking w where not exists (
                        select 1 from stepped s where s.place = w.place and s.written = w.written);
                insert into todo
                    select s.place, {number + 1}, s.target, s.ecosystem, b.to_module,
                        concat_ws('.', nullif(b.to_name, ''), array_to_string(s.rest, '.'))
                    from stuck s join bases b on b.repo = s.target and b.node = s.node and b.to_module <> '';
                create or replace temp table walking as
                    from stepped
                    union all
                    select s.* replace (b.to_name as node)
                    from stuck s join bases b on b.repo = s.target and b.node = s.node and b.to_module = '';
                """
            )
            if not self.db.execute("select count(*) from walking").fetchone()[0]:
                break

    def _collect_code_edges(self) -> None:
        confidences = " ".join(f"when '{rule}' then {value}" for rule, value in CONFIDENCES.items())
        self.db.execute(
            f"""
            -- The most of the names that was followed; of several ways, the shortest.
            create temp table best as
                select distinct on (place) * from results where is_name
                order by place, len(rest), round, node;
            create temp table loaded as
                select distinct on (place) * from results where not is_name
                order by place, round, len(rest), node;
            create temp table sites as
                select u.repo, u.kind, u.node, u.row, u.n, q.place, u.name
                from u join places q on q.repo = u.repo and q.ecosystem = u.ecosystem and q.modules = u.module
                    and q.name = u.name
                where u.kind in ({_CODE_KINDS});
            create temp table raw as
                select s.repo as source_repository, s.node as source, l.repo as target_repository, l.node as target,
                    'imports' as kind, 'package-import' as rule, s.row, s.n, l.package, l.version, l.note
                from sites s join loaded l using (place) where s.kind = 'import'
                union all
                select s.repo, s.node, b.repo, b.node,
                    case when b.rest <> '' or s.kind in ('import', 'reference', 'attribute') then 'references'
                         when s.kind = 'extends' then 'extends' else 'calls' end,
                    case when s.kind = 'import' then 'symbol-import'
                         when b.rest <> '' or s.kind in ('reference', 'attribute') then 'symbol-use'
                         when s.kind = 'extends' then 'symbol-base' else 'symbol-call' end,
                    s.row, s.n, b.package, b.version, b.note
                from sites s join best b using (place)
                -- Of what a value has, the rest: the value itself is a use of its own.
                where b.repo <> s.repo and (b.rest = '' or s.kind not in ('member', 'attribute'));
            create temp table edges as
                select source_repository, source, target_repository, target, kind, rule,
                    case rule {confidences} end::double as confidence,
                    min(row)::integer as row, sum(n)::integer as n, package, version, note
                from raw group by all;
            """
        )

    def _collect_service_edges(self) -> None:
        import pyarrow as arrow

        edges = sorted(service_edges(self.db))
        columns = {name: [each[i] for each in edges] for i, name in enumerate(ServiceEdge._fields)}
        types = {name: _NUMBERS.get(name, "string") for name in ServiceEdge._fields}
        schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in types.items()])
        self.db.register("services", arrow.table(columns, schema=schema))
        self.db.execute(
            """
            insert into edges by name
                select * exclude (row, n), min(row)::integer as row, sum(n)::integer as n, '' as package, '' as version
                from services group by all
            """
        )


@dataclass(frozen=True, slots=True)
class _Option:
    """A repository that publishes a module; `spec` is the range that the user declares of its package, or None."""

    repository: str
    package: str
    node: str
    version: str
    spec: str | None


def choose_provider(options: Sequence[_Option]) -> tuple[_Option, str]:
    """Return the repository that is meant where several publish a module, and why."""
    declared = [each for each in options if each.spec is not None] or list(options)
    fit = [each for each in declared if each.spec is not None and is_allowed(each.version, each.spec)]
    best = min(
        fit or declared,
        key=lambda each: (
            tuple(-part for part in version_key(each.version)) or (1,),
            each.repository.rpartition("/")[2] != each.package.rpartition("/")[2],
            len(each.repository),
            each.repository,
        ),
    )
    is_declared = best.spec is not None
    return best, "declared" if fit else "outside of the declared range" if is_declared else "newest"


def version_key(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, a release after what comes before it; () if there are none.

    >>> version_key("1.10.0") > version_key("v1.9"), version_key("2.0rc1") < version_key("2.0"), version_key("x")
    (True, True, ())
    """
    match = re.match(r"[v=]?(?:\d+!)?(\d+(?:\.\d+)*)(.*)", version.strip())
    if not match:
        return ()
    numbers = [int(each) for each in match[1].split(".")][:6]
    is_early = bool(re.match(r"[-._]?(a|b|c|rc|alpha|beta|pre|dev|snapshot|next|canary)", match[2], re.IGNORECASE))
    return (*numbers, *[0] * (6 - len(numbers)), 0 if is_early else 1)


def is_allowed(version: str, spec: str) -> bool:
    """Return True if a version is in a declared range, as far as that is made of comparisons.

    >>> [is_allowed("1.4.2", s) for s in ("^1.2", "~1.3.0", ">=1,<2", "1.4.2", "~=1.2", "*", "", ">1.4.2 || ^3")]
    [True, False, True, True, True, True, True, False]
    """
    own = version_key(version)
    if not own:
        return False
    return any(all(_holds(own, part) for part in _parts(each)) for each in spec.split("||"))


def _parts(spec: str) -> list[tuple[str, str]]:
    return re.findall(r"(\^|~=|~>|~|>=|<=|==|!=|=|>|<|)\s*[v=]?(\d[\w.*+-]*|\*)", spec)


def _holds(own: tuple[int, ...], part: tuple[str, str]) -> bool:
    operator, written = part
    numbers = [int(each) for each in re.findall(r"\d+", re.split(r"[-+a-z]", written)[0])][:6]
    if not numbers:
        return True
    bound = version_key(written)
    if operator in (">=", ">", "<=", "<"):
        return {">=": own >= bound, ">": own > bound, "<=": own <= bound, "<": own < bound}[operator]
    if operator == "!=":
        return own[: len(numbers)] != tuple(numbers)
    if operator == "^":
        fixed = next((i for i, each in enumerate(numbers) if each), len(numbers) - 1) + 1
        return own >= bound and own[:fixed] == tuple(numbers[:fixed])
    if operator in ("~=", "~>"):
        return own >= bound and own[: max(len(numbers) - 1, 1)] == tuple(numbers[: max(len(numbers) - 1, 1)])
    if operator == "~":
        return own >= bound and own[: min(len(numbers), 2)] == tuple(numbers[:2])
    return own[: len(numbers)] == tuple(numbers)
