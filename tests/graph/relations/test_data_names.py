"""Edges of names that code and data share, across files; refreshed graphs equal rebuilt ones."""

from collections.abc import Mapping

import pytest

from causalist.graph import build_graph, relink
from causalist.graph.rules import RULE_NAMES
from causalist.model.graph import LINK_RULES, CodeGraph
from causalist.parse import load_settings, parse_file
from tests.indexes import differences

SHOP = {
    "shop/models.py": "from django.db import models\nclass Order(models.Model):\n    pass\n",
    "shop/migrations/0001.py": 'class Migration:\n    operations = [migrations.CreateModel(name="Order")]\n',
    "shop/reports.py": 'def total(db):\n    return db.execute("SELECT sum(total) FROM shop_order")\n'
    'def unknown(db):\n    return db.execute("SELECT a FROM nowhere")\n',
    "shop/views.py": 'def cart(request):\n    return render(request, "shop/cart.html")\n'
    'def home(request):\n    return render(request, "home.html")\n',
    "shop/templates/shop/cart.html": '{% extends "base.html" %}\n',
    "shop/templates/base.html": "<html></html>\n",
    "other/templates/shop/emails/base.html": "<html></html>\n",
    "settings.py": 'HOST = env("DB_HOST")\nPORT = env("DB_PORT")\n',
    ".env.example": "DB_HOST=db\n",
    "Makefile": "test:\n\tpython scripts/check.py missing.py\n",
    "scripts/check.py": "def main():\n    pass\n",
}


def graph_of(files: Mapping[str, str]) -> CodeGraph:
    facts = [(path, parse_file(path, files[path].encode())) for path in sorted(files)]
    return build_graph(facts, load_settings()).graph


def links_of(graph: CodeGraph) -> set[tuple[str, str, str, str]]:
    """(rule, kind, source, target) of each edge of a shared name."""
    edges = (graph.edge(number) for number in range(len(graph.edges)))
    return {(e.rule, e.kind, e.source, e.target) for e in edges if e.rule in LINK_RULES}


def test_shop() -> None:
    assert links_of(graph_of(SHOP)) == {
        ("table", "references", "shop/migrations/0001.py::Migration", "external:table:shop_order"),
        ("model-table", "references", "shop/models.py::Order", "external:table:shop_order"),
        ("query", "reads", "shop/reports.py::total", "external:table:shop_order"),
        ("query", "reads", "shop/reports.py::total", "shop/models.py::Order"),
        ("template", "references", "shop/views.py::cart", "shop/templates/shop/cart.html"),
        ("template-include", "references", "shop/templates/shop/cart.html", "shop/templates/base.html"),
        ("env-asked", "reads", "settings.py", "external:env:DB_HOST"),
        ("env-set", "writes", ".env.example", "external:env:DB_HOST"),
        ("run-file", "references", "Makefile", "scripts/check.py"),
    }


def test_tables_of_statements_and_models() -> None:
    files = {
        "db/schema.sql": "CREATE TABLE orders (id int);\nCREATE TABLE lines (order_id int REFERENCES orders(id));\n",
        "Order.java": '@Entity\n@Table(name = "orders")\nclass Order {\n}\n',
        "Store.java": 'class Store {\n  void save() { run("INSERT INTO orders VALUES (1)"); }\n}\n',
    }
    assert {each for each in links_of(graph_of(files)) if not each[3].startswith("external:")} == {
        ("model-table", "references", "Order.java::Order", "db/schema.sql::orders"),
        ("table", "references", "db/schema.sql::lines", "db/schema.sql::orders"),
        ("table", "references", "db/schema.sql::lines", "Order.java::Order"),
        ("query", "writes", "Store.java::Store.save", "db/schema.sql::orders"),
        ("query", "writes", "Store.java::Store.save", "Order.java::Order"),
    }


@pytest.mark.slow
def test_texts_are_joined_by_their_key() -> None:
    files = {
        "src/locales/en.json": '{"auth": {"forgot": "Forgot?"}, "unused": "x"}',
        "src/Login.tsx": "import { useTranslation } from 'i';\n"
        "export const Login = () => { const { t } = useTranslation();"
        " return t('auth.forgot') + t('missing'); }\n",
    }
    assert links_of(graph_of(files)) == {
        ("text-key", "reads", "src/Login.tsx::Login", "external:text:auth.forgot"),
        ("text", "writes", "src/locales/en.json", "external:text:auth.forgot"),
    }


def test_texts_that_code_returns_have_the_key_of_their_file() -> None:
    files = {
        "lang/en/auth.php": "<?php\n// 'failed' => 'no'\nreturn [\n  'mfa' => array('few' => 'Few', 'off' => 'O')];\n",
        "lang/de/auth.php": "<?php return ['mfa' => ['few' => 'Wenige']];\n",
        "config/auth.php": "<?php return ['mfa' => ['off' => 'x']];\n",
        "Mfa.php": "<?php\nclass Mfa {\n  function few() { return trans('auth.mfa.few') . trans('auth.failed'); }\n}\n",
    }
    assert links_of(graph_of(files)) == {
        ("text-key", "reads", "Mfa.php::Mfa.few", "external:text:auth.mfa.few"),
        ("text", "writes", "lang/en/auth.php", "external:text:auth.mfa.few"),
    }


