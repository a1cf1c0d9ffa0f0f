"""Names that code and data share, in one file: what is read and what is not. Expected rows are counted by hand."""

import pytest

from causalist.model.facts import LinkForm
from causalist.parse import parse_file
from causalist.parse.cleaned_text import link_kind
from causalist.parse.data_names.schemas import find_tables, is_statement


def links_of(path: str, text: str) -> list[tuple[str, str, int]]:
    """(form, name, row) of each link of a file."""
    return [(LinkForm(each.form).name, each.name, each.row) for each in parse_file(path, text.encode()).links]


SCHEMA = """-- orders; CREATE TABLE not_this (a int);
CREATE TABLE public.orders (
    id SERIAL PRIMARY KEY,
    "total" numeric(10, 2) DEFAULT 0,
    customer_id int REFERENCES customers(id),
    CONSTRAINT positive CHECK (total > 0)
);
CREATE OR REPLACE VIEW big_orders AS SELECT * FROM orders WHERE total > 100;
CREATE FUNCTION pay(o int) RETURNS void AS $$
BEGIN
    UPDATE orders SET total = 0; -- not; an; end
END $$ LANGUAGE plpgsql;
INSERT INTO orders VALUES ('CREATE TABLE nor_this (b int)');
"""


def test_sql_defines_tables_columns_views_and_functions() -> None:
    facts = parse_file("db/schema.sql", SCHEMA.encode())
    assert [(d.qualname, d.start_row, d.end_row) for d in facts.definitions] == [
        ("orders", 1, 6),
        ("orders.id", 2, 2),
        ("orders.total", 3, 3),
        ("orders.customer_id", 4, 4),
        ("big_orders", 7, 7),
        ("pay", 8, 11),
    ]
    by_scope = {
        (facts.definitions[each.scope].qualname if each.scope >= 0 else "", LinkForm(each.form).name, each.name)
        for each in facts.links
    }
    assert by_scope == {
        ("orders", "TABLE", "orders"),
        ("orders", "CHANGE", "customers"),
        ("big_orders", "TABLE", "big_orders"),
        ("big_orders", "READ", "orders"),
        ("pay", "WRITE", "orders"),
        ("", "WRITE", "orders"),
    }


def test_a_comment_names_the_statement_behind_it() -> None:
    text = (
        "-- Name: note; Type: TABLE\n-- name: get-order\nSELECT id FROM orders\n\n-- name: add_order!\n"
        "INSERT INTO orders VALUES (1);\n-- :name gone :! :n\nDELETE FROM orders;\n-- name: a few words\n"
    )
    facts = parse_file("queries/orders.sql", text.encode())
    assert [(d.qualname, d.start_row, d.end_row) for d in facts.definitions] == [
        ("get-order", 1, 2),
        ("add_order", 4, 5),
        ("gone", 6, 7),
    ]
    assert [(each.scope, LinkForm(each.form).name) for each in facts.links] == [(0, "READ"), (1, "WRITE"), (2, "WRITE")]


def test_positions_are_bytes_of_the_file() -> None:
    text = "-- größe\nCREATE TABLE größen (id int);\n".replace("größen", "sizes")
    (table, column) = parse_file("a.sql", text.encode()).definitions
    assert text.encode()[table.start_byte : table.end_byte] == b"CREATE TABLE sizes (id int);"
    assert text.encode()[column.start_byte : column.end_byte] == b"id int"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a FROM b, c AS d JOIN e ON x = y", [("READ", "b"), ("READ", "c"), ("READ", "e")]),
        ("DELETE FROM a WHERE b IN (SELECT c FROM d)", [("WRITE", "a"), ("READ", "d")]),
        ("SELECT 1 FROM a FOR UPDATE SKIP LOCKED", [("READ", "a")]),
        ("INSERT INTO a (b) VALUES (1) ON CONFLICT (b) DO UPDATE SET b = 2", [("WRITE", "a")]),
        ("ALTER TABLE IF EXISTS a ADD COLUMN b int", [("CHANGE", "a")]),
        ("create table of contents", []),
    ],
)
def test_tables_of_a_statement(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(each.form.name, each.name) for each in find_tables(text)] == expected


@pytest.mark.parametrize("text", ["Select an item from the list.", "Update the user", "Delete from cart?", "With care"])
def test_sentences_are_no_statements(text: str) -> None:
    assert not is_statement(text)


