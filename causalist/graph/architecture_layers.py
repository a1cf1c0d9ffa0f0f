"""Architectural layers and tiers of nodes: from the facts of files and types, completed over the graph.

In: the path and facts of a file, then a graph whose nodes have the layers of their own facts. Out: a `Layer` and a
`Tier` of each node. For a file, the first of these that applies decides:

1. the role of the file: tests, documentation;
2. the kind of the file, by name and suffix;
3. the role again: configuration, migrations; and a name that is configuration anywhere (in an example, say);
4. an import of a framework for user interfaces;
5. the last word of the file's name, then the names of its folders, the innermost first: unambiguous words;
6. its other imports (or calls, if the language needs no import): the layer of most packages;
7. the names and bases of its types: the most frequent layer, if at least half of the types have one;
8. ambiguous words of its path.

A type has the layer of its own name or base, unless 1 to 4 decided for the file. Ties of 6 and 7 go to the higher
layer, since code that joins two layers serves the upper one.

If neither a type nor its file has a layer, the type gets the layer of the type that it extends, and the file that of
its types, if half of them have one. Any other file gets the layer of most files of its folder, or else logic. The layer
by 1 to 8 depends on the file's own facts, with their bodies, and is stored with the nodes. The rest can therefore be
computed again after some files are relinked.

The tables were chosen by hand. The words are those that frameworks' own generators and style guides, and the usual
books on layered, hexagonal and model-view-controller design, use for these layers. A word with several uses ("handler",
"backend", "client", "manager", "context") is in no table. The packages are those that programs import for one purpose;
one that nearly every file imports ("os", "logging", "fmt") is in no table. Keys of tables by language are families of
languages as in `grammars/*/language.toml`; "" means all.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.facts import FileFacts, ImportKind, ManifestKey
from causalist.model.graph import ORDERING_KINDS, CodeGraph, EdgeKind, EdgeTable
from causalist.model.node_ids import NO_LAYER, STACKED_LAYERS, TYPE_KINDS, Layer, NodeKind, Role, Tier
from causalist.model.role_by_path import is_config_name, role_of
from causalist.model.type_notation import split_generic

if TYPE_CHECKING:  # `fan_in` serves look-ups that need no program
    from causalist.graph.file_symbols import FolderIds
    from causalist.graph.node_and_edge_arrays import NodeDrafts
    from causalist.graph.program import Program


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names of files that one program alone reads: builders, container engines, continuous integration, servers.
INFRA_NAMES = re.compile(
    r"(?:[\w.-]+\.)?(?:docker|container)file(?:\.[\w-]+)?|(?:docker-)?compose[\w.-]*\.ya?ml|makefile|gnumakefile"
    r"|justfile|rakefile|jenkinsfile|vagrantfile|procfile|cmakelists\.txt|\.gitlab-ci\.ya?ml|\.travis\.ya?ml"
    r"|appveyor\.ya?ml|nginx[\w.-]*\.conf|[\w.-]+\.(?:tf|tfvars|hcl|nix|service|mk|cmake|bicep)"
)
INFRA_FOLDERS = ("/.github/workflows/", "/.github/actions/", "/.circleci/", "/.buildkite/")
# What is in each of these names: the expression is tried on few.
_INFRA_PARTS = ("file", "compose", "cmakelists", "gitlab-ci", "travis", "appveyor", "nginx")
_INFRA_ENDS = (".tf", ".tfvars", ".hcl", ".nix", ".service", ".mk", ".cmake", ".bicep")

# Names of what a repository says of itself, usually without a suffix.
DOCS_NAMES = re.compile(
    r"(?:licen[cs]e|copying|notice|authors|contributors|maintainers|codeowners|patents|thanks|changes|changelog"
    r"|history|news|readme|install|todo)(?:[.-][\w.-]+)?"
)

# By suffix: languages that are for one thing. Style sheets, templates, single-file components and translations make
# screens; shells start programs; interface definition languages describe what is called from outside.
SUFFIXES: Mapping[Layer, tuple[str, ...]] = {
    Layer.UI: (
        ".tsx", ".jsx", ".vue", ".svelte", ".astro", ".css", ".scss", ".sass", ".less", ".styl", ".html", ".htm",
        ".jinja", ".jinja2", ".j2", ".ejs", ".hbs", ".pug", ".haml", ".erb", ".twig", ".mustache", ".blade.php",
        ".phtml", ".jsp", ".xaml", ".qml", ".ui", ".storyboard", ".xib", ".po", ".pot", ".ftl", ".resx",
    ),
    Layer.INFRA: (".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd"),
    Layer.DATA: (".sql", ".prisma", ".dbml", ".hbm.xml"),
    Layer.API: (".proto", ".graphql", ".gql", ".thrift", ".wsdl", ".raml"),
}  # fmt: skip

# Words that say it outright: the last word of a file's name, or the whole name of a folder. Model-view-controller
# frameworks and their generators (controllers, routes, models, migrations, views), the repository and data-access
# patterns, component libraries (components, widgets), and deployment tools (deploy, terraform, helm) made them usual.
WORDS: Mapping[str, Mapping[Layer, frozenset[str]]] = {
    "": {
        Layer.UI: _words("""ui gui tui frontend component components widget widgets screen screens template templates
            theme themes style styles stylesheets cli command commands"""),
        Layer.API: _words(
            """api apis rest rpc grpc graphql route routes router routers routing controller controllers endpoint
            endpoints resolver resolvers middleware middlewares servlet servlets webhook webhooks url urls request
            response responses"""
        ),
        Layer.DATA: _words(
            """model models entity entities repository repositories dao daos migration migrations orm db database
            databases persistence storage storages queryset querysets fixture seeds sql"""
        ),
        Layer.INFRA: _words(
            """infra infrastructure deploy deployment deployments docker terraform ansible helm k8s kubernetes scripts
            network networking socket sockets transport transports mailer"""
        ),
        Layer.CONFIG: _words("config configs configuration settings conf"),
        Layer.LOGIC: _words("service services domain usecase usecases"),
    },
    # What such frameworks call a view answers a request.
    "python": {Layer.API: _words("view views viewset viewsets")},
    "ecmascript": {Layer.UI: _words("view views page pages layout layouts hook hooks tokens")},
    "java": {Layer.UI: _words("view views activity fragment")},
    "php": {Layer.UI: _words("view views layout layouts")},
}

# Words that say it as the name of a folder alone: in the name of a file they say what it is about.
FOLDERS_ONLY = _words("scripts public static build")

# Words that say it as the name of a file alone: `src/main/java` holds what is no test.
FILES_ONLY = _words("main")

# Words that say it where nothing else does: they are used for other things too.
WEAK_WORDS: Mapping[str, Mapping[Layer, frozenset[str]]] = {
    "": {
        Layer.UI: _words("main cmd web webapp assets static public admin"),
        Layer.API: _words("http server servers"),
        Layer.DATA: _words("schema schemas data store stores query queries cache"),
        Layer.INFRA: _words("tools tooling build platform os sys net io"),
    },
    "ecmascript": {Layer.UI: _words("client browser app")},
}

# Modules and packages, by the first parts of their names. A longer name stands before a shorter one; LOGIC has parts of
# others that say nothing.
PACKAGES: Mapping[str, Mapping[Layer, tuple[str, ...]]] = {
    "python": {
        Layer.UI: (
            "tkinter", "PyQt5", "PyQt6", "PySide2", "PySide6", "wx", "kivy", "curses", "textual", "prompt_toolkit",
            "argparse", "optparse", "click", "typer", "docopt", "streamlit", "gradio", "ipywidgets",
        ),
        Layer.API: (
            "starlette", "aiohttp.web", "tornado.web", "bottle", "falcon", "sanic", "pyramid", "werkzeug", "wsgiref",
            "http.server", "socketserver", "xmlrpc.server", "grpc", "graphene", "strawberry", "ninja",
            "rest_framework", "cherrypy", "litestar", "quart", "connexion", "webob",
        ),
        Layer.DATA: (
            "sqlite3", "psycopg", "psycopg2", "asyncpg", "pymysql", "MySQLdb", "sqlalchemy", "alembic", "peewee",
            "pymongo", "motor", "redis", "tortoise", "pony", "sqlmodel", "cassandra", "elasticsearch", "neo4j",
            "dbm", "shelve", "treebeard", "modelcluster",
        ),
        Layer.INFRA: (
            "subprocess", "socket", "ssl", "select", "selectors", "signal", "multiprocessing", "pty", "termios",
            "ctypes", "fcntl", "resource", "smtplib", "ftplib", "telnetlib", "http.client", "urllib.request",
            "urllib3", "httpx", "paramiko", "fabric", "boto3", "botocore", "google.cloud", "azure", "kubernetes",
            "docker", "psutil", "pika", "kombu", "setuptools", "distutils",
        ),
    },
    "ecmascript": {
        Layer.UI: (
            "react", "react-dom", "react-native", "preact", "svelte", "solid-js", "lit", "lit-element", "lit-html",
            "@angular/core", "@angular/common", "@hotwired/stimulus", "jquery", "backbone", "ember", "@ember",
            "styled-components", "@emotion", "@mui", "antd", "d3", "three", "ink", "commander", "yargs", "inquirer",
            "blessed", "chalk", "alpinejs", "htmx.org", "knockout", "mithril", "framer-motion", "electron",
        ),
        Layer.API: (
            "express", "koa", "hono", "fastify", "restify", "@hapi", "hapi", "@nestjs/common", "@nestjs/swagger",
            "apollo-server", "@apollo/server", "graphql", "next/server", "h3", "polka", "connect", "body-parser",
            "@grpc", "ws", "socket.io", "@sveltejs/kit",
        ),
        Layer.DATA: (
            "pg", "mysql", "mysql2", "sqlite3", "better-sqlite3", "mongodb", "mongoose", "sequelize", "knex",
            "@prisma/client", "redis", "ioredis", "objection", "mikro-orm", "@mikro-orm", "drizzle-orm", "dexie",
            "idb", "level", "lowdb", "node:sqlite",
        ),
        Layer.INFRA: (
            "child_process", "cluster", "dgram", "dns", "net", "tls", "os", "worker_threads", "node:child_process",
            "node:cluster", "node:dgram", "node:dns", "node:net", "node:tls", "node:os", "node:worker_threads",
            "http2", "node:http2", "@aws-sdk", "aws-sdk", "@google-cloud", "@azure", "dockerode", "nodemailer",
            "undici", "amqplib", "kafkajs", "execa",
        ),
    },
    "go": {
        Layer.UI: (
            "flag", "github.com/spf13/pflag", "github.com/urfave/cli", "github.com/alecthomas/kong",
            "github.com/charmbracelet", "github.com/rivo/tview", "github.com/gdamore/tcell", "fyne.io",
        ),
        Layer.API: (
            "net/http", "net/rpc", "google.golang.org/grpc", "github.com/gin-gonic/gin", "github.com/labstack/echo",
            "github.com/gofiber/fiber", "github.com/gorilla", "github.com/julienschmidt/httprouter",
            "github.com/graphql-go", "github.com/99designs/gqlgen", "github.com/valyala/fasthttp",
        ),
        Layer.DATA: (
            "database/sql", "gorm.io", "github.com/jackc/pgx", "github.com/lib/pq", "github.com/jmoiron/sqlx",
            "go.mongodb.org/mongo-driver/mongo", "github.com/redis/go-redis", "github.com/go-redis/redis",
            "go.etcd.io/bbolt", "github.com/boltdb/bolt", "github.com/mattn/go-sqlite3", "entgo.io/ent",
            "github.com/syndtr/goleveldb", "github.com/dgraph-io/badger",
        ),
        Layer.INFRA: (
            "net", "os/exec", "os/signal", "os/user", "syscall", "plugin", "net/smtp", "golang.org/x/sys",
            "golang.org/x/crypto/ssh", "crypto/tls", "k8s.io", "github.com/docker", "github.com/aws",
            "cloud.google.com", "github.com/Azure", "github.com/nats-io", "github.com/segmentio/kafka-go",
            "google.golang.org/appengine",
        ),
        Layer.LOGIC: ("net/url", "net/netip", "net/textproto"),
    },
    "java": {
        Layer.UI: ("javax.swing", "java.awt", "javafx", "org.eclipse.swt", "android.view", "android.widget",
                   "android.app", "androidx", "com.vaadin", "picocli", "com.beust.jcommander",
                   "org.apache.commons.cli"),
        Layer.API: ("javax.servlet", "jakarta.servlet", "javax.ws.rs", "jakarta.ws.rs", "org.springframework.web",
                    "org.springframework.http", "io.javalin", "io.grpc", "org.apache.catalina", "org.eclipse.jetty",
                    "com.sun.net.httpserver", "io.undertow", "graphql", "io.micronaut.http", "spark.Route"),
        Layer.DATA: ("java.sql", "javax.sql", "javax.persistence", "jakarta.persistence", "org.hibernate",
                     "org.springframework.data", "org.springframework.jdbc", "org.jooq", "org.apache.ibatis",
                     "com.mongodb", "redis.clients", "org.jdbi", "com.zaxxer.hikari", "org.flywaydb"),
        Layer.INFRA: ("java.net.Socket", "java.net.ServerSocket", "java.net.DatagramSocket", "java.net.http",
                      "java.net.HttpURLConnection", "java.net.URLConnection", "java.net.Proxy", "javax.net",
                      "java.nio.channels", "java.rmi", "java.lang.management", "javax.management", "javax.mail",
                      "jakarta.mail", "javax.jms", "com.amazonaws", "software.amazon.awssdk", "com.google.cloud",
                      "io.netty", "com.jcraft.jsch", "org.apache.kafka", "sun.misc"),
    },
    "rust": {
        Layer.UI: ("structopt", "argh", "lexopt", "pico_args", "crossterm", "ratatui", "tui", "termion", "termcolor",
                   "egui", "eframe", "iced", "gtk", "gtk4", "druid", "slint", "yew", "leptos", "dioxus", "winit"),
        Layer.API: ("axum", "actix_web", "warp", "rocket", "tide", "hyper", "http", "http_body", "tower",
                    "tower_http", "tower_service", "tonic", "poem", "salvo", "juniper", "async_graphql",
                    "jsonrpsee", "tungstenite"),
        Layer.DATA: ("sqlx", "diesel", "rusqlite", "sea_orm", "postgres", "mysql", "mongodb", "redis", "sled",
                     "rocksdb", "deadpool", "bb8", "r2d2"),
        Layer.INFRA: ("std.net", "std.process", "std.os", "libc", "nix", "mio", "winapi", "windows_sys", "rustls",
                      "native_tls", "openssl", "socket2", "reqwest", "ureq", "curl", "ssh2", "signal_hook",
                      "aws_sdk_s3", "rusoto_core", "kube", "lettre", "rdkafka"),
    },
    "php": {
        Layer.UI: ("Symfony.Component.Console", "Symfony.Component.Form", "Twig", "Illuminate.Console",
                   "Illuminate.View", "Livewire"),
        Layer.API: ("Symfony.Component.HttpFoundation", "Symfony.Component.HttpKernel", "Symfony.Component.Routing",
                    "Psr.Http.Server", "Psr.Http.Message.ServerRequestInterface", "Illuminate.Http",
                    "Illuminate.Routing", "Slim", "Laminas.Diactoros", "GraphQL"),
        Layer.DATA: ("PDO", "mysqli", "SQLite3", "Doctrine", "Illuminate.Database", "MongoDB", "Predis", "Redis",
                     "Elastic", "Elastica", "Cycle", "Propel", "Aws.DynamoDb"),
        Layer.INFRA: ("Symfony.Component.Process", "Symfony.Component.Mailer", "Symfony.Component.HttpClient",
                      "GuzzleHttp", "Aws", "PhpAmqpLib", "Swift", "Socket", "CurlHandle", "phpseclib",
                      "League.Flysystem", "Psr.Http.Client", "PHPMailer"),
    },
}  # fmt: skip

# Functions that a language has without an import, where these are its door to the world.
FUNCTIONS: Mapping[str, Mapping[Layer, frozenset[str]]] = {
    "php": {
        Layer.DATA: _words("mysqli_connect mysqli_query pg_connect pg_query sqlite_open"),
        Layer.INFRA: _words(
            """curl_init curl_exec fsockopen pfsockopen stream_socket_client stream_socket_server socket_create mail
            syslog openlog error_log exec shell_exec proc_open popen pcntl_fork pcntl_signal pcntl_async_signals
            posix_kill posix_getpid ftp_connect ssh2_connect imap_open"""
        ),
    }
}

# Last words of the names of types: the patterns' own names (see WORDS).
TYPE_WORDS: Mapping[Layer, frozenset[str]] = {
    Layer.UI: _words("Component Widget Screen Dialog Window Panel Button"),
    Layer.API: _words("Controller Endpoint Servlet Router Middleware Resolver ViewSet ApiView APIView"),
    Layer.LOGIC: _words("Service UseCase"),
    Layer.DATA: _words("Repository Dao DAO Entity Migration QuerySet"),
    Layer.INFRA: _words("Socket Transport Mailer"),
}

# Last words of what a type derives from, which says what it is: bases of frameworks, besides the words above.
BASE_WORDS: Mapping[str, Mapping[Layer, frozenset[str]]] = {
    "": {Layer.DATA: frozenset({"Model", "DeclarativeBase", "JpaRepository", "CrudRepository"})},
    "python": {Layer.API: frozenset({"View"}), Layer.UI: frozenset({"BaseCommand"})},
    "ecmascript": {Layer.UI: frozenset({"LitElement", "HTMLElement", "PureComponent", "View"})},
    "java": {
        Layer.API: frozenset({"HttpServlet"}),
        Layer.UI: frozenset({"Activity", "Fragment", "JFrame", "JPanel", "View"}),
    },
}


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_BY_ROLE = {Role.TEST: Layer.TEST, Role.DOCS: Layer.DOCS}
_BY_ROLE_LATER = {Role.CONFIG: Layer.CONFIG, Role.MIGRATION: Layer.DATA}
_BY_SLASHES = frozenset({"ecmascript", "go"})  # where the parts of a module's name are joined by slashes alone
_NAMED = frozenset({ImportKind.NAME, ImportKind.REEXPORT})
_TYPES = frozenset(int(kind) for kind in TYPE_KINDS)


def _layer_by_word(table: Mapping[Layer, Collection[str]]) -> dict[str, Layer]:
    return {word: layer for layer in sorted(table) for word in table[layer]}


_WORDS = {family: _layer_by_word(table) for family, table in WORDS.items()}
_WEAK_WORDS = {family: _layer_by_word(table) for family, table in WEAK_WORDS.items()}
_PACKAGES = {family: _layer_by_word(table) for family, table in PACKAGES.items()}
_TYPE_WORDS = _layer_by_word(TYPE_WORDS)
_BASE_WORDS = {family: _layer_by_word(table) | _TYPE_WORDS for family, table in BASE_WORDS.items()}


class FileLayers(NamedTuple):
    """Layers that a file says itself: `layer` of the file or None, `types` by the number of the type."""

    layer: Layer | None
    types: Mapping[int, Layer]


def layers_of_file(path: str, facts: FileFacts, family: str, own_package: str = "") -> FileLayers:
    """Return the layers that one file says itself.

    `family` is that of its language, "" for text without a grammar. `own_package` is the name of the package to which
    the file belongs: imports of that say nothing.
    """
    role = role_of(path)
    layer = _layer_by_kind(path, role, bool(facts.language))
    if layer is not None:
        return FileLayers(layer, {})
    imported = _count_packages(facts, family, own_package)
    if imported[Layer.UI]:
        return FileLayers(Layer.UI, {})
    types = _layers_of_declared_types(facts, family)
    layer = _layer_by_words(path, _WORDS, family)
    if layer is None:
        layer = _most_counted(imported)
    if layer is None:
        layer = layer_of_types(types.values(), facts)
    if layer is None:
        layer = _layer_by_words(path, _WEAK_WORDS, family)
    return FileLayers(layer, types)


def layer_of_types(layers: Iterable[Layer], facts: FileFacts) -> Layer | None:
    """Return the most frequent layer of a file's types if at least half of the types have a layer."""
    counts = Counter(layers)
    n_types = sum(definition.kind in _TYPES for definition in facts.definitions)
    return _most_counted(counts) if 2 * counts.total() >= n_types else None


