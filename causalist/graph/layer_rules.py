"""What says to which layer a file or a type belongs: one table for each kind of evidence, chosen by hand.

The words are those that frameworks' own generators and style guides, and the usual books on layered, hexagonal and
model-view-controller design, use for these things. A word that is used for several things alike ("handler", "backend",
"client", "manager", "context") is in no table: what a file imports tells these apart. The names of packages are those
that programs import for one purpose, from the languages' standard libraries and from the packages that are in wide use
for it; a package that nearly every file imports ("os", "logging", "fmt") says nothing.

Keys of tables by language are families of languages as `grammars/*/language.toml` has them; "" stands for all.
"""

import re
from collections.abc import Mapping

from causalist.model.symbols import Layer


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names of files that one program alone reads: builders, container engines, continuous integration, servers.
INFRA_FILES = re.compile(
    r"(?:.*/)?(?:(?:[\w.-]+\.)?(?:docker|container)file(?:\.[\w-]+)?|(?:docker-)?compose[\w.-]*\.ya?ml|makefile|gnumakefile"
    r"|justfile|rakefile|jenkinsfile|vagrantfile|procfile|cmakelists\.txt|\.gitlab-ci\.ya?ml|\.travis\.ya?ml"
    r"|appveyor\.ya?ml|nginx[\w.-]*\.conf|[\w.-]+\.(?:tf|tfvars|hcl|nix|service|mk|cmake|bicep))$"
    r"|(?:.*/)?(?:\.github/workflows|\.github/actions|\.circleci|\.buildkite)/.*"
)

# Names of what a repository says of itself, usually without a suffix.
DOCS_FILES = re.compile(
    r"(?:.*/)?(?:licen[cs]e|copying|notice|authors|contributors|maintainers|codeowners|patents|thanks|changes|changelog"
    r"|history|news|readme|install|todo)(?:[.-][\w.-]+)?$"
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
