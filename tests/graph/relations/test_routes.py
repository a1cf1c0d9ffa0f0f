"""Routes and events across files: full paths, handlers, requests and emitters. Paths are worked by hand from what the
documentation of each framework says of prefixes and mounts."""

from collections.abc import Mapping

import pytest

from causalist.graph import build_graph, relink
from causalist.graph.relations.route_paths import join_path
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.navigate import list_routes, references_to
from causalist.parse import load_settings, parse_file
from tests.indexes import differences

EXPRESS = {
    "server.js": """
const express = require('express');
const users = require('./routes/users');
const app = express();
app.use('/api', users);
app.use('/shop', require('./routes/pay'));
app.get('/health', (req, res) => {
  res.end();
});
cache.get('/not-a-route');
// app.get('/commented', users.show)
""",
    "routes/users.js": """
const router = require('express').Router();
const control = require('../control');
router.get('/users/:id', log, control.show);
router.route('/users').get(control.list).post(control.create);
module.exports = router;
""",
    "routes/pay.js": """
module.exports = (app) => {
  app.post('/pay', pay);
};
function pay() {}
""",
    "control.js": """
exports.show = function () {};
exports.list = () => {};
exports.create = () => {};
""",
    "client.ts": """
import axios from 'axios';
export function load(id: string) { return axios.get(`/api/users/${id}?full=1`); }
export function pay() { return fetch('/shop/pay', { method: 'POST' }); }
export function elsewhere() { return fetch('https://example.org/api/users'); }
export function unserved() { return axios.get('/api/invoices'); }
""",
}


def graph_of(files: Mapping[str, str]) -> CodeGraph:
    return build_graph(
        [(path, parse_file(path, files[path].encode())) for path in sorted(files)], load_settings()
    ).graph