def _layer_by_kind(path: str, role: Role, has_grammar: bool) -> Layer | None:
    if role in _BY_ROLE:
        return _BY_ROLE[role]
    lower = f"/{path.lower()}"
    own = lower.rpartition("/")[2]
    may_be_infra = own.endswith(_INFRA_ENDS) or any(map(own.__contains__, _INFRA_PARTS))
    if (may_be_infra and INFRA_NAMES.fullmatch(own)) or any(map(lower.__contains__, INFRA_FOLDERS)):
        return Layer.INFRA
    if not has_grammar and DOCS_NAMES.fullmatch(own):
        return Layer.DOCS
    for layer, suffixes in SUFFIXES.items():
        if lower.endswith(suffixes):
            return layer
    if role in _BY_ROLE_LATER:
        return _BY_ROLE_LATER[role]
    name = path.rpartition("/")[2]
    return Layer.CONFIG if name.startswith(".") or is_config_name(name) else None


def _layer_by_words(path: str, tables: Mapping[str, Mapping[str, Layer]], family: str) -> Layer | None:
    """Return the layer that the name of the file or its folders name, the file first, then the innermost folder."""
    own, everywhere = tables.get(family, {}), tables[""]
    *folders, name = path.split("/")
    last = [word.lower() for word in _WORD.findall(name.rpartition(".")[0].removesuffix(".d"))[-1:]]
    inside_out = (folder.lower() for folder in reversed(folders))
    words = [word for word in last if word not in FOLDERS_ONLY]
    words += [word for word in inside_out if word not in FILES_ONLY]
    for word in words:
        layer = own.get(word, everywhere.get(word))
        if layer is not None:
            return layer
    return None


