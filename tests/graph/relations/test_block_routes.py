"""Routes of Phoenix, Ktor, functional Spring and `routes!` of axum: paths worked by hand from their documentation."""

from tests.graph.relations.test_routes import served

_ROUTER = """
defmodule ShopWeb.Router do
  use ShopWeb, :router

  pipeline :api do
    plug :accepts, ["json"]
  end

  scope "/", ShopWeb do
    pipe_through :browser
    get "/", PageController, :home
    live "/doors", DoorLive.Index, :index
    match :*, "/any/*path", PageController, :any
    get "/computed/#{x}", PageController, :home
  end

  scope "/api", ShopWeb.API, as: :api do
    resources "/users", UserController, only: [:index, :show] do
      resources "/posts", PostController, except: [:new, :edit, :update, :delete], param: "slug"
    end
    resource "/me", UserController, only: [:show]
    for prefix <- ["/", "/v2"] do
      scope prefix do
        post "/keys", UserController, :index
      end
    end
  end
end
"""
_CONTROLLERS = """
defmodule ShopWeb.PageController do
  def home(conn, _), do: conn
  def any(conn, _), do: conn
end
defmodule ShopWeb.API.UserController do
  def index(conn, _), do: conn
  def show(conn, _), do: conn
end
defmodule ShopWeb.API.PostController do
  def index(conn, _), do: conn
  def show(conn, _), do: conn
  def create(conn, _), do: conn
end
defmodule ShopWeb.DoorLive.Index do
  def mount(_, _, socket), do: {:ok, socket}
end
"""


def test_phoenix_scopes_and_resources() -> None:
    at = "lib/controllers.ex::ShopWeb"
    assert served({"lib/router.ex": _ROUTER, "lib/controllers.ex": _CONTROLLERS}) == [
        ("GET", "/", f"{at}.PageController.home"),
        ("ANY", "/any/*path", f"{at}.PageController.any"),
        ("POST", "/api/keys", f"{at}.API.UserController.index"),
        ("GET", "/api/me", f"{at}.API.UserController.show"),
        ("GET", "/api/users", f"{at}.API.UserController.index"),
        ("GET", "/api/users/:id", f"{at}.API.UserController.show"),
        ("GET", "/api/users/:user_id/posts", f"{at}.API.PostController.index"),
        ("POST", "/api/users/:user_id/posts", f"{at}.API.PostController.create"),
        ("GET", "/api/users/:user_id/posts/:slug", f"{at}.API.PostController.show"),
        ("POST", "/api/v2/keys", f"{at}.API.UserController.index"),
        ("GET", "/doors", f"{at}.DoorLive.Index"),
    ]


def test_ktor_blocks_and_functions_of_other_files() -> None:
    files = {
        "src/App.kt": """
package shop
import io.ktor.server.routing.*

fun Application.module(users: Users) {
    routing {
        get("/") { call.respond(client.get("/no")) }
        route("/api") {
            authenticate("a") {
                userRoutes(users)
                post<Door> { door -> keep(door) }
            }
            route("/door", HttpMethod.Delete) { handle { drop() } }
        }
        get<Typed> { }
        get("/x/$computed") { }
    }
}
""",
        "src/Users.kt": """
package shop
import io.ktor.server.routing.Route
import io.ktor.server.routing.get

fun Route.userRoutes(users: Users) {
    route("/users") {
        get { users.all() }
        get("/{id}") { users.one() }.describe { tag("users") }
    }
}
""",
    }
    assert served(files) == [
        ("GET", "/", "src/App.kt::Application.module"),
        ("DELETE", "/api/door", "src/App.kt::Application.module"),
        ("GET", "/api/users", "src/Users.kt::Route.userRoutes"),
        ("GET", "/api/users/{id}", "src/Users.kt::Route.userRoutes"),
    ]


_HANDLER = """
package shop
class DoorHandler {
    fun all() = 1
    fun one() = 1
    fun make() = 1
}
"""


def test_functional_routes_of_spring_in_kotlin() -> None:
    files = {
        "src/Handler.kt": _HANDLER,
        "src/Routes.kt": """
package shop
import org.springframework.web.reactive.function.server.coRouter

class Routes(private val doors: DoorHandler) {
    fun routes() = coRouter {
        accept(TEXT_HTML).nest {
            GET("/") { ok() }
            (GET("/old") or GET("/older")) { gone() }
        }
        "/api".nest {
            GET("/doors", doors::all)
            "/doors".nest {
                GET("/{id}", doors::one)
                POST("", doors::make)
            }
        }
    }
}
""",
    }
    own, handler = "src/Routes.kt::Routes.routes", "src/Handler.kt::DoorHandler"
    assert served(files) == [
        ("GET", "/", own),
        ("GET", "/api/doors", f"{handler}.all"),
        ("POST", "/api/doors", f"{handler}.make"),
        ("GET", "/api/doors/{id}", f"{handler}.one"),
        ("GET", "/old", own),
        ("GET", "/older", own),
    ]


def test_functional_routes_of_spring_in_java() -> None:
    files = {
        "src/Handler.java": """
package a;
class Handler {
    int all() { return 1; }
    int one() { return 1; }
    int make() { return 1; }
}
""",
        "src/Routes.java": """
package a;
import org.springframework.web.servlet.function.RouterFunction;

class Routes {
    RouterFunction<?> routes(Handler handler) {
        return route(GET("/doors").and(accept(JSON)), handler::all)
            .andRoute(GET("/doors/{id}"), handler::one);
    }
    RouterFunction<?> built(Handler handler) {
        return route().path("/keys", b -> b
            .GET("/{id}", accept(JSON), handler::one)
            .nest(accept(JSON), c -> c.POST("", handler::make))).build();
    }
    RouterFunction<?> nested(Handler handler) {
        return nest(path("/shop"), route(GET("/all"), handler::all));
    }
}
""",
    }
    assert served(files) == [
        ("GET", "/doors", "src/Handler.java::Handler.all"),
        ("GET", "/doors/{id}", "src/Handler.java::Handler.one"),
        ("POST", "/keys", "src/Handler.java::Handler.make"),
        ("GET", "/keys/{id}", "src/Handler.java::Handler.one"),
        ("GET", "/shop/all", "src/Handler.java::Handler.all"),
    ]


def test_axum_registers_what_functions_declare() -> None:
    files = {
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/main.rs": """
mod users;
use utoipa_axum::{router::OpenApiRouter, routes};

fn app() -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(users::list, users::make))
        .nest("/v1", more())
}

fn more() -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(users::drop_user))
}
""",
        "src/users.rs": """
/// All of them.
#[utoipa::path(get, path = "/users", responses((status = 200, description = "it's fine")))]
pub async fn list() {}

#[utoipa::path(
    post,
    path = "/users",
)]
pub async fn make() {}

#[utoipa::path(delete, path = "/users/{id}")]
async fn drop_user() {}

#[utoipa::path(get, path = "/documented-only")]
async fn never() {}
""",
    }
    assert served(files) == [
        ("GET", "/users", "src/users.rs::list"),
        ("POST", "/users", "src/users.rs::make"),
        ("DELETE", "/v1/users/{id}", "src/users.rs::drop_user"),
    ]
