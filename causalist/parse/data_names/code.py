"""Names in code that data shares: tables of queries and models, environment variables, templates, keys of texts.

In: the text of a file, its syntax tree and its definitions. Out: `LinkFact` facts, by position. What has such a name is
known by the form of the call or literal, not by an import. The text is searched only if it has one of a few words.
"""

import re
from collections.abc import Callable, Iterator

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import LinkFact, LinkForm
from causalist.model.node_ids import TYPE_KINDS
from causalist.parse.data_names.schemas import blank_literals, find_tables, is_statement, plain_name
from causalist.parse.routes.searched_text import PLURALS, RouteText, inflect

_MAX_LINKS = 2_000  # of one file
_MAX_STATEMENT_BYTES = 8_000
_MAX_CLIMB = 8  # nodes around a literal: its parts, and what joins them
_WHOLE = lazy_regex(
    r"string|template|literal|concat|binary|content|fragment|heredoc|interpol|quoted|argument_body|text"
)
_Found = Iterator[tuple[int, LinkFact]]

# -- tables

_JOINED = lazy_regex(r"[\"'`][\s+.&\\]{0,100}[\"'`]")
# Without one of these words there is no statement. Each is a search of all files, and small letters are those of prose.
_CAPITALS = (b"FROM", b"INTO ", b"UPDATE ", b"TABLE ")
_SMALL = (b"insert into ", b"delete from ", b"create table ", b"alter table ", b"drop table ")
_STATEMENT = lazy_regex(
    rb"[\"'`>|(\]~<](?:(?<![~<])|(?<=~)[sS].|(?<=<)<[-~]?['\"]?\w+['\"]?)\s*(?P<verb>\(?(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER"
    rb"|WITH|REPLACE|DROP|TRUNCATE|MERGE"
    rb"|select|insert|update|delete|create|alter|with|drop)\s)"
)
_CALL_OF_TABLE = lazy_regex(
    rb"(?<![\w$])(?:(?P<plain>knex|trx|db)|(?:[\w$\])]{1,60}+|::|->)?(?:\.|::|->)(?P<verb>table|Table|from|into"
    rb"|selectFrom|insertInto|updateTable"
    rb"|deleteFrom|replaceInto|leftJoin|innerJoin|join|joins|Model|findOne|find|dispense|load|loadAll"
    rb"|count))\(\s*[\"'`](?P<name>[A-Za-z_]\w*)(?:\s+as\s+\w+)?[\"'`]"
)
# What follows a table in a query: `DB::table("users")->where(…)->update(…)`.
_WRITTEN_BEHIND = lazy_regex(
    rb"\)[^;{}]{0,300}?(?:->|\.)(?:insert\w*|upsert|update\w*|delete|del|destroy|truncate|increment|Create|Delete|Updates?)\("
)
_CALL_WORDS: dict[str, tuple[bytes, ...]] = {
    "ecmascript": (
        b"knex",
        b"trx(",
        b"Table(",
        b".table(",
        b".from(",
        b".into(",
        b"From(",
        b"Into(",
        b"R.find",
        b"R.d",
    ),
    "php": (b"DB::", b"->table(", b"->from(", b"->into("),
    "go": (b".Table(", b".Model("),
}
_MADE = lazy_regex(
    rb"\b(?P<verb>create_table|createTable|CreateTable|create\s+(?:unlogged_)?table|Schema::create|add_column"
    rb"|addColumn|AddColumn"
    rb"|alterTable|alter\s+table|Schema::table|change_table|add_index|createIndex|op\.(?:add_column|drop_column"
    rb"|batch_alter_table)"
    rb"|drop_table|dropTable|CreateModel|remove_column|rename_column|add_reference|add_foreign_key)\b\s*(?:\(\s*"
    rb"(?:\n\s*)?)?"
    rb"(?:(?:name|table)\s*[:=]\s*)?(?:if_not_exists\(\s*)?[:\"'`](?P<name>[A-Za-z_][\w.]*)"
)
_MADE_WORDS: dict[str, tuple[bytes, ...]] = {
    "python": (b"CreateModel", b"alembic"),
    "ruby": (b"_table", b"_column", b"add_index", b"add_reference", b"add_foreign_key"),
    "php": (b"Schema::",),
    "ecmascript": (b"eateTable", b"lterTable", b"addColumn", b"dropTable", b"createIndex"),
    "csharp": (b"eateTable", b"AddColumn"),
    "elixir": (b"table(:",),
    "go": (b"CreateTable",),
}
_MAKING = (b"create_table", b"createTable", b"CreateTable", b"Schema::create", b"CreateModel")

