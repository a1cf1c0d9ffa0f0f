# ruff: noqa: E501
"""Edges of the other ecosystems and of services between hand-made repositories; the expected ones by hand."""

import re
from pathlib import Path

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")

from causalist.fleet.links.coordinates import Package, Requirement, read_manifests
from tests.fleet.test_links import find_links, shorten

pytestmark = pytest.mark.slow

Repositories = dict[str, dict[str, str]]


def test_npm(tmp_path: Path) -> None:
    repositories = {
        "money": {
            "package.json": '{"name": "@acme/money", "version": "3.0.0", "exports": {".": "./src/index.ts"}}',
            "src/index.ts": 'export {format} from "./format";\nexport * from "./rates";\n',
            "src/format.ts": "export function format(n: number) { return `${n}`; }\n",
            "src/rates.ts": "export class Rates { of(code: string) { return 1; } }\n",
        },
        "old": {
            "package.json": '{"name": "left-pad", "version": "1.3.0", "main": "index.js"}',
            "index.js": "module.exports = leftPad;\nfunction leftPad(s) { return s; }\n",
        },
        "shop": {
            "package.json": '{"name": "shop", "private": true, "dependencies": {"@acme/money": "^3", "pad": "npm:left-pad@1"}}',
            "src/cart.ts": (
                'import {format, Rates} from "@acme/money";\nimport pad from "left-pad";\n'
                'export function total() {\n  return pad(format(new Rates().of("EUR")));\n}\n'
            ),
        },
    }  # fmt: skip
    total = "shop:src/cart.ts::total"
    assert shorten(find_links(tmp_path, repositories)) == {
        ("shop:src/cart.ts", "package-import", "money:src/index.ts", 1),
        ("shop:src/cart.ts", "package-import", "old:index.js", 2),
        ("shop:src/cart.ts", "symbol-import", "money:src/format.ts::format", 1),
        ("shop:src/cart.ts", "symbol-import", "money:src/rates.ts::Rates", 1),
        ("shop:src/cart.ts", "symbol-import", "old:index.js::leftPad", 2),
        (total, "symbol-call", "money:src/format.ts::format", 4),
        (total, "symbol-call", "money:src/rates.ts::Rates", 4),
        (total, "symbol-call", "money:src/rates.ts::Rates.of", 4),
        (total, "symbol-call", "old:index.js::leftPad", 4),
    }


def test_go(tmp_path: Path) -> None:
    repositories = {
        "kit": {
            "go.mod": "module example.org/kit\n\ngo 1.22\n",
            "log/log.go": "package log\n\ntype Logger struct{}\n\nfunc New() *Logger { return nil }\n\nfunc (l *Logger) Info(s string) {}\n",
        },
        "app": {
            "go.mod": "module example.org/app\n\nrequire example.org/kit v1.2.0\n",
            "main.go": 'package main\n\nimport (\n\t"fmt"\n\t"example.org/kit/log"\n)\n\nfunc main() {\n\tfmt.Println(log.New())\n}\n',
        },
    }  # fmt: skip
    assert shorten(find_links(tmp_path, repositories)) == {
        ("app:main.go", "package-import", "kit:log/log.go", 5),
        ("app:main.go::main", "symbol-call", "kit:log/log.go::New", 9),
    }


def test_java(tmp_path: Path) -> None:
    repositories = {
        "lib": {
            "pom.xml": "<project><groupId>org.acme</groupId><artifactId>lib</artifactId><version>2.0</version></project>",
            "src/main/java/org/acme/lib/Price.java": (
                "package org.acme.lib;\n\npublic class Price {\n  public static Price of(int n) { return null; }\n"
                "  public int cents() { return 1; }\n}\n"
            ),
        },
        "app": {
            "pom.xml": (
                "<project><groupId>org.acme</groupId><artifactId>app</artifactId><dependencies><dependency>"
                "<groupId>org.acme</groupId><artifactId>lib</artifactId><version>2.0</version>"
                "</dependency></dependencies></project>"
            ),
            "src/main/java/org/acme/app/Cart.java": (
                "package org.acme.app;\n\nimport java.util.List;\nimport org.acme.lib.Price;\n\n"
                "class Cart {\n  int total(Price p) {\n    return Price.of(3).cents();\n  }\n}\n"
            ),
        },
    }
    cart, price = "app:src/main/java/org/acme/app/Cart.java", "lib:src/main/java/org/acme/lib/Price.java"
    rows = find_links(tmp_path, repositories)
    assert shorten(rows) == {
        (cart, "package-import", price, 4),
        (cart, "symbol-import", f"{price}::Price", 4),
        (f"{cart}::Cart.total", "symbol-use", f"{price}::Price", 7),
        (f"{cart}::Cart.total", "symbol-call", f"{price}::Price.of", 8),
    }
    assert {(row["package"], row["version"]) for row in rows} == {("org.acme:lib", "2.0")}