def test_scripts_are_run_by_their_names_from_where_the_step_stands() -> None:
    step = "- run: npm run build\n  working-directory: web\n- run: |\n    cd docs\n    make html\n- run: npm run lint\n"
    files = {
        ".github/workflows/ci.yml": f"jobs:\n  a:\n    steps:\n{step}",
        "package.json": '{"scripts": {"lint": "eslint ${X} .", "build": "exit 1"}}',
        "web/package.json": '{"scripts": {"build": "vite build"}}',
        "docs/Makefile": "html: clean\n\tsphinx\nV := 1\n",
        "Dockerfile": "RUN npm install && make V\n# npm run lint\n",
        "Procfile": "web: yarn --cwd web build\nall: pnpm --filter web run lint\n",
    }
    assert {each for each in links_of(graph_of(files)) if each[0] == "run-target"} == {
        ("run-target", "references", ".github/workflows/ci.yml", "web/package.json"),
        ("run-target", "references", ".github/workflows/ci.yml", "docs/Makefile"),
        ("run-target", "references", ".github/workflows/ci.yml", "package.json"),
        ("run-target", "references", "Procfile", "web/package.json"),
    }


def test_procedures_lead_to_what_handles_them() -> None:
    files = {
        "cart.proto": "service Cart {\n  rpc AddItem (Item) returns (Empty);\n}\n",
        "server.py": "class Server(cart_pb2_grpc.CartServicer):\n    def AddItem(self, request):\n        pass\n",
        "cart_pb2_grpc.py": "class CartServicer(object):\n    def AddItem(self, request, context):\n        pass\n",
    }
    files["src/cart.rs"] = (
        "pub struct Shop;\nimpl pb::cart_server::Cart for Shop {\n  fn add_item(&self) {}\n  fn other(&self) {}\n}\n"
    )
    assert {each for each in links_of(graph_of(files)) if each[0] == "procedure"} == {
        ("procedure", "references", "cart.proto::Cart.AddItem", "server.py::Server.AddItem"),
        ("procedure", "references", "cart.proto::Cart.AddItem", "src/cart.rs::Shop.add_item"),
    }


def test_a_fake_handles_a_procedure_only_where_nothing_else_does() -> None:
    base = "package x\n\ntype {0} struct {{\n\tpb.{1}\n}}\n\nfunc (s *{0}) {2}() {{}}\n"
    files = {
        "shop.proto": "service Shop {\n  rpc Buy (A) returns (B);\n  rpc Sell (A) returns (B);\n}\n",
        "shop/server.go": base.format("server", "UnimplementedShopServer", "Buy"),
        "shop/fake_test.go": base.format("fake", "UnimplementedShopServer", "Buy"),
        "shop/sell_test.go": base.format("seller", "ShopServer", "Sell"),
        "mall/shop.go": base.format("wrapper", "Shop", "Sell"),
    }
    assert {each[2:] for each in links_of(graph_of(files)) if each[0] == "procedure"} == {
        ("shop.proto::Shop.Buy", "shop/server.go::server.Buy"),
        ("shop.proto::Shop.Sell", "shop/sell_test.go::seller.Sell"),
    }


@pytest.mark.parametrize(("n_others", "is_read"), [(2, True), (4, False)])
def test_paths_fit_without_their_beginning_if_those_of_the_document_do(n_others: int, is_read: bool) -> None:
    others = "".join(f"  /api/v1/other{n}:\n    get: {{}}\n" for n in range(n_others))
    files = {
        "openapi.yaml": f"openapi: 3.0.0\npaths:\n  /orders:\n    get: {{}}\n  /api/v1/lines:\n    get: {{}}\n{others}",
        "app.py": "import flask\napp = flask.Flask(__name__)\n\n@app.get('/orders')\ndef orders():\n    pass\n\n"
        "@app.get('/lines')\ndef lines():\n    pass\n",
    }
    found = {each[3] for each in links_of(graph_of(files)) if each[0] == "operation"}
    assert found == {"external:route:GET /orders", *(["external:route:GET /lines"] if is_read else [])}


@pytest.mark.parametrize("path", sorted(SHOP))
def test_a_refresh_finds_what_a_build_finds(path: str) -> None:
    """Every file once without its content, then as it is."""
    whole = graph_of(SHOP)
    facts = [(name, parse_file(name, SHOP[name].encode())) for name in sorted(SHOP)]
    number = [name for name, _ in facts].index(path)
    emptied = [(name, parse_file(name, b"")) if name == path else (name, each) for name, each in facts]
    previous = build_graph(emptied, load_settings()).graph
    again = relink(facts, load_settings(), previous, {number}, set(range(len(facts))) - {number}).linked
    assert differences(again.graph, whole) == []
    alone = relink(facts, load_settings(), whole, {number}).linked
    assert differences(alone.graph, whole) == []


def test_link_rules_are_rules() -> None:
    assert set(RULE_NAMES) >= LINK_RULES