# A model says the name of its table; the definition is the type around, or the one behind an annotation.
_MODELS: dict[str, tuple["re.Pattern[bytes]", tuple[bytes, ...]]] = {
    "python": (
        lazy_regex(
            rb"(?:^[ \t]+(?:__tablename__|db_table)\s*=\s*|^(?P<const>\w+)\s*=\s*(?:\w+\.)?Table\(\s*)[\"']"
            rb"(?P<name>[\w.\"]+)[\"']", re.MULTILINE),
        (b"__tablename__", b"db_table", b"Table("),
    ),
    "ruby": (lazy_regex(rb"\bself\.table_name\s*=\s*[\"':](?P<name>[\w.]+)"), (b"table_name",)),
    "php": (
        lazy_regex(rb"\$table\s*=\s*[\"'](?P<name>[\w.]+)|ORM\\Table\(\s*(?:name:\s*|name=)?[\"'](?P<annotated>[\w.`]+)"),
        (b"$table", b"ORM\\Table"),
    ),
    "java": (
        lazy_regex(
            rb"@(?:\w+:)?(?:Table|StorageName|Entity)\((?:[^()\n]{0,80}?(?:name|value|tableName)\s*=\s*)?\s*\""
            rb"(?P<annotated>[\w.]+)\""),
        (b"@Table", b"@StorageName", b"@Entity("),
    ),
    "csharp": (
        lazy_regex(rb"\[Table\(\s*\"(?P<annotated>[\w.]+)\"|\bDbSet<(?P<type>\w+)>\s+(?P<set>\w+)"),
        (b"[Table(", b"DbSet<"),
    ),
    "go": (
        lazy_regex(
            rb"func\s*\(\s*(?:\w+\s+)?\*?(?P<type>\w+)"
            rb"(?:\[\w+\])?\s*\)\s*TableName\(\s*\)\s*string\s*\{\s*return\s*[\"`](?P<set>[\w.]+)"),
        (b"TableName(",),
    ),
    "ecmascript": (
        lazy_regex(
                rb"@(?:Entity|Table|ViewEntity)\(\s*(?:\{[^{}\n]{0,200}?(?:name|tableName)\s*:\s*)?[\"'`]"
                rb"(?P<annotated>[\w.]+)"
            rb"|\b(?P<const>\w++)\s*=\s*(?:pg|sqlite|mysql|\w+[sS]chema\.)?(?:[tT]able)\(\s*[\"'`](?P<name>\w+)[\"'`]"
            rb"|\btableName\s*:\s*[\"'`](?P<named>\w+)[\"'`]"
        ),
        (b"@Entity(", b"@Table(", b"Table(", b".table(", b"tableName"),
    ),
    "elixir": (lazy_regex(rb"^\s+schema\s*\(?\s*\"(?P<name>\w+)\"", re.MULTILINE), (b"schema",)),
    "rust": (
        lazy_regex(
            rb"#\[(?:diesel\(\s*)?table_name\s*(?:=|\()\s*\"?(?:\w+::)*(?P<annotated>\w+)"
            rb"|#\[sea_orm\([^\]\n]{0,80}?table_name\s*=\s*\"(?P<other>\w+)\""
        ),
        (b"table_name",),
    ),
}  # fmt: skip
# Types of frameworks that name the table after the type. What the name is follows when files are linked.
_BY_CONVENTION: dict[str, tuple["re.Pattern[bytes]", str, bytes]] = {
    "ruby": (
        lazy_regex(
            rb"^\s*class\s+(?:\w+::)*(?P<name>\w+)\s*<\s*(?:ApplicationRecord|ActiveRecord::Base)\b", re.MULTILINE
        ),
        "rails",
        b"Record",
    ),
    "python": (
        lazy_regex(
            rb"^class\s+(?P<name>\w+)\([^()\n]{0,200}(?:\bmodels\.\w*Model\b|(?:Model|Base|Mixin)\b)", re.MULTILINE
        ),
        "django",
        b"odel",
    ),
    "php": (
        lazy_regex(
            rb"^(?:final\s+)?class\s+(?P<name>\w+)\s+extends\s+(?:\\?\w+\\)*(?:Model|Authenticatable|Pivot)\b",
            re.MULTILINE,
        ),
        "rails",
        b"extends",
    ),
    "ecmascript": (lazy_regex(rb"\bmodelName\s*:\s*[\"'](?P<model>\w+)[\"']"), "rails", b"modelName"),
    "java": (lazy_regex(rb"@(?:[\w.]+\.)?Entity\b"), "snake", b"@"),
    "go": (
        lazy_regex(
            rb"^type\s+(?P<name>\w+)\s+struct\s*\{[^{}]{0,4000}?(?:gorm\.Model\b|`[^`\n]*\bgorm:)", re.MULTILINE
        ),
        "rails",
        b"gorm",
    ),
}