def _count_packages(facts: FileFacts, family: str, own_package: str) -> Counter[Layer]:
    """Count the packages, and functions that need no import, that stand for each layer."""
    counts: Counter[Layer] = Counter()
    if family in PACKAGES:
        layer_by_import = {
            _find_package(family, each.module, each.name if each.kind in _NAMED else "")
            for each in facts.imports
            if not each.level and not (own_package and f"{each.module}/".startswith(f"{own_package}/"))
        }
        counts.update(each[1] for each in layer_by_import if each is not None and each[1] is not Layer.LOGIC)
    if family in FUNCTIONS:
        called = {call.callee.lstrip(".") for call in facts.calls}
        for layer, functions in FUNCTIONS[family].items():
            counts[layer] += len(called & functions)
    return counts


@lru_cache(maxsize=4096)
def _find_package(family: str, module: str, name: str) -> tuple[str, Layer] | None:
    """Return the longest entry of the table that is a prefix of a module, and its layer."""
    separator = "/" if family in _BY_SLASHES else "."
    parts = [part for part in (*module.split(separator), name) if part]
    table = _PACKAGES[family]
    for n in range(len(parts), 0, -1):
        key = separator.join(parts[:n])
        if key in table:
            return key, table[key]
    return None


def _layers_of_declared_types(facts: FileFacts, family: str) -> dict[int, Layer]:
    """Return the layers of types by number: by their names, or else by the first base that has a layer."""
    result: dict[int, Layer] = {}
    bases = _BASE_WORDS[""] | _BASE_WORDS.get(family, {})
    for number, definition in enumerate(facts.definitions):
        if definition.kind in _TYPES and (layer := _layer_by_last_word(definition.name, _TYPE_WORDS)) is not None:
            result[number] = layer
    for base in facts.bases:
        layer = _layer_by_last_word(split_generic(base.name)[0].rpartition(".")[2], bases)
        if layer is not None and facts.definitions[base.definition].kind in _TYPES:
            result.setdefault(base.definition, layer)
    return result