def served(files: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return [(each.method, each.path, each.handler) for each in list_routes(graph_of(files))]


def requests(files: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what asks for each route, by the method and path of the route."""
    return {f"{each.method} {each.path}": list(each.requests) for each in list_routes(graph_of(files)) if each.requests}


@pytest.mark.slow
def test_express_below_the_mounts_of_other_files() -> None:
    assert served(EXPRESS) == [
        ("GET", "/api/users", "control.js::list"),
        ("POST", "/api/users", "control.js::create"),
        ("GET", "/api/users/:id", "control.js::show"),
        ("GET", "/health", "server.js::get /health"),
        ("POST", "/shop/pay", "routes/pay.js::pay"),
    ]


def test_requests_lead_to_the_routes_that_fit() -> None:
    assert requests(EXPRESS) == {"GET /api/users/:id": ["client.ts::load"], "POST /shop/pay": ["client.ts::pay"]}


def test_an_object_says_method_and_path_of_a_request() -> None:
    described = """
export function find(id) { return axios({ url: '/api/users/' + id }); }
export function pay() { return request({ data: { method: 'cash' }, url: `/shop/pay`, method: 'post' }); }
export const typed = () => request<User>({ url: '/api/users', method: 'GET' });
export function old() { $.ajax({ type: "POST", url: "/api/users", success: done }); }
it('pays', () => { cy.request({ method: 'POST', url: '/shop/pay' }); });
export function put() { return fetchApi.put('/shop/pay', data); }
"""
    found = requests({**EXPRESS, "client.ts": described})
    assert found == {
        "GET /api/users": ["client.ts::typed"],
        "POST /api/users": ["client.ts::old"],
        "GET /api/users/:id": ["client.ts::find"],
        "POST /shop/pay": ["client.ts::it pays", "client.ts::pay"],
    }
    assert len(served({**EXPRESS, "client.ts": described})) == len(served(EXPRESS))


def test_uses_of_a_handler_include_its_route_and_what_asks_for_it() -> None:
    graph = graph_of(EXPRESS)
    uses = references_to(graph, graph.nodes.ids.position("control.js::show"))
    assert [(use.source, use.rule) for use in uses if use.kind == "routes"] == [
        ("external:route:GET /api/users/:id", "route"),
        ("client.ts::load", "request"),
    ]


def test_a_router_made_and_exported_in_one_chain() -> None:
    files = {
        "main.ts": "import express from 'express';\nimport routes from './routes';\nexpress().use(routes);\n",
        "routes.ts": (
            "import { Router } from 'express';\nimport tags from './tags';\n"
            "const api = Router().use(tags);\nexport default Router().use('/api', api);\n"
        ),
        "tags.ts": "import { Router } from 'express';\nconst router = Router();\nrouter.get('/tags', list);\n"
        "function list() {}\nexport default router;\n",
    }
    assert served(files) == [("GET", "/api/tags", "tags.ts::list")]


def test_koa_prefixes_and_constants() -> None:
    files = {
        "notes.ts": """
import Router from 'koa-router';
import { show, make } from './control';
const base = '/v1';
export const notes = new Router({ prefix: '/notes' });
notes.get('/:id', guard, show);
notes.post(`${base}/all`, make);
""",
        "control.ts": "export function show() {}\nexport function make() {}\n",
    }
    assert served(files) == [("GET", "/notes/:id", "control.ts::show"), ("POST", "/notes/v1/all", "control.ts::make")]


def test_fastify_plugins_and_folders() -> None:
    files = {
        "app.ts": """
import autoload from '@fastify/autoload';
import users from './users';
export default async function serve(fastify) {
  await fastify.register(users, { prefix: '/v1' });
  fastify.register(autoload, { dir: path.join(import.meta.dirname, 'routes') });
  fastify.route({ method: 'PUT', url: '/one', handler: one });
}
function one() {}
""",
        "users.ts": (
            "export default async function plugin(fastify) {\n  fastify.get('/users', list);\n}\nfunction list() {}\n"
        ),
        "routes/tasks/index.ts": (
            "export default async function plugin(fastify) {\n  fastify.delete('/:id', drop);\n}\nfunction drop() {}\n"
        ),
    }
    assert served(files) == [
        ("PUT", "/one", "app.ts::one"),
        ("DELETE", "/tasks/:id", "routes/tasks/index.ts::drop"),
        ("GET", "/v1/users", "users.ts::list"),
    ]


def test_hono_routes_below_another_application() -> None:
    files = {
        "index.ts": (
            "import { Hono } from 'hono';\nimport { books } from './books';\nconst app = new Hono().basePath('/api');\n"
            "app.route('/books', books);\napp.all('/ping', pong);\nfunction pong() {}\n"
        ),
        "books.ts": (
            "import { Hono } from 'hono';\nexport const books = new Hono();\nbooks.get('/', list);\n"
            "books.get('/:id', show);\nfunction list() {}\nfunction show() {}\n"
        ),
    }
    assert served(files) == [
        ("GET", "/api/books", "books.ts::list"),
        ("GET", "/api/books/:id", "books.ts::show"),
        ("ANY", "/api/ping", "index.ts::pong"),
    ]


def test_nest_controllers_below_the_global_prefix() -> None:
    files = {
        "main.ts": "const app = await NestFactory.create(M);\napp.setGlobalPrefix('api');\n",
        "cats.ts": """
import { Controller, Get, Post } from '@nestjs/common';
@Controller('cats')
export class CatsController {
  @Get()
  all() {}

  @UseGuards(Auth)
  @Post(':id/feed')
  async feed() {}

  helper() {}
}
""",
    }
    assert served(files) == [
        ("GET", "/api/cats", "cats.ts::CatsController.all"),
        ("POST", "/api/cats/:id/feed", "cats.ts::CatsController.feed"),
    ]
    feed = "{ path: 'cats/:id/feed', method: RequestMethod.POST }"
    for left_out, expected in (
        (feed, ["/api/cats", "/cats/:id/feed"]),
        (feed.replace("POST", "GET"), ["/api/cats", "/api/cats/:id/feed"]),
        ("'cats', 'dogs'", ["/api/cats/:id/feed", "/cats"]),
        ("'cats/(.*)'", ["/api/cats", "/cats/:id/feed"]),
        ("'{*all}'", ["/cats", "/cats/:id/feed"]),
    ):
        files["main.ts"] = f"app.setGlobalPrefix('api', {{ exclude: [{left_out}] }});\n"
        assert paths(files) == expected


def test_versions_in_paths_of_nest() -> None:
    """Of a method before its class before the program; several are several paths, and a neutral one has none."""
    controller = """
@Controller({{ path: '{path}'{more} }})
export class {name} {{
  @Get('own') @Version('3') own() {{}}
  @Get() all() {{}}
}}
"""
    files = {
        "cats.ts": controller.format(path="cats", more="", name="Cats"),
        "dogs.ts": controller.format(path="dogs", more=", version: ['1', '2']", name="Dogs"),
        "ping.ts": controller.format(path="ping", more=", version: VERSION_NEUTRAL", name="Ping"),
    }
    enabled = "app.setGlobalPrefix('api');\napp.enableVersioning({main});\n"
    usual = "{ defaultVersion: '1', type: VersioningType.URI }"
    assert paths({**files, "main.ts": enabled.format(main=usual)}) == [
        "/api/ping", "/api/v1/cats", "/api/v1/dogs", "/api/v2/dogs", "/api/v3/cats/own", "/api/v3/dogs/own",
        "/api/v3/ping/own",
    ]  # fmt: skip
    cats = {"cats.ts": files["cats.ts"]}
    assert paths({**cats, "main.ts": "app.enableVersioning();\n"}) == ["/cats", "/v3/cats/own"]
    assert paths({**cats, "main.ts": "app.enableVersioning({ prefix: 'version-' });"}) == [
        "/cats", "/version-3/cats/own",
    ]  # fmt: skip
    in_header = "{ type: VersioningType.HEADER, header: 'V', defaultVersion: '1' }"
    assert paths({**cats, "main.ts": f"app.enableVersioning({in_header});"}) == ["/cats", "/cats/own"]


def paths(files: dict[str, str]) -> list[str]:
    return sorted({path for _, path, _ in served(files)})


FLASK = {
    "app/__init__.py": "",
    "app/users/__init__.py": "from .views import bp\n",
    "app/users/views.py": '''
from unittest import mock
from flask import Blueprint
bp = Blueprint("users", __name__, url_prefix="/people")

@bp.route("/", defaults={"id": 1})
@bp.route("/<int:id>", methods=["GET", "DELETE"])
@login_required
def show(id):
    """@bp.route("/in-a-string")"""
    return {}.get("/no-route")

@mock.patch("/etc/passwd")
def other():
    pass
''',
    "app/main.py": """
from app.users import bp
from app.other import bp as other
app = Flask(__name__)
app.register_blueprint(bp)
app.register_blueprint(other, url_prefix="/replaced")
app.add_url_rule("/login", view_func=login)

def login():
    pass
""",
    "app/other.py": (
        'from flask import Blueprint\nbp = Blueprint("o", __name__, url_prefix="/own")\n\n'
        '@bp.get("/x")\ndef x():\n    pass\n'
    ),
    "tests/test_users.py": """
def test_show(client):
    assert client.get("/people/3").ok

def test_delete(self):
    with self.app.test_client() as client:
        client.delete("/people/3")
""",
}


def test_flask_blueprints() -> None:
    assert served(FLASK) == [
        ("GET", "/login", "app/main.py::login"),
        ("GET", "/people/", "app/users/views.py::show"),
        ("DELETE", "/people/<int:id>", "app/users/views.py::show"),
        ("GET", "/people/<int:id>", "app/users/views.py::show"),
        ("GET", "/replaced/x", "app/other.py::x"),
    ]
    assert requests(FLASK) == {
        "GET /people/<int:id>": ["tests/test_users.py::test_show"],
        "DELETE /people/<int:id>": ["tests/test_users.py::test_delete"],
    }


def test_fastapi_routers_and_constants() -> None:
    files = {
        "main.py": """
from api import users
from config import settings
app.include_router(users.router, prefix=settings.API)
""",
        "config.py": 'class Settings:\n    API: str = "/api/v1"\n\nsettings = Settings()\n',
        "api/__init__.py": "",
        "api/users.py": """
from fastapi import APIRouter
router = APIRouter(prefix="/users", tags=["users"])

@router.post("/{id}", response_model=User)
async def change(id: int):
    pass

@router.websocket("/live")
async def live():
    pass
""",
    }
    assert served(files) == [
        ("WS", "/api/v1/users/live", "api/users.py::live"),
        ("POST", "/api/v1/users/{id}", "api/users.py::change"),
    ]


def test_django_lists_and_modules() -> None:
    files = {
        "site/urls.py": """
from django.urls import include, path, re_path
from shop import views
nested = [path("open/", views.open_shop)]
urlpatterns = [
    path("", views.Index.as_view()),
    path("shop/", include("shop.urls")),
    path("nested/", include(nested)),
    path("deep/", include([path("down/", views.open_shop)])),
    re_path(r"^old/(?P<pk>\\d+)/$", views.open_shop),
]
""",
        "shop/urls.py": "from . import views\nurlpatterns = [path('<int:pk>/', views.show, name='show')]\n",
        "shop/views.py": "class Index:\n    pass\n\ndef open_shop(r):\n    pass\n\ndef show(r, pk):\n    pass\n",
    }
    assert served(files) == [
        ("ANY", "/", "shop/views.py::Index"),
        ("ANY", "/deep/down/", "shop/views.py::open_shop"),
        ("ANY", "/nested/open/", "shop/views.py::open_shop"),
        ("ANY", "/old/<pk>/", "shop/views.py::open_shop"),
        ("ANY", "/shop/<int:pk>/", "shop/views.py::show"),
    ]
    many = "".join(f"    path('a{i}/', views.show, name='a-long-name-of-a-route-{i}'),\n" for i in range(90))
    files["site/urls.py"] = f"from shop import views\nurlpatterns = [path('api/', include([\n{many}]))]\n"
    assert {path[:6] for path in paths(files)} == {"/api/a", "/<int:"}


def test_methods_of_class_views_handle_their_routes() -> None:
    """Bases that bring a method of their own stay the handler of it; what no base brings is no route."""
    files = {
        "urls.py": """
from rest_framework import routers
from views import Board, Doors, Keys, Listing, Locks
router = routers.DefaultRouter()
router.register("doors", Doors)
router.register("keys", Keys, basename="key")
urlpatterns = [
    path("board/", Board.as_view()),
    path("listing/", Listing.as_view()),
    path("locks/<pk>/", Locks.as_view({"get": "retrieve", "delete": "destroy"})),
    path("api/", include([*router.urls])),
]
""",
        "views.py": """
class Common(APIView):
    def post(self, request): pass
class Board(Common):
    def get(self, request): pass
class Listing(generics.ListAPIView):
    def delete(self, request): pass
class Doors(viewsets.ReadOnlyModelViewSet):
    def list(self, request): pass
    @action(detail=True, methods=["post", "delete"], url_path="open-it")
    def open(self, request, pk): pass
    @action(detail=False)
    def newest(self, request): pass
class Keys(Mixed, mixins.CreateModelMixin, viewsets.GenericViewSet):
    def perform_create(self, serializer): pass
class Mixed: pass
class Locks(viewsets.ViewSet):
    def retrieve(self, request, pk): pass
    def destroy(self, request, pk): pass
""",
    }
    assert served(files) == [
        ("GET", "/api/doors/", "views.py::Doors.list"),
        ("GET", "/api/doors/newest/", "views.py::Doors.newest"),
        ("GET", "/api/doors/{pk}/", "views.py::Doors"),
        ("DELETE", "/api/doors/{pk}/open-it/", "views.py::Doors.open"),
        ("POST", "/api/doors/{pk}/open-it/", "views.py::Doors.open"),
        ("POST", "/api/keys/", "views.py::Keys"),
        ("GET", "/board/", "views.py::Board.get"),
        ("POST", "/board/", "views.py::Common.post"),
        ("ANY", "/listing/", "views.py::Listing"),
        ("DELETE", "/listing/", "views.py::Listing.delete"),
        ("DELETE", "/locks/<pk>/", "views.py::Locks.destroy"),
        ("GET", "/locks/<pk>/", "views.py::Locks.retrieve"),
    ]


def test_events_lead_from_emitters_to_handlers() -> None:
    files = {
        "save.ts": (
            "import { bus } from './bus';\n"
            "export function save(doc) {\n  bus.emit('saved', doc);\n  bus.emit('close');\n}\n"
        ),
        "mail.ts": (
            "import { bus } from './bus';\nbus.on('saved', (doc) => {\n  send(doc);\n});\nbus.on('saved', audit);\n"
            "bus.on('close', audit);\nfunction audit() {}\n"
        ),
        "bus.ts": "import { EventEmitter } from 'events';\nexport const bus = new EventEmitter();\n",
    }
    graph = graph_of(files)
    emits = [graph.edge(e) for e in range(len(graph.edges)) if graph.edges.kinds[e] == EdgeKind.EMITS]
    # `close` is an event of the platform: handlers of that name have nothing to do with each other.
    assert [(edge.source, edge.target) for edge in emits] == [
        ("save.ts::save", "mail.ts::audit"),
        ("save.ts::save", "mail.ts::on saved"),
    ]


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("server.js", ("'/api'", "'/v2'")),  # a mount, which changes the paths of another file
        ("routes/users.js", ("'/users/:id'", "'/members/:id'")),
        ("routes/users.js", ("control.show", "control.list")),
        ("client.ts", ("/api/users/", "/api/members/")),
        ("control.js", ("exports.show = function () {}", "exports.show = function () { return 1; }")),
    ],
)
def test_a_refresh_equals_a_rebuild(path: str, change: tuple[str, str]) -> None:
    assert change[0] in EXPRESS[path]
    changed = {**EXPRESS, path: EXPRESS[path].replace(*change)}
    facts = [(each, parse_file(each, changed[each].encode())) for each in sorted(changed)]
    number = sorted(changed).index(path)
    again = relink(facts, load_settings(), graph_of(EXPRESS), {number}).linked.graph
    assert differences(again, graph_of(changed)) == []


@pytest.mark.parametrize(
    ("prefix", "path", "expected"),
    [
        ("/api/", "/users", "/api/users"),
        ("", "users/<pk>/", "/users/<pk>/"),
        ("/api", "", "/api"),
        ("", "", "/"),
        ("", "documents.info", "documents.info"),
        ("/api", "documents.info", "/api/documents.info"),
    ],
)
def test_join_path(prefix: str, path: str, expected: str) -> None:
    assert join_path(prefix, path) == expected


@pytest.mark.slow
def test_files_whose_path_is_a_route() -> None:
    files = {
        "src/app/layout.tsx": "export default function Layout() {}\n",
        "src/app/(main)/items/[id]/page.tsx": "export default function Item() {}\n",
        "src/app/@side/items/page.tsx": "export default function Side() {}\n",
        "src/app/api/items/[id]/route.ts": "export async function GET() {}\nexport const PUT = async () => {};\n",
        "src/app/api/auth/[[...rest]]/route.ts": "export { GET, POST } from '../../../auth';\n",
        "src/app/api/items/route.test.ts": "export function GET() {}\n",
        "src/auth.ts": "export function GET() {}\nexport function POST() {}\n",
        "pages/api/users/index.ts": "export default function handler(req, res) {}\n",
        "pages/about.tsx": "export default function About() {}\n",
        "kit/src/routes/api/rooms/[room=name]/+server.ts": "export const POST = ({ request }) => {};\n",
        "nuxt/server/api/carts/[id].delete.ts": "export default defineEventHandler(() => {});\n",
        "nuxt/server/routes/health.ts": "export default () => {};\n",
        "lib/app/page.tsx": "export default function Page() {}\n",  # no layout: it is no application of Next.js
        "src/client.ts": """
export function load(id: string) { return get(`/items/${id}`); }
export function change(id: string) { return httpPut(`/api/items/${id}`, {}); }
export function mock() { get('/items/1', () => {}); }
export function rest() { return http.get<Item>('items/7?full=1'); }
export function cached() { return cache.get('items/7'); }
export function drop(id: string) { return $fetch(`/api/carts/${id}`, { method: 'DELETE' }); }
""",
    }
    item = "src/app/api/items/[id]/route.ts"
    assert served(files) == [
        ("GET", "/api/auth/[...rest]", "src/app/api/auth/[[...rest]]/route.ts"),
        ("POST", "/api/auth/[...rest]", "src/app/api/auth/[[...rest]]/route.ts"),
        ("DELETE", "/api/carts/[id]", "nuxt/server/api/carts/[id].delete.ts"),
        ("GET", "/api/items/[id]", f"{item}::GET"),
        ("PUT", "/api/items/[id]", f"{item}::PUT"),
        ("POST", "/api/rooms/[room=name]", "kit/src/routes/api/rooms/[room=name]/+server.ts::POST"),
        ("ANY", "/api/users", "pages/api/users/index.ts::handler"),
        ("ANY", "/health", "nuxt/server/routes/health.ts::default"),
        ("GET", "/items/[id]", "src/app/(main)/items/[id]/page.tsx::Item"),
    ]
    assert requests(files) == {  # a page is no data that a client asks for
        "GET /api/items/[id]": ["src/client.ts::load", "src/client.ts::rest"],
        "PUT /api/items/[id]": ["src/client.ts::change"],
        "DELETE /api/carts/[id]": ["src/client.ts::drop"],
    }