_APP_LABEL = lazy_regex(rb"^[ \t]+label\s*=\s*[\"'](?P<name>\w+)[\"']", re.MULTILINE)


def _has_small_statement(data: bytes) -> bool:
    """Return True if a file may have a statement in small letters."""
    if b"select " in data:
        return b" from " in data
    return any(word in data for word in _SMALL) or (b"update " in data and b" set " in data)


def _tables_of_statements(source: RouteText) -> _Found:
    data = source.data
    if not any(word in data for word in _CAPITALS) and not _has_small_statement(data):
        return
    read_to = -1
    for match in _STATEMENT.finditer(data):
        at = match.start("verb")
        if at < read_to:
            continue
        node = source.node(at)
        if "comment" in node.type:
            continue
        for _ in range(_MAX_CLIMB):
            around = node.parent
            if around is None or not _WHOLE.search(around.type) or "comment" in around.type:
                break
            if around.end_byte - around.start_byte > _MAX_STATEMENT_BYTES:
                break
            node = around
        if not _WHOLE.search(node.type):
            continue  # code, such as a word of LINQ
        end = min(max(node.end_byte, at), at + _MAX_STATEMENT_BYTES)
        text = source.text(at, end)
        if not is_statement(text):
            continue
        read_to = end
        plain = text if "--" not in text and "/*" not in text else blank_literals(text)
        # Parts of a statement that literals in code make: `"SELECT a " + "FROM b"`.
        plain = _JOINED.sub(" ", plain)
        for use in find_tables(plain):
            place = at + len(plain[: use.at].encode("utf-8", "surrogatepass"))
            yield at, LinkFact(source.scope(at), int(use.form), use.name, source.row(min(place, end)))


def _tables_of_calls(family: str, source: RouteText) -> _Found:
    data = source.data
    if any(word in data for word in _CALL_WORDS.get(family, ())):
        for match in source.matches(_CALL_OF_TABLE):
            verb = (match["verb"] or match["plain"]).decode()
            if match[0].startswith(b"Schema::"):
                continue  # found below
            behind = _WRITTEN_BEHIND.match(data, match.end())
            form = LinkForm.WRITE if behind else LinkForm.READ
            form = LinkForm.WRITE if re.match(r"insert|update|delete|replace|into|dispense", verb) else form
            yield _link(source, match.start(), form, plain_name(match["name"].decode()))
    if any(word in data for word in _MADE_WORDS.get(family, ())):
        for match in source.matches(_MADE):
            form = (
                LinkForm.TABLE if match["verb"] in _MAKING or match["verb"].startswith(b"create") else LinkForm.CHANGE
            )
            if match["verb"] in (b"createIndex", b"add_index"):
                form = LinkForm.CHANGE
            name = plain_name(match["name"].decode())
            yield _link(source, match.start(), form, f"django:{name}" if match["verb"] == b"CreateModel" else name)