def test_a_class_of_dotnet_and_of_php(tmp_path: Path) -> None:
    repositories: Repositories = {
        "cs": {
            "Acme.Money.csproj": "<Project><PropertyGroup><Version>4.0</Version></PropertyGroup></Project>",
            "Rate.cs": "namespace Acme.Money;\n\npublic class Rate {\n  public static int Of(string c) { return 1; }\n}\n",
        },
        "csapp": {
            "App.csproj": '<Project><ItemGroup><PackageReference Include="Acme.Money" Version="4.*" /></ItemGroup></Project>',
            "Cart.cs": "using System;\nusing Acme.Money;\n\nnamespace App;\n\nclass Cart {\n  int Total() { return Rate.Of(\"EUR\"); }\n}\n",
        },
        "php": {
            "composer.json": '{"name": "acme/mail", "autoload": {"psr-4": {"Acme\\\\Mail\\\\": "src/"}}}',
            "src/Sender.php": "<?php\nnamespace Acme\\Mail;\n\nclass Sender {\n  public function send() {}\n}\n",
        },
        "phpapp": {
            "composer.json": '{"name": "acme/app", "require": {"acme/mail": "^1"}}',
            "src/App.php": "<?php\nnamespace App;\n\nuse Acme\\Mail\\Sender;\n\nclass App {\n  function run() { $s = new Sender(); }\n}\n",
        },
    }  # fmt: skip
    found = shorten(find_links(tmp_path, repositories))
    assert ("csapp:Cart.cs::Cart.Total", "symbol-call", "cs:Rate.cs::Rate.Of", 7) in found
    assert ("phpapp:src/App.php::App.run", "symbol-call", "php:src/Sender.php::Sender", 7) in found
    assert ("phpapp:src/App.php", "symbol-import", "php:src/Sender.php::Sender", 4) in found
    assert {(source.partition(":")[0], target.partition(":")[0]) for source, _, target, _ in found} == {
        ("csapp", "cs"),
        ("phpapp", "php"),
    }


def test_rust_and_ruby(tmp_path: Path) -> None:
    repositories: Repositories = {
        "crate": {
            "Cargo.toml": '[package]\nname = "fast-hash"\nversion = "0.3.1"\n',
            "src/lib.rs": "pub mod seed;\npub use seed::Seed;\n\npub fn hash(x: u8) -> u8 { x }\n",
            "src/seed.rs": "pub struct Seed;\n\nimpl Seed {\n    pub fn new() -> Seed { Seed }\n}\n",
        },
        "tool": {
            "Cargo.toml": '[package]\nname = "tool"\nversion = "1.0.0"\n\n[dependencies]\nfast-hash = "0.3"\n',
            "src/main.rs": "use fast_hash::{hash, Seed};\n\nfn main() {\n    Seed::new();\n    hash(1);\n}\n",
        },
        "gem": {
            "courier.gemspec": 'Gem::Specification.new do |s|\n  s.name = "courier"\n  s.version = "2.0"\nend\n',
            "lib/courier.rb": "module Courier\n  def self.deliver(x)\n    x\n  end\nend\n",
        },
        "site": {
            "Gemfile": 'gem "courier", "~> 2.0"\n',
            "app.rb": 'require "courier"\n\nclass App\n  def run\n    Courier.deliver(1)\n  end\nend\n',
        },
    }
    found = shorten(find_links(tmp_path, repositories))
    assert ("tool:src/main.rs", "symbol-import", "crate:src/lib.rs::hash", 1) in found
    assert ("tool:src/main.rs", "symbol-import", "crate:src/seed.rs::Seed", 1) in found
    assert ("tool:src/main.rs::main", "symbol-call", "crate:src/lib.rs::hash", 5) in found
    assert ("site:app.rb", "package-import", "gem:lib/courier.rb", 1) in found
    assert ("site:app.rb::App.run", "symbol-call", "gem:lib/courier.rb::Courier.deliver", 5) in found


