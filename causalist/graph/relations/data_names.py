"""Edges of names that code and data share: tables, environment variables, templates, texts, files, operations.

In: the `LinkFact` facts of all files, and the routes found so far. Out: edges by the rules of `LINK_RULES`, which no
other module gives. What many files may name has a node outside of files, `external:table:orders` or
`external:text:auth.forgot`, as environment variables have one; where the name stands for something in the repository,
there are edges to that, too. A name that nothing in the repository declares gives none.

All of these edges are found anew at each change that touches one of these facts, as routes are.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.graph.imports.modules import shared_folders
from causalist.graph.node_and_edge_arrays import NodeDrafts, RelationEdge
from causalist.graph.program import Program
from causalist.graph.rules import RuleName
from causalist.model.facts import LinkFact, LinkForm
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import ROUTE_PREFIX, TABLE_PREFIX, TEXT_PREFIX, TYPE_KINDS, NodeKind, Role
from causalist.model.role_by_path import role_of

_MAX_DECLARATIONS = 4  # of one table, or files of one name: more say nothing
# Share of the operations of a document that fit only without `/api/v1` before their paths. Where fewer do, routes have
# such paths by accident.
_MIN_SHORTENED = 0.25
_MAX_NAMESAKES = 100  # files or definitions of one name that are compared
_TEMPLATE = lazy_regex(
    r"\.(?:html?|xhtml|jinja2?|j2|twig|erb|haml|slim|ejs|hbs|handlebars|mustache|cshtml|razor|liquid|tmpl|gohtml|tpl|heex"
    r"|eex|pug|njk|blade\.php|jbuilder|ftlh?|edge|latte|txt|mjml)$"
)
_TEMPLATE_FOLDER = lazy_regex(
    r"(?:^|/)(?:[\w-]*templates?|views?|[Pp]ages|Views|layouts|partials|emails|themes?)/", re.IGNORECASE
)
_ENDINGS = lazy_regex(r"(?:\.[a-z]\w{0,9})+$")
_PLAIN_VERBS = frozenset(
    {"make", "Success", "template", "HTML", "Render", "view", "View", "layout", "markdown", "Inertia::render"}
)
_PARAMETER = lazy_regex(r"<[^<>/]*>|\{[^{}/]*\}|:\w+(?:\([^()]*\))?[?*+]?|\*\w*|\[[^\]/]*\]")
_API = lazy_regex(r"^(?:/(?:api|rest|v\d+(?:\.\d+)?))+(?=/)")
_ELIXIR_CALL = lazy_regex(r"(?:^|/)(?P<name>\w+)_(?:controller|view|html)\.ex$")
_VIEW_CALL = lazy_regex(r"(?:^|/)controllers/(?P<name>.+)_controller\.rb$")
_BELOW_APP = lazy_regex(r"/(?:models|migrations)(?:/.*)?$")
_RAILS_TEMPLATES = (".erb", ".haml", ".slim")
_GENERATED = lazy_regex(r"\.pb\.|_pb2|_grpc\.|\.pb\w*\.go$|/(?:gen|generated|genproto)/")
_ROOT = lazy_regex(r"^(?:[\w-]*templates?|views?|jinja2|resources/views)$", re.IGNORECASE)


_Use = tuple[int, int, LinkFact]  # number of the file, draft of the scope, fact


@dataclass(slots=True)
class LinkEdgeFinder:
    """Shared names of a program."""

    program: Program
    drafts: NodeDrafts
    _by_form: dict[int, list[_Use]] = field(default_factory=lambda: defaultdict(list))
    _by_path: dict[str, int] = field(default_factory=dict)
    _named: dict[str, list[int]] = field(default_factory=dict)  # name -> definitions
    _labels: dict[str, str] = field(default_factory=dict)  # folder of an application of Django -> its label

    def find_edges(self) -> Iterator[RelationEdge]:
        """Yield the edges of all shared names, each once; routes have their drafts already."""
        for number, symbols in enumerate(self.program.files):
            for fact in symbols.facts.links:
                scope = number if fact.scope < 0 else self.drafts.of_definition(symbols.first + fact.scope)
                self._by_form[fact.form].append((number, scope, fact))
        if not self._by_form:
            return
        self._by_path = {symbols.path: number for number, symbols in enumerate(self.program.files)}
        yield from self._table_edges()
        yield from self._key_edges()
        yield from self._template_edges()
        yield from self._text_edges()
        yield from self._run_edges()
        yield from self._target_edges()
        yield from self._operation_edges()
        yield from self._resource_edges()

    def _uses(self, *forms: LinkForm) -> Iterator[_Use]:
        for form in forms:
            yield from self._by_form.get(form, ())

    def _is_test(self, number: int) -> bool:
        return self.drafts[number].role in (Role.TEST, Role.VENDORED, Role.EXAMPLE)

    def _may_be_stored(self, number: int) -> bool:
        """Return True unless a file is a test, or a migration, whose models are those of another day."""
        return not self._is_test(number) and self.drafts[number].role != Role.MIGRATION

    def _nearest(self, asking: int, drafts: Iterable[int], most: int = _MAX_DECLARATIONS) -> list[int]:
        """Return the drafts whose files share most folders with the file that asks; none if they are too many."""
        candidates = sorted(set(drafts))
        if len(candidates) > _MAX_NAMESAKES:
            return []
        if len(candidates) > 1:
            path = self.program.files[asking].path
            folders = frozenset(path.split("/")[:-1])
            paths = [self.program.files[self.drafts[each].file].path for each in candidates]
            # The folders from the root decide, then those of the same name: `db/sqlite/` and `schema/sqlite/`.
            shared = [(shared_folders(path, each), len(folders.intersection(each.split("/")[:-1]))) for each in paths]
            best = max(shared)
            candidates = [each for each, n in zip(candidates, shared, strict=True) if n == best]
        return candidates if len(candidates) <= most else []

    # -- tables

    def _table_edges(self) -> Iterator[RelationEdge]:
        for number, _, fact in self._uses(LinkForm.CONVENTION):
            if fact.name.startswith("django-app:"):
                self._labels[posixpath.dirname(self.program.files[number].path)] = fact.name.partition(":")[2]
        tables: dict[str, list[int]] = {}  # name -> what makes it: statements, and code of migrations
        rows: dict[tuple[str, int], int] = {}
        models: dict[str, list[int]] = {}
        for number, scope, fact in self._uses(LinkForm.TABLE):
            if not self._is_test(number):
                name = self._table_name(number, fact.name)
                tables.setdefault(name, []).append(scope)
                rows.setdefault((name, scope), fact.row)
        of_models = list(self._uses(LinkForm.MODEL))
        annotated = {scope for _, scope, fact in of_models if "=" not in fact.name}
        for number, scope, fact in of_models:
            name, given, type_name = fact.name.partition("=")
            model = self._type_named(number, type_name) if given else scope
            if given and model in annotated:
                continue  # the type itself says another name
            if model >= 0 and self._may_be_stored(number):
                models.setdefault(name, []).append(model)
        mapped = {model for each in models.values() for model in each}
        used = {fact.name for _, _, fact in self._uses(LinkForm.READ, LinkForm.WRITE)}
        for number, scope, fact in self._uses(LinkForm.CONVENTION):
            convention, _, name = fact.name.partition(":")
            if convention == "django-app":
                continue
            full = self._table_name(number, fact.name) if convention == "django" else name
            is_known = full in tables or (full in used and convention != "snake")
            if is_known and scope not in mapped and self._may_be_stored(number):
                models.setdefault(full, []).append(scope)
        if not tables and not models:
            return
        makers = {
            name: [each for each in dict.fromkeys(scopes) if self.drafts[each].kind == NodeKind.STRUCT]
            for name, scopes in tables.items()
        }
        makes = {(name, scope) for name, scopes in tables.items() for scope in scopes}
        hubs: dict[str, int] = {}
        for name in sorted(tables.keys() | models.keys()):
            hubs[name] = self.drafts.of_external(f"{TABLE_PREFIX}{name}")
        for name, scopes in sorted(tables.items()):
            for scope in sorted(set(scopes)):
                yield RelationEdge(scope, hubs[name], EdgeKind.REFERENCES, RuleName.TABLE, rows[name, scope])
        entities: dict[str, list[int]] = {}  # name of a model in lower case, which queries of some languages name
        for name, models_of_name in sorted(models.items()):
            for model in sorted(set(models_of_name)):
                row = self.drafts[model].start_row
                yield RelationEdge(model, hubs[name], EdgeKind.REFERENCES, RuleName.MODEL_TABLE, row)
                for target in self._makers(model, makers.get(name, ())):
                    yield RelationEdge(model, target, EdgeKind.REFERENCES, RuleName.MODEL_TABLE, row)
                last = self.drafts[model].id.rpartition("::")[2].rpartition(".")[2].lower()
                entities.setdefault(last, []).append(model)
        for number, scope, fact in self._uses(LinkForm.READ, LinkForm.WRITE, LinkForm.CHANGE):
            kind = {LinkForm.READ: EdgeKind.READS, LinkForm.WRITE: EdgeKind.WRITES}.get(
                LinkForm(fact.form), EdgeKind.REFERENCES
            )
            rule = RuleName.TABLE if fact.form == LinkForm.CHANGE else RuleName.QUERY
            hub = hubs.get(fact.name, -1)
            candidates = models.get(fact.name, [])
            if hub < 0 and fact.form != LinkForm.CHANGE and self._asks_entities(number):
                candidates = entities.get(fact.name, [])
            if hub >= 0 and (fact.name, scope) not in makes:
                yield RelationEdge(scope, hub, kind, rule, fact.row)
            if fact.form == LinkForm.CHANGE and self.drafts[scope].kind != NodeKind.STRUCT:
                continue  # each migration changes the table; only those that name it as a key use the other
            targets = self._nearest(number, candidates)
            for target in [*targets, *self._makers(scope, makers.get(fact.name, ()))]:
                if target != scope and self.drafts[target].parent != scope:
                    yield RelationEdge(
                        scope, target, kind, rule, fact.row, max(1, len(targets)) if target in targets else 1
                    )

    def _asks_entities(self, number: int) -> bool:
        """Return True if queries in a file may name types, as those of JPA do."""
        settings = self.program.files[number].settings
        return settings is not None and settings.family == "java"

    def _makers(self, asking: int, makers: Sequence[int]) -> list[int]:
        """Return the statements that create a table, only the nearest ones to a draft."""
        if len(makers) > _MAX_NAMESAKES:
            return []
        return self._nearest(self.drafts[asking].file, [each for each in makers if each != asking])

    def _table_name(self, number: int, name: str) -> str:
        """Return the name of a table, with that of the application before it in Django."""
        plain = name.removeprefix("django:")
        if plain == name:
            return name
        folder = _BELOW_APP.sub("", posixpath.dirname(self.program.files[number].path))
        label = self._labels.get(folder, posixpath.basename(folder))
        return f"{label}_{plain}".lower() if label else plain

    def _type_named(self, number: int, name: str) -> int:
        """Return the draft of the type of that name, of the file or the only one that is nearest; -1 for none."""
        own = self.program.files[number].by_qualname.get(name, -1)
        if own >= 0:
            return self.drafts.of_definition(own)
        types = [
            self.drafts.of_definition(i) for i in self._definitions_named(name)
            if self.program.definition_of[i].kind in TYPE_KINDS
        ]  # fmt: skip
        nearest = self._nearest(number, types, 1)
        return nearest[0] if nearest else -1

    def _definitions_named(self, name: str) -> list[int]:
        if not self._named:
            for i, each in enumerate(self.program.definition_of):
                self._named.setdefault(each.name, []).append(i)
        return self._named.get(name, [])

    # -- environment variables

    def _key_edges(self) -> Iterator[RelationEdge]:
        set_names = {fact.name for _, _, fact in self._uses(LinkForm.SET_KEY)}
        for _, scope, fact in self._uses(LinkForm.SET_KEY, LinkForm.READ_KEY, LinkForm.ASK_KEY):
            if fact.form == LinkForm.ASK_KEY and fact.name not in set_names:
                continue
            kind = EdgeKind.WRITES if fact.form == LinkForm.SET_KEY else EdgeKind.READS
            rule = {LinkForm.SET_KEY: RuleName.ENV_SET, LinkForm.READ_KEY: RuleName.ENV_READ}.get(
                LinkForm(fact.form), RuleName.ENV_ASKED
            )
            yield RelationEdge(scope, self.drafts.of_external(f"env:{fact.name}"), kind, rule, fact.row)

    # -- templates

    def _template_edges(self) -> Iterator[RelationEdge]:
        by_stem: dict[str, list[int]] = {}
        for number, symbols in enumerate(self.program.files):
            if _TEMPLATE.search(symbols.path) and role_of(symbols.path) != Role.VENDORED:
                name = posixpath.basename(symbols.path)
                by_stem.setdefault(_ENDINGS.sub("", name).lstrip("_"), []).append(number)
        if not by_stem:
            return
        defined: dict[str, list[int]] = {}
        for number, _, fact in self._uses(LinkForm.RENDER):
            if fact.name.startswith("define:"):
                defined.setdefault(fact.name[7:], []).append(number)
        for number, scope, fact in self._uses(LinkForm.RENDER):
            verb, colon, name = fact.name.rpartition(":") if not fact.name.startswith("define:") else ("", "", "")
            if not name or (not verb and self._is_test(number)):
                continue  # a test may write a file of that name
            is_template = _TEMPLATE.search(self.program.files[number].path) is not None
            if colon and verb == "go" and name in defined:
                targets = self._nearest(number, defined[name])
            else:
                stem = (
                    _ENDINGS.sub("", posixpath.basename(name.replace("::", "/")))
                    if "/" in name or not colon or "." in name
                    else name
                )
                targets = self._templates(
                    number, verb, name, by_stem.get(stem.lstrip("_"), by_stem.get(name.rpartition(".")[2], []))
                )
            rule = RuleName.TEMPLATE_INCLUDE if is_template else RuleName.TEMPLATE
            for target in targets:
                if target not in (number, scope):
                    yield RelationEdge(scope, target, EdgeKind.REFERENCES, rule, fact.row, len(targets))
        yield from self._conventional_edges(by_stem)

    def _templates(self, number: int, verb: str, name: str, files: list[int]) -> list[int]:
        """Return the template files that a name means, seen from a file."""
        path = self.program.files[number].path
        folder = posixpath.dirname(path)
        dotted = name.replace(".", "/") if verb and "/" not in name and not _TEMPLATE.search(name) else name
        wanted = re.sub(r"^(?:~/|\.{1,2}/|/)+", "", dotted.replace("::", "/")).strip("/")
        has_ending = not verb or _TEMPLATE.search(wanted) is not None
        exact = posixpath.normpath(posixpath.join(folder, name))
        if len(files) > _MAX_NAMESAKES:
            files = [self._by_path[exact]] if exact in self._by_path else []
        # A partial of Rails has an underscore before its name, and is named without it.
        is_partial = verb == "partial" and path.endswith(_RAILS_TEMPLATES)
        may_be_partial = verb == "partial" or _TEMPLATE.search(path) is not None
        fitting, here, rooted = list[int](), list[int](), list[int]()
        for file in files:
            full = self.program.files[file].path
            head, _, base = full.rpartition("/")
            plain = f"{head}/{base}" if has_ending else f"{head}/{_ENDINGS.sub('', base)}"
            plain = plain.lstrip("/")
            if (is_partial and not base.startswith("_")) or (
                base.startswith("_") and not (may_be_partial or "/_" in f"/{wanted}")
            ):
                continue
            if wanted == plain or (
                plain.endswith(f"/{wanted}") and _ROOT.search(plain[: -len(wanted) - 1].rpartition("/")[2])
            ):
                rooted.append(file)
            if full == exact or (
                head == folder
                and plain.rpartition("/")[2].lstrip("_") == wanted.rpartition("/")[2].lstrip("_")
                and "/" not in wanted
            ):
                here.append(file)
            elif self._fits(plain, wanted) and _TEMPLATE_FOLDER.search(full):
                fitting.append(file)
        if rooted and verb in ("", "jinja"):
            return self._nearest(number, rooted, 3)
        if here:
            return here if len(here) <= _MAX_DECLARATIONS else []
        controller = _VIEW_CALL.search(path) or _ELIXIR_CALL.search(path)
        if controller and "/" not in wanted:
            below = f"/{controller['name']}/"
            if "/api/" in path:
                return []  # which answers with data
            fitting = [each for each in fitting if below in f"/{self.program.files[each].path}"]
        elif "/" not in wanted and verb in _PLAIN_VERBS and not has_ending and len(fitting) > 1:
            return []
        return self._nearest(number, fitting, 3)

    @staticmethod
    def _fits(plain: str, wanted: str) -> bool:
        """Return True if a path ends like a name; a partial has an underscore before its own."""
        head, _, last = wanted.rpartition("/")
        partial = f"{head}/_{last}" if head else f"_{last}"
        return any(plain == each or plain.endswith(f"/{each}") for each in (wanted, partial))

    def _conventional_edges(self, by_stem: dict[str, list[int]]) -> Iterator[RelationEdge]:
        """Yield the edges from actions of Rails to the views of their names."""
        views: dict[tuple[str, str], list[int]] = {}
        for name, targets in by_stem.items():
            for target in targets:
                head, _, base = self.program.files[target].path.rpartition("/")
                if not base.startswith("_"):
                    views.setdefault((head, name), []).append(target)
        for symbols in self.program.files:
            match = _VIEW_CALL.search(symbols.path)
            if match is None:
                continue
            folder = f"{symbols.path[: match.start()]}/views/{match['name']}".lstrip("/")
            for i, each in enumerate(symbols.facts.definitions):
                if each.kind == NodeKind.METHOD:
                    for target in views.get((folder, each.name), ()):
                        source = self.drafts.of_definition(symbols.first + i)
                        yield RelationEdge(source, target, EdgeKind.REFERENCES, RuleName.VIEW_NAME, each.start_row)

    # -- texts

    def _text_edges(self) -> Iterator[RelationEdge]:
        rows_by_text: dict[str, list[tuple[int, int]]] = {}
        for number, _, fact in self._uses(LinkForm.HAVE_TEXT):
            rows_by_text.setdefault(fact.name, []).append((number, fact.row))
            stem = posixpath.basename(self.program.files[number].path).partition(".")[0]
            rows_by_text.setdefault(f"{stem}:{fact.name}", []).append((number, fact.row))
        shown: set[str] = set()
        for _, scope, fact in self._uses(LinkForm.SHOW_TEXT) if rows_by_text else ():
            name = fact.name if fact.name in rows_by_text else fact.name.partition(":")[2]
            if name in rows_by_text and len(rows_by_text[name]) <= _MAX_DECLARATIONS:
                shown.add(name)
                hub = self.drafts.of_external(f"{TEXT_PREFIX}{name}")
                yield RelationEdge(scope, hub, EdgeKind.READS, RuleName.TEXT_KEY, fact.row)
        for name in sorted(shown):
            for number, row in rows_by_text[name]:
                hub = self.drafts.of_external(f"{TEXT_PREFIX}{name}")
                yield RelationEdge(number, hub, EdgeKind.WRITES, RuleName.TEXT, row)

    # -- files

    def _run_edges(self) -> Iterator[RelationEdge]:
        folders = {posixpath.dirname(path) for path in self._by_path} if self._by_form.get(LinkForm.RUN) else set()
        for number, scope, fact in self._uses(LinkForm.RUN):
            target = self._file_named(number, fact.name, folders)
            if target >= 0 and target not in (number, scope):
                yield RelationEdge(scope, target, EdgeKind.REFERENCES, RuleName.RUN_FILE, fact.row)

    def _target_edges(self) -> Iterator[RelationEdge]:
        """Yield the edges to the files that have a script or target, seen from where it is run."""
        having: dict[str, dict[str, int]] = {}  # name -> folder -> file
        for number, _, fact in self._uses(LinkForm.HAVE_TARGET):
            folder = posixpath.dirname(self.program.files[number].path)
            having.setdefault(fact.name, {}).setdefault(folder, number)
        for number, scope, fact in self._uses(LinkForm.RUN_TARGET) if having else ():
            name, _, stated_folder = fact.name.partition("\t")
            folders = having.get(name, {})
            own = posixpath.dirname(self.program.files[number].path)
            bases = [own, "", posixpath.dirname(own)]
            wanted = [
                posixpath.normpath(posixpath.join(base, stated_folder)).removeprefix(".").lstrip("/") for base in bases
            ]
            target = next((folders[each] for each in wanted if each in folders), -1)
            if target < 0 and not stated_folder and len(folders) == 1:
                target = next(iter(folders.values()))
            if target not in (-1, number, scope):
                yield RelationEdge(scope, target, EdgeKind.REFERENCES, RuleName.RUN_TARGET, fact.row)

    def _file_named(self, number: int, name: str, folders: set[str]) -> int:
        """Return the file that a word names, seen from the folder of a file or from the root, or -1."""
        own = posixpath.dirname(self.program.files[number].path)
        bases = [own, "", posixpath.dirname(own)]
        if name.startswith("module:"):
            path = name[7:].replace(".", "/")
            words = [f"{path}.py", f"{path}/__main__.py", f"{path}/__init__.py"]
        else:
            words = [name.removeprefix("./")]
        for base in bases:
            for word in words:
                if word.startswith("/"):
                    continue
                path = posixpath.normpath(posixpath.join(base, word))
                if path in self._by_path:
                    return self._by_path[path]
                if path in folders and path != "." and word not in (".", ".."):
                    for entry in ("Dockerfile", "main.go", "action.yml", "main.tf"):
                        if f"{path}/{entry}" in self._by_path:
                            return self._by_path[f"{path}/{entry}"]
        return -1

    # -- operations

    def _operation_edges(self) -> Iterator[RelationEdge]:
        described = list(self._uses(LinkForm.SERVE))
        if not described:
            return
        routes: dict[str, list[str]] = {}
        for name in sorted(self.drafts.externals):
            if name.startswith(ROUTE_PREFIX):
                method, _, path = name.removeprefix(ROUTE_PREFIX).partition(" ")
                plain = _PARAMETER.sub("{}", path).rstrip("/")
                for verb in (method,) if method != "ANY" else ("GET", "POST", "PUT", "PATCH", "DELETE"):
                    for each in {plain, _API.sub("", plain)}:
                        routes.setdefault(f"{verb} {each}", []).append(name)
        below: dict[str, list[int]] = {}  # last name of a base -> types
        blocks: dict[str, list[int]] = {}  # last name of a trait -> what implements its functions
        for symbols in self.program.files:
            for block in symbols.facts.implementations:
                members = range(symbols.first + block.first, symbols.first + block.end)
                blocks.setdefault(block.trait.rpartition(".")[2], []).extend(members)
            is_go = symbols.settings is not None and symbols.settings.family == "go"
            for base in symbols.facts.bases:
                # What a compiler makes for Go ends in Server; a type of the service's own name is one of the program.
                for part in re.findall(r"\w+Server\b" if is_go else r"\w+", base.name):
                    below.setdefault(part, []).append(symbols.first + base.definition)
        shortened: dict[int, list[tuple[int, LinkFact, list[str]]]] = {}  # document -> operations that fit without /api
        misses: dict[int, int] = {}  # document -> operations whose whole path no route has
        for number, scope, fact in described:
            kind, colon, name = fact.name.partition(":")
            if kind == "rpc" and colon:
                yield from self._procedure_edges(number, scope, fact, name, below, blocks)
            elif " " in fact.name:
                method, _, path = fact.name.partition(" ")
                plain = _PARAMETER.sub("{}", path).rstrip("/")
                if whole := routes.get(f"{method} {plain}"):
                    yield from self._described_edges(scope, fact, whole)
                    continue
                misses[number] = misses.get(number, 0) + 1
                if short := routes.get(f"{method} {_API.sub('', plain)}"):
                    shortened.setdefault(number, []).append((scope, fact, short))
        for number, fitting in sorted(shortened.items()):
            if len(fitting) >= _MIN_SHORTENED * misses[number]:
                for scope, fact, found in fitting:
                    yield from self._described_edges(scope, fact, found)

    def _described_edges(self, scope: int, fact: LinkFact, routes: list[str]) -> Iterator[RelationEdge]:
        for route in routes if len(routes) <= _MAX_DECLARATIONS else ():
            hub = self.drafts.of_external(route)
            yield RelationEdge(scope, hub, EdgeKind.MENTIONS, RuleName.OPERATION, fact.row, len(routes))

    def _procedure_edges(
        self,
        number: int,
        scope: int,
        fact: LinkFact,
        name: str,
        below: dict[str, list[int]],
        blocks: dict[str, list[int]],
    ) -> Iterator[RelationEdge]:
        service, _, procedure = name.partition(".")
        ends = ("", "Servicer", "Base", "ImplBase", "Grpc", "Server", "CoroutineImplBase", "Controller")
        words = (*(f"{service}{end}" for end in ends), f"Unimplemented{service}Server")
        types = sorted({each for word in words for each in below.get(word, ())})
        names = (
            procedure,
            procedure[:1].lower() + procedure[1:],
            re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", procedure).lower(),
        )
        methods = [
            member for each in types
            if self.program.file_of[each] != number and not self._is_generated(self.program.file_of[each])
            for word in names if (member := self.program.find_member(each, word)[0]) >= 0
        ]  # fmt: skip
        methods += [each for each in blocks.get(service, ()) if self.program.definition_of[each].name in names]
        methods = [each for each in methods if not self._is_generated(self.program.file_of[each])]
        # A fake of a test answers for the service only where nothing else does.
        methods = [each for each in methods if not self._is_test(self.program.file_of[each])] or methods
        for member in sorted(set(methods))[:_MAX_DECLARATIONS]:
            target = self.drafts.of_definition(member)
            if target != scope:
                yield RelationEdge(scope, target, EdgeKind.REFERENCES, RuleName.PROCEDURE, fact.row, len(set(methods)))

    def _is_generated(self, number: int) -> bool:
        """Return True for a file that a compiler of interfaces wrote: what it has of a service is no handler."""
        symbols = self.program.files[number]
        return bool(symbols.facts.aside) or _GENERATED.search(symbols.path) is not None

    # -- resources

    def _resource_edges(self) -> Iterator[RelationEdge]:
        uses = list(self._uses(LinkForm.RESOURCE))
        by_folder: dict[tuple[str, str], int] = {}
        for number in sorted({number for number, _, _ in uses}):
            symbols = self.program.files[number]
            for i, each in enumerate(symbols.facts.definitions):
                key = posixpath.dirname(symbols.path), each.qualname
                by_folder.setdefault(key, self.drafts.of_definition(symbols.first + i))
        for number, scope, fact in uses:
            target = by_folder.get((posixpath.dirname(self.program.files[number].path), fact.name), -1)
            if target >= 0 and target != scope:
                yield RelationEdge(scope, target, EdgeKind.REFERENCES, RuleName.RESOURCE, fact.row)