def _layer_by_last_word(name: str, table: Mapping[str, Layer]) -> Layer | None:
    if name in table:
        return table[name]
    words = _WORD.findall(name)
    return table.get(words[-1]) if words else None


def _most_counted(counts: Mapping[Layer, int]) -> Layer | None:
    """Return the layer with the highest count; of several, the highest layer."""
    return max((n, layer) for layer, n in counts.items())[1] if any(counts.values()) else None


# Edges that are less certain do not count: guesses share a name among many unused definitions.
MIN_CONFIDENCE = 0.5
_ORDERS = np.isin(np.arange(max(EdgeKind) + 1), sorted(ORDERING_KINDS))  # by EdgeKind
_NOT_RANKED = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.ENTITY, NodeKind.EXTERNAL, NodeKind.HANDLER)


def fan_in(edges: EdgeTable, n_nodes: int) -> NDArray[np.int64]:
    """Return the number of other nodes that use each node, shape (n_nodes,).

    Only edges of use with a confidence of at least 0.5 count. However many kinds of edges lead from one node to
    another, it counts once; a node's use of itself does not count.
    """
    counted = _ORDERS[edges.kinds] & (edges.confidences >= MIN_CONFIDENCE)
    counted &= edges.sources != edges.targets
    sources, targets = edges.sources[counted], edges.targets[counted]
    first = np.ones(len(sources), dtype=np.bool_)  # edges are sorted by source and target
    first[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    return np.bincount(targets[first], minlength=n_nodes)


def rank_tiers(kinds: NDArray[np.uint8], fan_ins: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the Tier of each node, shape (n_nodes,), by rank of its fan-in.

    Symbols are ranked among symbols and files among files, by falling fan-in, ties by node (that is, by id). Of n, the
    first n / 10 are hot and the others of the first n / 4 are core, both rounded up, so that the most used of a few is
    hot too. What nothing uses is leaf whatever its rank, and so is all else.

    >>> kinds = np.array([NodeKind.FUNCTION] * 5 + [NodeKind.PASSAGE], dtype=np.uint8)
    >>> [Tier(t).label for t in rank_tiers(kinds, np.array([0, 3, 1, 3, 0, 9])).tolist()]
    ['leaf', 'hot', 'leaf', 'core', 'leaf', 'leaf']
    """
    result = np.full(len(kinds), Tier.LEAF, dtype=np.uint8)
    is_file = kinds == NodeKind.FILE
    for group in (np.flatnonzero(is_file), np.flatnonzero(~np.isin(kinds, _NOT_RANKED))):
        n = len(group)
        falling = fan_ins.max(initial=0) - fan_ins[group]
        if falling.max(initial=0) <= np.iinfo(np.uint16).max:
            falling = falling.astype(np.uint16)  # which numpy counts instead of comparing
        order = group[np.argsort(falling, kind="stable")]
        result[order[: -(-n // 4)]] = Tier.CORE
        result[order[: -(-n // 10)]] = Tier.HOT
    result[fan_ins == 0] = Tier.LEAF
    return result


# So many of the files of a folder, two of three, say one layer, and at least so many, before it holds for a file that
# says none. Chosen by hand on three repositories (tests/benchmarks/layers).
_MIN_SHARE, _MIN_FILES = (2, 3), 3
_SUPPORT_LAYERS = (Layer.TEST, Layer.DOCS, Layer.CONFIG)  # which say nothing about what stands beside them

_Layers = NDArray[np.uint8]


@dataclass(slots=True)
class LayerAssigner:
    """Assigns layers and tiers to the nodes of a program whose drafts are given."""

    program: "Program"
    drafts: "NodeDrafts"
    _package_by_folder: dict[str, str] = field(init=False)  # names that manifests give to packages

    def __post_init__(self) -> None:
        self._package_by_folder = {
            _folder(each.path): name
            for each in self.program.files
            for key, name in each.facts.manifest
            if key in (ManifestKey.MODULE, ManifestKey.NAME)
        }

    def assign_own(self, number: int) -> None:
        """Set the layers that a file and the types in it say themselves. Needs the bodies of the file."""
        symbols = self.program.files[number]
        family = symbols.settings.family if symbols.settings is not None else ""
        folder = _folder(symbols.path)
        while folder and folder not in self._package_by_folder:
            folder = _folder(folder)
        own = layers_of_file(symbols.path, symbols.facts, family, self._package_by_folder.get(folder, ""))
        if own.layer is not None:
            self.drafts[number].says = own.layer
        for local, layer in own.types.items():
            self.drafts[self.drafts.first_definition(number) + local].says = layer

    def complete(self, graph: CodeGraph, file_nodes: NDArray[np.int32]) -> CodeGraph:
        """Return the graph with the layer and the tier of each node; `file_nodes` are those of the program's files.

        External nodes, which have no layer, are logic in the array.
        """
        folders = self.program.file_groups.folders(self.program.files)
        nodes, n_files = graph.nodes, len(file_nodes)
        own = _layers_of_types(graph)
        number = np.full(len(nodes), -1, dtype=np.int64)  # node of a file -> its number
        number[file_nodes] = np.arange(n_files)
        of_file = nodes.said_layers[file_nodes]
        has_layer = np.flatnonzero((own != NO_LAYER) & (nodes.kinds != NodeKind.FILE))
        counts = _count_layers(number[nodes.files[has_layer]], own[has_layer], n_files)
        is_type = np.isin(nodes.kinds, sorted(TYPE_KINDS))
        n_types = np.bincount(number[nodes.files[is_type]], minlength=n_files)
        n_with_layer = counts.sum(axis=1)
        by_types = (of_file == NO_LAYER) & (n_with_layer > 0) & (2 * n_with_layer >= n_types)
        of_file[by_types] = _most_frequent(counts)[by_types]
        layers = np.where(nodes.roles == Role.TEST, np.uint8(Layer.TEST), own)
        layers[nodes.parents < 0] = Layer.LOGIC
        layers[file_nodes] = _complete_files(of_file, folders)
        waiting = np.flatnonzero(layers == NO_LAYER)
        above = nodes.parents.copy()
        while len(waiting):
            layers[waiting] = layers[above[waiting]]
            waiting = waiting[layers[waiting] == NO_LAYER]
            above[waiting] = above[above[waiting]]  # twice as far up: nesting may be as deep as a file is long
        tiers = rank_tiers(nodes.kinds, fan_in(graph.edges, len(nodes)))
        return replace(graph, nodes=replace(nodes, layers=layers, tiers=tiers))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _layers_of_types(graph: CodeGraph) -> _Layers:
    """Return the layers that nodes say themselves, completed for types by the nearest type that they extend."""
    nodes, edges = graph.nodes, graph.edges
    own = nodes.said_layers.copy()
    of_file = np.where(nodes.files >= 0, own[nodes.files], np.uint8(NO_LAYER))
    lent = np.where(own != NO_LAYER, own, of_file)
    asks = (edges.kinds == EdgeKind.EXTENDS) & (lent[edges.sources] == NO_LAYER)
    owners, bases = edges.sources[asks], edges.targets[asks]
    while (gives := np.isin(lent[bases], STACKED_LAYERS)).any():
        inherited = np.zeros(len(nodes), dtype=np.uint8)
        np.maximum.at(inherited, owners[gives], lent[bases[gives]])
        own[owners[gives]] = lent[owners[gives]] = inherited[owners[gives]]
        waits = own[owners] == NO_LAYER
        owners, bases = owners[waits], bases[waits]
    return own


def _complete_files(of_file: _Layers, folders: "FolderIds") -> _Layers:
    """Return the layers of files, completed by those of their folders, and logic for all others.

    A folder has a layer if most of its files in a language with a grammar say it. It holds for such files that say
    none.
    """
    of_files, n_folders, is_code = folders
    counted = is_code & ~np.isin(of_file, _SUPPORT_LAYERS)
    says = counted & (of_file != NO_LAYER)
    counts = _count_layers(of_files[says], of_file[says], n_folders)
    n, n_saying = np.bincount(of_files[counted], minlength=n_folders), counts.max(axis=1, initial=0)
    holds = (n_saying >= _MIN_FILES) & (_MIN_SHARE[1] * n_saying >= _MIN_SHARE[0] * n)
    of_folder = np.where(holds, _most_frequent(counts), np.uint8(Layer.LOGIC))
    around = np.where(is_code, of_folder[of_files], np.uint8(Layer.LOGIC)) if len(of_file) else of_file
    return np.where(of_file == NO_LAYER, around, of_file)


def _count_layers(rows: NDArray[np.int64], layers: _Layers, n: int) -> NDArray[np.int64]:
    """Return the count of each layer in each row, shape (n, number of layers)."""
    return np.bincount(rows * len(Layer) + layers, minlength=n * len(Layer)).reshape(n, len(Layer))


def _most_frequent(counts: NDArray[np.int64]) -> _Layers:
    """Return the layer with the highest count in each row; of several, the highest layer."""
    highest: _Layers = (len(Layer) - 1 - counts[:, ::-1].argmax(axis=1)).astype(np.uint8)
    return highest