def _models(family: str, source: RouteText) -> _Found:
    data = source.data
    pattern, words = _MODELS.get(family, (None, ()))
    if pattern is not None and any(word in data for word in words):
        for match in source.matches(pattern):
            groups = match.groupdict()
            written = next((groups[g] for g in ("name", "annotated", "set", "named", "other") if groups.get(g)), None)
            if written is None:
                continue
            name = plain_name(written.decode())
            if groups.get("type"):
                yield _link(source, match.start(), LinkForm.MODEL, f"{name}={groups['type'].decode()}")
                continue
            if groups.get("annotated") or groups.get("other"):
                number = source.owner_at(match.start())
            elif groups.get("const"):
                constant = groups["const"].decode()
                number = next((i for i, d in enumerate(source.definitions) if d.qualname == constant), -1)
                number = number if number >= 0 else source.scope(match.start())
            else:
                number = _type_around(source, match.start())
            if number >= 0:
                yield match.start(), LinkFact(number, int(LinkForm.MODEL), name, source.row(match.start()))
    if family == "python" and b"AppConfig" in data:
        for match in _APP_LABEL.finditer(data):
            yield _link(source, match.start(), LinkForm.CONVENTION, f"django-app:{match['name'].decode()}")
    by_name, convention, word = _BY_CONVENTION.get(family, (None, "", b""))
    if by_name is None or word not in data:
        return
    for match in by_name.finditer(data):
        name = (match.groupdict().get("name") or b"").decode()
        if name:
            number = next((i for i, d in enumerate(source.definitions) if d.name == name and d.kind in TYPE_KINDS), -1)
        elif "model" in match.groupdict():
            number = _type_around(source, match.start())
        else:
            number = source.owner_at(match.start())
        if number >= 0:
            table = _NAMING[convention](source.definitions[number].name)
            yield _link(source, match.start(), LinkForm.CONVENTION, f"{convention}:{table}", number)