_API = {
    "app.py": (
        "from flask import Flask\n\napp = Flask(__name__)\n\n\n"
        "@app.get('/orders/<int:n>')\ndef order(n):\n    return n\n\n\n"
        "@app.get('/health')\ndef health():\n    return 'ok'\n"
    )
}


@pytest.mark.parametrize(
    ("call", "rules"),
    [
        ("requests.get('http://orders:8080/orders/' + str(n))", ["http-route"]),
        ("requests.get(f'{ORDERS_URL}/orders/{n}')", ["http-route"]),
        ("requests.get(f'/api/orders-api/orders/{n}')", ["http-route"]),
        ("requests.get('http://orders/health')", ["http-route"]),
        ("requests.get(f'/orders/{n}')", ["http-path"]),
        ("requests.get(f'https://api.github.com/health')", []),
        ("requests.get('https://github.com/acme/orders/orders/1')", []),
        ("requests.get('/health')", []),
        ("requests.post('http://orders/orders/1')", []),
        ("log('http://orders/orders/1 is slow')", []),
    ],
)
def test_a_request_leads_to_the_route_that_it_asks_for(tmp_path: Path, call: str, rules: list[str]) -> None:
    shop = {"shop.py": f"import requests\n\n\ndef load(n):\n    return {call}\n"}
    rows = find_links(tmp_path, {"orders": _API, "shop": shop})
    assert [row["rule"] for row in rows] == rules
    assert {row["source"] for row in rows} <= {"shop.py::load"}
    assert {row["target"] for row in rows} <= {"app.py::order", "app.py::health"}


_CATALOG = {"app.py": "from flask import Flask\n\napp = Flask(__name__)\n\n\n" + "".join(
    f"@app.route('{path}', methods=['{method}'])\ndef {name}(n=0):\n    return n\n\n\n"
    for path, method, name in (("/goods/<n>", "GET", "good"), ("/goods", "POST", "add"), ("/", "GET", "front"))
)}  # fmt: skip


# (file, its text, the route that the function f asks for)
_REQUESTS = [
    ("a.py", "U = 'http://{}/goods'.format(os.environ.get('CATALOG_ADDR'))\n\n\ndef f():\n    requests.post(url=U)\n", "add"),
    ("a.py", "app.config['A_URI'] = 'http://catalog/goods'\n\n\ndef f(n):\n    u = '{}/{}'.format(app.config['A_URI'], n)\n    return get(url=u)\n", "good"),
    ("a.py", "def g():\n    u = 'http://catalog/goods'\n\n\ndef f(u):\n    requests.post(u)\n", None),
    ("a.py", "class Buyer(HttpUser):\n    def f(self):\n        self.client.get('/')\n", "front"),
    ("a.js", "const base = process.env.CATALOG_URL || 'http://localhost:1';\nfunction f(n) { return axios.get(`${base}/goods/${n}`); }\n", "good"),
    ("a.js", "function f(d) { return fetch('/shop/goods', {method: 'POST', body: d}); }\n", "add"),
    ("a.go", 'package a\n\nfunc f() {\n\tu := fmt.Sprintf("%s/goods", os.Getenv("CATALOG_URL"))\n\thttp.NewRequest("POST", u, nil)\n}\n', "add"),
    ("a.go", 'package a\n\nfunc f(n string) {\n\tu := fmt.Sprintf("http://%s/goods/%s", addr, n)\n\thttp.Get(u)\n}\n', None),
    ("a.php", "<?php\nfunction f($n) {\n  $u = sprintf('%s/goods/%s', getenv('CATALOG_URL'), $n);\n  return curl_init($u);\n}\n", "good"),
    ("A.java", 'class A {\n  @Value("http://${CATALOG_ADDR}/goods")\n  private String goods;\n  void f() { rest.postForObject(goods, 1); }\n}\n', "add"),
    ("A.java", 'class A {\n  @Value("${shop.stock}")\n  private String stock;\n  void f(int n) { rest.getForObject(stock + "/goods/" + n); }\n}\n', "good"),
    ("a.cs", 'class A { void f(int n) { var u = Environment.GetEnvironmentVariable("CATALOG_URL"); client.GetAsync($"{u}/goods/{n}"); } }\n', "good"),
    ("a.rb", "def f(n)\n  u = \"#{ENV['CATALOG_URL']}/goods/#{n}\"\n  HTTParty.get(u)\nend\n", "good"),
]  # fmt: skip