def test_queries_in_code() -> None:
    code = '''
# "SELECT a FROM commented"
def pay(db, id):
    """Update users set up long ago."""
    db.execute("UPDATE orders SET paid = 1 "
               "WHERE id = ?", id)
    return db.execute(f"""
        SELECT * FROM customers
        JOIN orders USING (id)
    """)
'''
    found = links_of("shop.py", code)
    assert [each for each in found if each[0] in ("READ", "WRITE")] == [
        ("WRITE", "orders", 4),
        ("READ", "customers", 7),
        ("READ", "orders", 8),
    ]


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("m.py", 'class A(Base):\n    __tablename__ = "as"\n', ("MODEL", "as")),
        ("m.py", 'class A(models.Model):\n    class Meta:\n        db_table = "as"\n', ("MODEL", "as")),
        ("m.rb", "class OrderLine < ApplicationRecord\nend\n", ("CONVENTION", "rails:order_lines")),
        ("M.java", '@Entity\n@Table(name = "as")\nclass A {\n}\n', ("MODEL", "as")),
        ("M.cs", "class C {\n  public DbSet<Order> Orders { get; set; }\n}\n", ("MODEL", "orders=Order")),
        ("m.go", 'func (A) TableName() string {\n\treturn "as"\n}\n', ("MODEL", "as=A")),
        ("m.ts", "@Entity('as')\nexport class A {\n}\n", ("MODEL", "as")),
        ("m.ts", "export const users = pgTable('users', {\n});\n", ("MODEL", "users")),
        ("m.ex", 'defmodule A do\n  schema "as" do\n  end\nend\n', ("MODEL", "as")),
    ],
)
def test_models(path: str, code: str, expected: tuple[str, str]) -> None:
    facts = parse_file(path, code.encode())
    assert expected in [(LinkForm(each.form).name, each.name) for each in facts.links]


def test_environment() -> None:
    assert links_of(".env.example", "DB_HOST=db\n# DB_PORT=1\nlower=2\n") == [
        ("SET_KEY", "DB_HOST", 0),
        ("SET_KEY", "DB_PORT", 1),
    ]
    compose = (
        "services:\n  web:\n    build: ./web\n    environment:\n"
        "      DB_HOST: ${DB_NAME:-db}\n      - A_B=1\n    ports:\n      X_Y: 1\n"
    )
    assert [each for each in links_of("compose.yml", compose) if each[0] != "RUN"] == [
        ("SET_KEY", "DB_HOST", 4),
        ("READ_KEY", "DB_NAME", 4),
        ("SET_KEY", "A_B", 5),
    ]
    job = "env:\n  - name: DB_HOST\n    value: x\nrun: |\n  COUNT=1\n  echo ${COUNT}\n"
    assert [each for each in links_of("job.yaml", job) if each[0] != "RUN"] == [("SET_KEY", "DB_HOST", 1)]
    assert ("ASK_KEY", "DB_HOST", 0) in links_of("settings.py", 'HOST = env.str("DB_HOST")\n')


def test_what_the_language_reads_itself_is_not_asked_for_again() -> None:
    assert links_of("settings.py", 'import os\nHOST = os.environ.get("DB_HOST")\n') == []


def test_texts() -> None:
    english = '{\n  "auth": {\n    "forgot": "Forgot your password?"\n  },\n  "ok": "OK"\n}\n'
    assert links_of("src/locales/en.json", english) == [("HAVE_TEXT", "auth.forgot", 2), ("HAVE_TEXT", "ok", 4)]
    assert links_of("src/locales/de.json", english) == []
    assert links_of("config/locales/en.yml", "en:\n  auth:\n    forgot: Forgot?\n") == [("HAVE_TEXT", "auth.forgot", 2)]
    component = "<template>\n  <p>{{ $t('auth.forgot') }}</p>\n</template>\n<script>\nexport default {}\n</script>\n"
    assert links_of("Login.vue", component) == [("SHOW_TEXT", "auth.forgot", 1)]


def test_schemas_define_what_they_describe() -> None:
    service = "service Cart {\n  rpc AddItem (Item) returns (Empty) {}\n}\n"
    proto = f"{service}message Item {{\n  string id = 1; // message Not {{\n}}\n"
    assert [d.qualname for d in parse_file("a.proto", proto.encode()).definitions] == ["Cart", "Cart.AddItem", "Item"]
    graphql = "type Query {\n  # old(a: Int): B\n  orders(first: Int): [Order!]\n}\ntype Order {\n  id: ID!\n}\n"
    facts = parse_file("a.graphql", graphql.encode())
    assert [d.qualname for d in facts.definitions] == ["Query", "Query.orders", "Order"]
    terraform = 'resource "aws_s3_bucket" "logs" {\n  bucket = var.name\n}\nvariable "name" {}\n'
    facts = parse_file("main.tf", terraform.encode())
    assert [d.qualname for d in facts.definitions] == ["aws_s3_bucket.logs", "var.name"]
    assert links_of("main.tf", terraform) == [("RESOURCE", "var.name", 1)]
    prisma = 'model User {\n  id Int @id\n  @@map("users")\n}\n'
    assert [d.qualname for d in parse_file("a.prisma", prisma.encode()).definitions] == ["User", "User.id"]


def test_operations_of_openapi() -> None:
    text = "openapi: 3.0.0\npaths:\n  /users/{id}:\n    get:\n      summary: x\n"
    assert links_of("api.yaml", text) == [("SERVE", "GET /users/{id}", 3)]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("Dockerfile", "docker"),
        ("Makefile", "make"),
        ("a/package.json", "npm"),
        ("view.html.erb", "template"),
        ("a.c", ""),
    ],
)
def test_kinds_of_files(path: str, kind: str) -> None:
    assert link_kind(path) == kind


def test_secrets_are_in_no_signature() -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    text = f"CREATE TABLE a (k text DEFAULT '{secret}');\n"
    assert all(secret not in each.signature for each in parse_file("a.sql", text.encode()).definitions)