def _to_snake_case(name: str) -> str:
    """Return a name in snake case.

    >>> _to_snake_case("OrderLine"), _to_snake_case("HTTPLog")
    ('order_line', 'http_log')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


# How a framework makes the name of a table of that of a type. Django puts the name of the application before it.
_NAMING: dict[str, Callable[[str], str]] = {
    "rails": lambda name: inflect(_to_snake_case(name), PLURALS),
    "snake": _to_snake_case,
    "django": str.lower,
}


def _type_around(source: RouteText, byte: int) -> int:
    """Return the outermost type around a byte that is no `Meta`, or -1."""
    number = source.scope(byte)
    while number >= 0:
        definition = source.definitions[number]
        if (definition.kind in TYPE_KINDS and definition.name != "Meta") or definition.parent < 0:
            return number
        number = definition.parent
    return -1


# -- environment variables that a helper asks for

_ASKED = lazy_regex(rb"\(\s*(?:\w{1,20}\s*=\s*)?[\"'](?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)[\"']")
_ASKING = lazy_regex(rb"(?:[eE]nv|ENV|[cC]onfig|[gG]et_?[sS]ecret)\w{0,40}(?:(?:\.|::)\w{1,40})?$")
_OTHER_KEYS = {
    "go": (lazy_regex(rb"\b(?:env|envconfig):\"(?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"), (b'env:"', b'envconfig:"')),
    "java": (lazy_regex(rb"\$\{(?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)[:}]"), (b"${",)),
    "ecmascript": (lazy_regex(rb"\bimport\.meta\.env\.(?P<name>[A-Z][A-Z0-9_]+)"), (b"import.meta.env.",)),
}
_MAX_CALLEE_BYTES = 80


def _asked_keys(family: str, source: RouteText) -> _Found:
    data = source.data
    if b"nv" in data or b"NV" in data or b"onfig" in data or b"ecret" in data:
        for match in _ASKED.finditer(data):
            if _ASKING.search(data[max(0, match.start() - _MAX_CALLEE_BYTES) : match.start()]) and source.is_code(
                match.start()
            ):
                yield _link(source, match.start(), LinkForm.ASK_KEY, match["name"].decode())
    pattern, words = _OTHER_KEYS.get(family, (None, ()))
    if pattern is not None and any(word in data for word in words):
        form = LinkForm.READ_KEY if family == "ecmascript" else LinkForm.ASK_KEY
        for match in pattern.finditer(data):
            if "comment" not in source.node(match.start()).type:
                yield _link(source, match.start(), form, match["name"].decode())


# -- templates

_TEMPLATE_FILE = lazy_regex(
    rb"[\"'`](?P<name>(?:~/|\.{0,2}/)?[\w][\w./@-]{0,150}\.(?:html?|xhtml|jinja2?|j2|twig|ejs|hbs|handlebars"
    rb"|mustache|pug|jade|liquid|erb|haml|slim"
    rb"|tmpl|gohtml|tpl|cshtml|ftlh?|eex|heex|njk|edge|latte)(?:\.(?:twig|jinja2?|j2|erb|tmpl|eex|heex|ftl))?)[\"'`]"
)
_RENDER = lazy_regex(
    rb"(?<![\w$])(?P<verb>render|renderToString|view|View::make|Inertia::render|make|markdown|PartialView|View"
    rb"|render_template|render_to_string"
    rb"|template|ExecuteTemplate|Render|RenderTemplate|HTML|Success|HTMLSuccess|renderView|ModelAndView|layout"
    rb"|render_partial)\s*(?:\(\s*|[ ](?=[:\"']|(?:partial|template|layout|action):))"
    rb"(?:(?:[\w.&]+|http\.StatusOK|\d+)\s*,\s*)?(?:(?P<option>partial|template|layout|action)\s*(?::|=>|=)\s*)?"
    rb"(?P<mark>[:\"'`])(?P<name>[\w][\w./:-]{0,120})(?P<end>[\"'`]?)"
)
_RENDERING: dict[str, tuple[bytes, ...]] = {
    "ruby": (b"render", b"layout"),
    "elixir": (b"render",),
    "php": (b"view(", b"View::", b"markdown(", b"Inertia::", b"render(", b"@include", b"@extends"),
    "go": (b"Render", b"HTML(", b"ExecuteTemplate", b"Success("),
    "csharp": (b"View(",),
    "java": (b"ModelAndView",),
    "ecmascript": (b".render(",),
}
_TEMPLATE_ENDS: dict[str, tuple[bytes, ...]] = {
    "python": (b".html", b".j2", b".jinja", b".tmpl"),
    "ruby": (b".erb", b".haml", b".slim", b".html"),
    "php": (b".twig", b".html", b".tpl", b".latte"),
    "ecmascript": (b".html", b".ejs", b".hbs", b".pug", b".njk", b".mustache", b".liquid"),
    "elixir": (b".html", b".eex", b".heex"),
    "csharp": (b".cshtml", b".liquid"),
}
_OTHER_ENDS = (b".html", b".tmpl", b".j2", b".hbs", b".ftl", b".mustache", b".tera")
_RETURNED = lazy_regex(rb"\breturn\s+\"(?P<name>(?:redirect:)?[a-z][\w/-]{1,100})\"\s*;")


def _templates(family: str, source: RouteText) -> _Found:
    data = source.data
    for match in (
        _TEMPLATE_FILE.finditer(data) if any(e in data for e in _TEMPLATE_ENDS.get(family, _OTHER_ENDS)) else ()
    ):
        if "comment" not in source.node(match.start()).type:
            yield _link(source, match.start("name"), LinkForm.RENDER, match["name"].decode())
    if any(word in data for word in _RENDERING.get(family, ())):
        for match in source.matches(_RENDER, "verb"):
            if match["mark"] != b":" and match["end"] != match["mark"]:
                continue
            name = match["name"].decode()
            option = (match["option"] or b"").decode()
            if re.search(r"\.\w{1,9}$", name) and family not in ("php", "go"):
                continue  # found above
            yield _link(source, match.start("name"), LinkForm.RENDER, f"{option or match['verb'].decode()}:{name}")
    if family == "java" and b"Controller" in data:
        for match in source.matches(_RETURNED):
            if not match["name"].startswith(b"redirect:"):
                yield _link(source, match.start("name"), LinkForm.RENDER, f"view:{match['name'].decode()}")


# -- keys of texts

_TEXT = lazy_regex(
    rb"(?<![\w.$])(?:(?:this|i18n|i18next|intl|I18n|L|l10n|vm|app|props|self|ctx|locale|\$i18n|translate"
    rb"|translateService|translocoService|strings?)\??\.)?"
    rb"(?:\$?tc?|\$?te|translate|trans|trans_choice|__|instant|selectTranslate|formatMessage|getString|GetString"
    rb"|Tr|\$strings|gettext_key|_t|Get|i18nKey)"
    rb"[.]?\(?\s*(?:\(\s*|\[\s*|=\s*)?(?:\{\s*id\s*:\s*)?"
    rb"[\"'`](?P<name>[A-Za-z][\w.:/ -]{1,120})[\"'`]|\$(?:get)?[sS]trings\.(?P<member>[A-Z]\w{2,80})"
)
_TEXT_WORDS: dict[str, tuple[bytes, ...]] = {
    "ecmascript": (b"$t(", b"i18n", b"I18n", b"seTransl", b"translate(", b"formatMessage", b"trings."),
    "ruby": (b"I18n", b't("', b"t('", b't "', b"t '"),
    "php": (b"__(", b"trans"),
    "java": (b"getString(", b"MessageSource", b"i18n"),
    "csharp": (b"ocalizer", b"GetString("),
    "go": (b".Tr(", b"i18n"),
    "elixir": (b"gettext",),
    "swift": (b"ocalized",),
}
# What shows a text, each with what stands behind it.
_BEHIND_SHOWING = rb"[.]?\(?\s*(?:\(\s*|\[\s*|=\s*)?(?:\{\s*id\s*:\s*)?[\"'`]"
_SHOWING = tuple(
    (word, lazy_regex(word + rb"(?<!\w" + word + b")" + (b"[ce]?" if word == b"t" else b"") + _BEHIND_SHOWING))
    for word in (b"t", b"_t", b"Tr", b"Get", b"translate", b"trans", b"trans_choice", b"__", b"instant",
                 b"selectTranslate", b"formatMessage", b"getString", b"GetString", b"gettext_key", b"i18nKey")
)  # fmt: skip


def _may_show_text(data: bytes) -> bool:
    """Return False where `_TEXT` finds nothing, as far as that is seen in a small part of its time."""
    return (
        b"trings." in data
        or b"$strings" in data
        or any(word in data and expression.search(data) for word, expression in _SHOWING)
    )


def _texts(family: str, source: RouteText) -> _Found:
    data = source.data
    is_shown = any(word in data for word in _TEXT_WORDS.get(family, ())) and _may_show_text(data)
    for match in _TEXT.finditer(data) if is_shown else ():
        if "comment" not in source.node(match.start()).type:
            yield _link(source, match.start(), LinkForm.SHOW_TEXT, (match["name"] or match["member"]).decode())


def find_texts(markup: bytes) -> Iterator[tuple[str, int]]:
    """Yield (key, row) of the texts that markup shows, in order.

    >>> list(find_texts(b"<p>{{ $t('auth.forgot') }}</p>"))
    [('auth.forgot', 0)]
    """
    row = last = 0
    for match in _TEXT.finditer(markup):
        row, last = row + markup.count(b"\n", last, match.start()), match.start()
        yield (match["name"] or match["member"]).decode(), row


def _link(source: RouteText, byte: int, form: LinkForm, name: str, scope: int | None = None) -> tuple[int, LinkFact]:
    return byte, LinkFact(source.scope(byte) if scope is None else scope, int(form), name, source.row(byte))


def read_code_links(family: str, source: RouteText) -> tuple[LinkFact, ...]:
    """Return the names in a file of code that data shares, by position, each once for a form and definition."""
    links = [
        *_tables_of_statements(source),
        *_tables_of_calls(family, source),
        *_models(family, source),
        *_asked_keys(family, source),
        *_templates(family, source),
        *_texts(family, source),
    ]
    if not links:
        return ()
    first: dict[tuple[int, int, str], LinkFact] = {}
    for _, link in sorted(links, key=lambda pair: (pair[0], pair[1])):
        first.setdefault((link.scope, link.form, link.name), link)
    return tuple(first.values())[:_MAX_LINKS]