def test_the_addresses_of_requests_are_followed(tmp_path: Path) -> None:
    settings = {
        "Dockerfile": 'ENTRYPOINT locust --host="http://${CATALOG_ADDR}" --headless\n',
        "application.yml": "shop:\n  stock: http://catalog:8080\n",
        "nginx.conf": "server {\n  location /shop/ {\n    proxy_pass http://catalog:8080/;\n  }\n}\n",
    }
    users = {f"user{i}": {path: text, **settings} for i, (path, text, _) in enumerate(_REQUESTS)}
    # A second service with the same routes: the path alone does not tell.
    rows = find_links(tmp_path, {"catalog": _CATALOG, **users, "mirror": _CATALOG})
    for i, (_, text, target) in enumerate(_REQUESTS):
        found = [row for row in rows if row["source_repository"] == f"user{i}" and re.search(r"f$", row["source"])]
        expected = {("catalog", f"app.py::{target}")} if target else set()
        assert {(row["target_repository"], row["target"]) for row in found} == expected, text


_ONE_PATH = {"a.py": "def f(n):\n    requests.get(f'http://orders/orders/{n}')\n"}
_IMAGE = {"Dockerfile": "FROM x/orders\n", **_ONE_PATH}
_THREE_PATHS = {"a.py": "".join(
    f"def f{i}(n):\n    requests.get(f'http://orders/{path}')\n\n\n" for i, path in enumerate(("orders/{n}", "b/orders/{n}", "health"))
)}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "files", "n"),
    [("x/shop", _ONE_PATH, 1), ("y/shop", _ONE_PATH, 0), ("y/shop", _IMAGE, 1), ("y/shop", _THREE_PATHS, 3)],
)
def test_one_path_says_nothing_between_repositories_of_other_owners(
    tmp_path: Path, name: str, files: dict[str, str], n: int
) -> None:
    compose = {"compose.yaml": "services:\n  orders:\n    build: .\n    image: x/orders:1\n"}
    rows = find_links(tmp_path, {"x/orders": _API | compose, name: files})
    assert sum(row["rule"] == "http-route" for row in rows) == n


def test_a_route_of_the_repository_itself_goes_first(tmp_path: Path) -> None:
    folder = {f"orders/{path}": text for path, text in {**_API, "Dockerfile": "FROM a\n"}.items()}
    shop = {
        **folder,
        "a.py": "def f(n):\n    requests.get(f'/web/orders/{n}')\n    requests.get(f'http://orders/orders/{n}')\n",
    }
    assert find_links(tmp_path, {"orders": _API, "shop": shop}) == []


def test_the_host_of_a_setting_may_be_in_another_repository(tmp_path: Path) -> None:
    user = {"a.py": "def f():\n    return requests.get(f\"http://{os.environ['PRICES_ADDR']}/goods/1\")\n"}
    repositories = {"catalog": _CATALOG, "mirror": _CATALOG, "user": user}
    assert find_links(tmp_path / "a", repositories) == []
    settings = {"config.yaml": "kind: ConfigMap\ndata:\n  PRICES_ADDR: catalog:8080\n"}
    rows = find_links(tmp_path / "b", {**repositories, "settings": settings})
    assert [(row["target_repository"], row["target"]) for row in rows] == [("catalog", "app.py::good")]


def test_a_request_leads_to_an_operation_where_no_code_handles_it(tmp_path: Path) -> None:
    document = "openapi: 3.0.0\nservers:\n  - url: https://goods.example.org/v1\npaths:\n  /goods/{n}:\n    get:\n      summary: one\n"
    user = {"a.py": "def f(n):\n    return requests.get(f'http://goods/v1/goods/{n}')\n"}
    rows = find_links(tmp_path / "a", {"goods-api": {"openapi.yaml": document}, "user": user})
    assert [(row["target"], row["rule"]) for row in rows] == [("openapi.yaml", "http-operation")]
    rows = find_links(tmp_path / "b", {"specs": {"openapi.yaml": document}, "goods": {
        "app.py": "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.get('/v1/goods/<n>')\ndef one(n):\n    return n\n"}, "user": user})  # fmt: skip
    assert [(row["target_repository"], row["target"], row["rule"]) for row in rows] == [
        ("goods", "app.py::one", "http-route")
    ]


def test_remote_procedures_topics_images_workflows_and_submodules(tmp_path: Path) -> None:
    repositories: Repositories = {
        "acme/cart": {
            "README.md": "# Cart\n",
            "main.go": (
                "package main\n\ntype server struct{}\n\n"
                "func main() {\n\tpb.RegisterCartServiceServer(srv, &server{})\n}\n"
            ),
            "compose.yaml": "services:\n  cart:\n    build: .\n    image: ghcr.io/acme/cart:1\n  db:\n    image: redis:7\n",
            ".github/workflows/build.yml": "on:\n  workflow_call:\njobs: {}\n",
            "mail.py": "consumer = KafkaConsumer('orders.placed')\n",
        },
        "acme/shop": {
            "shop.py": (
                "def cart(channel):\n    return demo_pb2_grpc.CartServiceStub(channel)\n\n\n"
                "def place(producer):\n    producer.send('orders.placed', b'1')\n"
            ),
            "Dockerfile": "FROM python:3.12 AS base\nFROM ghcr.io/acme/cart:1\n",
            ".github/workflows/ci.yml": "jobs:\n  a:\n    uses: acme/cart/.github/workflows/build.yml@main\n",
            ".gitmodules": (
                '[submodule "cart"]\n\tpath = cart\n\turl = https://git.example.org/ACME/Cart.git\n'
                '[submodule "mail"]\n\tpath = mail\n\turl = ../mail\n'
            ),
        },
        "acme/mail": {"README.md": "# Mail\n", "lib/.gitmodules": '[submodule "c"]\n\tpath = c\n\turl = ../cart\n'},
        "other/mail": {"README.md": "# Mail\n"},
    }  # fmt: skip
    assert shorten(find_links(tmp_path, repositories)) == {
        ("acme/shop:shop.py::cart", "rpc-service", "acme/cart:main.go::main", 2),
        ("acme/shop:shop.py::place", "topic", "acme/cart:mail.py::consumer", 6),
        ("acme/shop:Dockerfile", "docker-image", "acme/cart:compose.yaml", 2),
        ("acme/shop:.github/workflows/ci.yml", "workflow", "acme/cart:.github/workflows/build.yml", 3),
        ("acme/shop:.gitmodules", "submodule", "acme/cart:README.md", 3),
        ("acme/shop:.gitmodules", "submodule", "acme/mail:README.md", 6),
    }


_GENERATED = "// Code generated by protoc-gen-go-grpc. DO NOT EDIT.\npackage pb\n\n"

# (repository, file, text): what offers, and what asks; the expected edges are below.
_NAMED: list[tuple[str, str, str]] = [
    ("offers", "pb/a_grpc.pb.go", _GENERATED + "func NewRateClient(cc conn) RateClient { return RegisterRateServer(cc) }\n"),
    ("asks", "pb/a_grpc.pb.go", _GENERATED + "func f(s srv) {\n\tpb.RegisterRateServer(s, nil)\n\tpb.RegisterGoServer(s, nil)\n}\n"),
    ("offers", "Rate.java", "class Rate extends RateGrpc.RateImplBase {}\n"),
    ("asks", "rate.go", "package a\n\nfunc f() {\n\tpb.NewRateClient(conn)\n}\n"),
    ("offers", "go.go", "package a\n\nfunc main() {\n\tpb.RegisterGoServer(s, nil)\n\tpb.RegisterHealthServer(s, nil)\n}\n"),
    ("asks", "health.go", "package a\n\nfunc g() {\n\tpb.NewHealthClient(conn)\n\thttp.NewGoneClient(x)\n}\n"),
    ("asks", "go.ts", "const go = new GoServiceClient(ADDR, ChannelCredentials.createInsecure());\n"),
    ("offers", "cash.cpp", "class Cash final : public shop::CashService::Service {\n};\n"),
    ("asks", "Cash.cs", "class A { void F() { services.AddGrpcClient<Cash.CashClient>(o => o.Address = x); } }\n"),
    ("offers", "Place.kt", "@GrpcService\nclass PlaceService(val a: A) : PlacesImplBase() {}\n"),
    ("asks", "Place.java", "class B {\n  B(@GrpcClient(\"places\") Places places) {}\n}\n"),
    ("offers", "Q.java", "class Q {\n  static final String QUEUE = \"paid-task\";\n  void g() { rabbit.setQueueNames(QUEUE); }\n}\n"),
    ("asks", "S.java", "class S {\n  void f() { rabbitTemplate.convertAndSend(\"exchange\", Names.PAID, 1); }\n}\n"),
    ("asks", "Names.java", "class Names {\n  static final String PAID = \"paid-task\";\n}\n"),
    ("offers", "k.ts", "import {EventPattern} from '@nestjs/microservices';\nclass K {\n  @EventPattern(GiftReady.name)\n  on() {}\n}\n"),
    ("asks", "k.ts", "import {ClientProxy} from '@nestjs/microservices';\nclass L {\n  go() { this.bus.emit(GiftReady.name, 1); }\n}\n"),
    ("offers", "T.java", "@KafkaListener\nclass T {\n  @Topic(\"policy-made\")\n  void on() {}\n}\n"),
    ("asks", "U.java", "@KafkaClient\ninterface U {\n  @Topic(\"policy-made\")\n  void send();\n}\n"),
    ("offers", "Bus.cs", "class Bus { void F() { bus.AddSubscription<PaidEvent, PaidHandler>(); bus.AddSubscription<LostEvent, LostHandler>(); } }\n"),
    ("asks", "Pay.cs", "class Pay { async Task F() {\n  Event e;\n  if (a) { e = new PaidEvent(1); } else { e = new LostEvent(1); }\n  await eventBus.PublishAsync(e);\n} }\n"),
    ("offers", "fights/I.java", "import reactive.messaging.Incoming;\nclass I {\n  @Incoming(\"inside\")\n  void on() {}\n}\n"),
    ("offers", "application.properties", "mp.messaging.incoming.inside.topic=fights\n"),
    ("asks", "O.java", "import reactive.messaging.Channel;\nclass O {\n  O(@Channel(\"fights\") MutinyEmitter<A> out) {}\n}\n"),
    ("offers", "go_main.go", "package a\n\nfunc main() {\n\trabbit.Consume(\"paid.later\", \"\", true)\n}\n"),
    ("asks", "rabbit.py", "import pika\n\nclass P:\n    KEY = 'paid.later'\n\n    def f(self):\n        self.c.basic_publish(exchange=self.X,\n                             routing_key=self.KEY)\n"),
    ("offers", "Made.cs", "class MadeHandler : IConsumer<UserMade> {}\n"),
    ("asks", "Make.cs", "class M { async Task F() { await dispatcher.SendAsync(new UserMade(1)); } }\n"),
    # Neither a broker nor a constant of one value.
    ("offers", "n.rb", "ActiveSupport::Notifications.subscribe('gone.away') { |e| e }\n"),
    ("asks", "n.js", "const kafka = 1;\nlet topic = 'gone.away';\nif (a) topic = 'other.one';\nproducer.send(topic, 1);\nproducer.send('gone.away', 1);\n"),
    ("offers", "schema.sql", "CREATE TABLE shop.orders (id int);\nCREATE TABLE shop (id int);\n"),
    ("asks", "o.py", "def f(db):\n    db.execute('SELECT id FROM shop.orders WHERE id = 1')\n"),
]  # fmt: skip


def test_names_are_followed_through_constants_properties_and_types(tmp_path: Path) -> None:
    repositories: Repositories = {"offers": {}, "asks": {}}
    for repository, path, text in _NAMED:
        repositories[repository][path] = text
    rows = find_links(tmp_path, repositories)
    found = {(row["source"].partition("::")[0], row["rule"], row["target"].partition("::")[0]) for row in rows}
    assert found == {
        ("rate.go", "rpc-service", "Rate.java"),
        ("go.ts", "rpc-service", "go.go"),
        ("Cash.cs", "rpc-service", "cash.cpp"),
        ("Place.java", "rpc-service", "Place.kt"),
        ("S.java", "topic", "Q.java"),
        ("k.ts", "topic", "k.ts"),
        ("U.java", "topic", "T.java"),
        ("Pay.cs", "topic", "Bus.cs"),
        ("O.java", "topic", "fights/I.java"),
        ("rabbit.py", "topic", "go_main.go"),
        ("Make.cs", "topic", "Made.cs"),
        ("o.py", "sql-table", "schema.sql"),
    }


def test_images_of_pipelines_and_tables_of_schemas(tmp_path: Path) -> None:
    repositories: Repositories = {
        "acme/cart": {"docker/Dockerfile": "FROM python:3\n", "test/Dockerfile": "FROM python:3\n", "a.sh": "cd .\n"},
        "acme/redis": {"Dockerfile": "FROM python:3\n"},
        "acme/stock": {"compose.yaml": "services:\n  stock:\n    build: .\n    image: depot/stock\n"},
        "other/books": {"Dockerfile": "FROM python:3\n"},
        "acme/deploy": {
            "all.yaml": "\n".join(f"- image: {each}" for each in ("acme/cart:1", "redis:7", "depot/books", "no/books", "x/cart")),
        },
        "acme/base": {"schema.sql": "CREATE TABLE sales.orders (\n  id int\n);\nCREATE TABLE parcels (\n  id int\n);\n"},
        "acme/orders": {"Order.java": "@Table(name = \"ORDERS\")\nclass Order {}\n"},
        "acme/parcels": {"db.py": "def f(meta):\n    return Table('parcels', metadata)\n"},
        "far/away": {
            "Parcel.java": "@Table(name = \"parcels\")\nclass Parcel {}\n",
            "db/migrate/1_make.rb": "class Make\n  def up\n    create_table :journeys do |t|\n    end\n  end\nend\n",
        },
    }  # fmt: skip
    rows = find_links(tmp_path, repositories)
    assert sorted((row["source_repository"], row["rule"], row["target_repository"], row["target"]) for row in rows) == [
        ("acme/deploy", "docker-image", "acme/cart", "docker/Dockerfile"),
        ("acme/deploy", "docker-image", "other/books", "Dockerfile"),
        ("acme/orders", "sql-table", "acme/base", "schema.sql::orders"),
        ("acme/parcels", "sql-table", "acme/base", "schema.sql::parcels"),
    ]


def test_manifests_of_all_ecosystems() -> None:
    files = {
        "a/pyproject.toml": '[tool.poetry]\nname = "A.b"\nversion = "1"\n[tool.poetry.dependencies]\npython = "^3"\nx = "^2"\n',
        "a/a_b/__init__.py": "",
        "b/setup.py": "V = '2'\nsetup(name='b', version=V, install_requires=['c>=1'], py_modules=['b_one'])\n",
        "b/b_one.py": "",
        "g/build.gradle": 'group = "org.acme"\nversion = "9"\ndependencies { implementation("com.x:y:1.0") }\n',
        "r/Gemfile": 'gem "rack", ">= 2"\n',
        "node_modules/z/package.json": '{"name": "z"}',
        "bad/package.json": "{",
        "bad/pyproject.toml": "[[",
        "bad/setup.py": "setup(",
    }
    found = read_manifests(list(files), files.__getitem__)
    assert found.packages == [
        Package("maven", "org.acme:g", "9", "g", "g/build.gradle", 0),
        Package("pypi", "a-b", "1", "a", "a/pyproject.toml", 1, (("a_b", "a/a_b"),)),
        Package("pypi", "b", "2", "b", "b/setup.py", 1, (("b_one", "b/b_one.py"),)),
    ]
    assert found.requirements == [
        Requirement("maven", "com.x:y", "1.0", "g/build.gradle", 2),
        Requirement("pypi", "c", ">=1", "b/setup.py", 1),
        Requirement("pypi", "x", "^2", "a/pyproject.toml", 5),
        Requirement("rubygems", "rack", ">= 2", "r/Gemfile", 0),
    ]
