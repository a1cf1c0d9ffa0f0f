"""Routes of Spring, JAX-RS, ASP.NET, gin, axum, Rails, Laravel, Symfony and Slim, with paths worked by hand from their
documentation; requests of clients and tests."""

import pytest

from causalist.parse import parse_file
from tests.graph.relations.test_routes import requests, served


def test_spring_mappings_of_class_and_method() -> None:
    files = {
        "src/OwnerController.java": """
package a;
@Controller
@RequestMapping("/owners/{ownerId}")
class OwnerController {
    @GetMapping("/edit")
    String edit() { return "a"; }

    @PostMapping(path = {"/edit", "/change"})
    String change() { return "a"; }

    @RequestMapping(value = "/x", method = RequestMethod.DELETE)
    void drop() {}

    @GetMapping
    String show() { return "@GetMapping(\\"/no\\")"; }

    @GetMapping(PATH)
    String computed() { return ""; }
}
""",
    }
    owner = "src/OwnerController.java::OwnerController"
    assert served(files) == [
        ("GET", "/owners/{ownerId}", f"{owner}.show"),
        ("POST", "/owners/{ownerId}/change", f"{owner}.change"),
        ("GET", "/owners/{ownerId}/edit", f"{owner}.edit"),
        ("POST", "/owners/{ownerId}/edit", f"{owner}.change"),
        ("DELETE", "/owners/{ownerId}/x", f"{owner}.drop"),
    ]


def test_aspnet_attributes_and_tokens() -> None:
    files = {
        "ArticlesController.cs": """
namespace A;
[ApiController]
[Route("api/[controller]")]
public class ArticlesController : Controller
{
    [HttpGet("{slug}")]
    public int Get(string slug) => 1;

    [HttpPost, Authorize]
    public int Create() => 1;

    [HttpDelete("/all")]
    public int Clear() => 1;

    [HttpPut]
    [Route("[action]/{id}")]
    public int Move(int id) => 1;
}
""",
    }
    owner = "ArticlesController.cs::ArticlesController"
    assert served(files) == [
        ("DELETE", "/all", f"{owner}.Clear"),
        ("POST", "/api/Articles", f"{owner}.Create"),
        ("PUT", "/api/Articles/Move/{id}", f"{owner}.Move"),
        ("GET", "/api/Articles/{slug}", f"{owner}.Get"),
    ]


def test_gin_groups_of_other_packages() -> None:
    files = {
        "go.mod": "module ex.org/a\n",
        "main.go": """
package main

import (
	"ex.org/a/users"
	"github.com/gin-gonic/gin"
)

func main() {
	r := gin.Default()
	v1 := r.Group("/api")
	users.Register(v1.Group("/users"))
	users.Profiles(v1)
	users.Bind(app, v1, &log)
	r.GET("/ping", ping)
}

func ping(c *gin.Context) {}
""",
        "users/routers.go": """
package users

import "github.com/gin-gonic/gin"

func Register(router *gin.RouterGroup) {
	router.POST("/", auth, create)
	router.DELETE("/:id", drop)
}

func Profiles(router *gin.RouterGroup) {
	router.GET("/profiles/:name", show)
}

func Bind(app core.App, group *gin.RouterGroup, log *Log) {
	below := group.Group("/logs")
	below.GET("/:id", show)
}

func create(c *gin.Context) {}
func drop(c *gin.Context)   {}
func show(c *gin.Context)   {}
""",
    }
    assert served(files) == [
        ("GET", "/api/logs/:id", "users/routers.go::show"),
        ("GET", "/api/profiles/:name", "users/routers.go::show"),
        ("POST", "/api/users/", "users/routers.go::create"),
        ("DELETE", "/api/users/:id", "users/routers.go::drop"),
        ("GET", "/ping", "main.go::ping"),
    ]


def test_net_http_patterns_and_nested_functions() -> None:
    files = {
        "go.mod": "module ex.org/a\n",
        "main.go": """
package main

import "net/http"

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", item)
	mux.Handle("/static/", files)
	r.Route("/admin", func(r chi.Router) {
		r.Get("/users", users)
	})
	cache.Get("key", item)
}

func item()  {}
func files() {}
func users() {}
""",
    }
    assert served(files) == [
        ("GET", "/admin/users", "main.go::users"),
        ("GET", "/items/{id}", "main.go::item"),
        ("ANY", "/static/", "main.go::files"),
    ]


def test_the_builder_of_gorilla_mux() -> None:
    files = {
        "go.mod": "module ex.org/a\n",
        "main.go": """
package main

import "github.com/gorilla/mux"

func routes(r *mux.Router) {
	r.Methods("GET").Path("/socks/{id}").Handler(kit.NewServer(one))
	r.Path("/socks").Methods(http.MethodPost, "PUT").HandlerFunc(add)
	r.Methods("GET").PathPrefix("/cards").HandlerFunc(cards)
}

func add()   {}
func cards() {}
""",
    }
    assert served(files) == [
        ("GET", "/cards", "main.go::cards"),
        ("GET", "/cards/*", "main.go::cards"),
        ("POST", "/socks", "main.go::add"),
        ("PUT", "/socks", "main.go::add"),
        ("GET", "/socks/{id}", "main.go::routes"),
    ]


def test_axum_routers_of_functions() -> None:
    files = {
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/main.rs": """
mod users;
use axum::{routing::get, Router};

fn app() -> Router {
    Router::new()
        .nest("/api", users::router())
        .route("/", get(home))
}

async fn home() {}

fn main() { app(); }
""",
        "src/users.rs": """
use axum::{routing::{get, post}, Router};

pub fn router() -> Router {
    Router::new()
        .route("/users", get(list).post(make))
        .route("/users/:id", axum::routing::delete(drop_user))
}

async fn list() {}
async fn make() {}
async fn drop_user() {}
""",
    }
    assert served(files) == [
        ("GET", "/", "src/main.rs::home"),
        ("GET", "/api/users", "src/users.rs::list"),
        ("POST", "/api/users", "src/users.rs::make"),
        ("DELETE", "/api/users/:id", "src/users.rs::drop_user"),
    ]


@pytest.mark.slow
def test_rails_resources_namespaces_and_members() -> None:
    files = {
        "config/routes.rb": """
Rails.application.routes.draw do
  root to: "home#index"
  get "about" => "home#about"
  namespace :admin do
    resources :users, only: [:index, :show] do
      member do
        put :activate
      end
    end
  end
  resources :posts, except: [:new, :edit, :destroy, :update] do
    resources :comments, only: :create
    get :search, on: :collection
  end
  resource :profile, only: [:show]
end
""",
        "app/controllers/home_controller.rb": "class HomeController\n  def index; end\n\n  def about; end\nend\n",
        "app/controllers/admin/users_controller.rb": (
            "class Admin::UsersController\n  def index; end\n\n  def show; end\n\n  def activate; end\nend\n"
        ),
        "app/controllers/posts_controller.rb": (
            "class PostsController\n  def index; end\n\n  def create; end\n\n  def show; end\n\n  def search; end\n"
            "end\n"
        ),
        "app/controllers/comments_controller.rb": "class CommentsController\n  def create; end\nend\n",
        "app/controllers/profiles_controller.rb": "class ProfilesController\n  def show; end\nend\n",
    }
    controllers = "app/controllers"
    admin = f"{controllers}/admin/users_controller.rb::Admin.UsersController"
    assert served(files) == [
        ("GET", "/", f"{controllers}/home_controller.rb::HomeController.index"),
        ("GET", "/about", f"{controllers}/home_controller.rb::HomeController.about"),
        ("GET", "/admin/users", f"{admin}.index"),
        ("GET", "/admin/users/:id", f"{admin}.show"),
        (
            "PUT",
            "/admin/users/:id/activate",
            f"{admin}.activate",
        ),
        ("GET", "/posts", f"{controllers}/posts_controller.rb::PostsController.index"),
        ("POST", "/posts", f"{controllers}/posts_controller.rb::PostsController.create"),
        ("GET", "/posts/:id", f"{controllers}/posts_controller.rb::PostsController.show"),
        ("POST", "/posts/:post_id/comments", f"{controllers}/comments_controller.rb::CommentsController.create"),
        ("GET", "/posts/search", f"{controllers}/posts_controller.rb::PostsController.search"),
        ("GET", "/profile", f"{controllers}/profiles_controller.rb::ProfilesController.show"),
    ]


_HARBOUR = """
Rails.application.routes.draw do
  concern :noted do
    resources :notes, only: %i[index create]
  end

  root "harbour#index"
  namespace :dock, path: "docks" do
    resources :boats, :except => [:destroy], concerns: :noted do
      member { post :launch }
      get :drafts, on: :collection
      resource :log, only: [:show], controller: "boat_logs"
      get "weather"
    end
    resource :crew do
      get :roster
    end
  end
  scope "/v:version", module: "api", as: :api do
    resources :quays, path: "piers", param: :code, shallow: true do
      resources :berths, only: [:show, :index]
    end
  end
  scope controller: :tides do
    get "tides/:day(/:hour)", action: :show, as: :tide
    match "tides", action: "search", via: [:get, :post]
  end
  get "charts/download"
  get "/old", to: redirect("/docks/boats")
  mount Radar::Engine, at: "/radar"
end
"""
# METHOD path controller#action name, as actionpack 6.1 draws these routes; the name of an engine is left out.
_DRAWN = """
GET / harbour#index root
POST /docks/boats/:id/launch dock/boats#launch launch_dock_boat
GET /docks/boats/drafts dock/boats#drafts drafts_dock_boats
GET /docks/boats/:boat_id/log dock/boat_logs#show dock_boat_log
GET /docks/boats/:boat_id/weather dock/boats#weather dock_boat_weather
GET /docks/boats/:boat_id/notes dock/notes#index dock_boat_notes
POST /docks/boats/:boat_id/notes dock/notes#create -
GET /docks/boats dock/boats#index dock_boats
POST /docks/boats dock/boats#create -
GET /docks/boats/new dock/boats#new new_dock_boat
GET /docks/boats/:id/edit dock/boats#edit edit_dock_boat
GET /docks/boats/:id dock/boats#show dock_boat
PATCH /docks/boats/:id dock/boats#update -
PUT /docks/boats/:id dock/boats#update -
GET /docks/crew/roster dock/crews#roster roster_dock_crew
GET /docks/crew/new dock/crews#new new_dock_crew
GET /docks/crew/edit dock/crews#edit edit_dock_crew
GET /docks/crew dock/crews#show dock_crew
PATCH /docks/crew dock/crews#update -
PUT /docks/crew dock/crews#update -
DELETE /docks/crew dock/crews#destroy -
POST /docks/crew dock/crews#create -
GET /v:version/piers/:quay_code/berths api/berths#index api_quay_berths
GET /v:version/berths/:id api/berths#show api_berth
GET /v:version/piers api/quays#index api_quays
POST /v:version/piers api/quays#create -
GET /v:version/piers/new api/quays#new new_api_quay
GET /v:version/piers/:code/edit api/quays#edit edit_api_quay
GET /v:version/piers/:code api/quays#show api_quay
PATCH /v:version/piers/:code api/quays#update -
PUT /v:version/piers/:code api/quays#update -
DELETE /v:version/piers/:code api/quays#destroy -
GET /tides/:day(/:hour) tides#show tide
GET /tides tides#search tides
POST /tides tides#search tides
GET /charts/download charts#download charts_download
GET /old - old
ANY /radar - -
"""


def test_rails_names_and_paths_are_those_that_rails_draws() -> None:
    facts = parse_file("config/routes.rb", _HARBOUR.encode())
    found = [f"{each.method} {each.path} {each.handler or '-'} {each.name or '-'}" for each in facts.routes]
    assert sorted(found) == sorted(_DRAWN.strip().split("\n"))


def test_jax_rs_resources_and_what_they_inherit() -> None:
    files = {
        "src/BaseResource.java": """
package a;
import jakarta.ws.rs.*;
public abstract class BaseResource<T> {
    @GET
    public String list(int page) { return ""; }

    @Path("{id : [0-9]+}")
    @DELETE
    public void remove(long id) {}
}
""",
        "src/UserResource.java": """
package a;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
@Path("users")
public class UserResource extends BaseResource<User> {
    @GET
    @Path("/me")
    public String list() { return ""; }

    @Override
    public void remove(long id) {}
}
""",
        "src/CarResource.java": """
package a;
import jakarta.ws.rs.Path;
@Path("/cars/")
public class CarResource extends BaseResource<Car> {
}
""",
        "src/App.java": """
package a;
import jakarta.ws.rs.ApplicationPath;
@ApplicationPath("/api")
public class App extends Application {}
""",
    }
    base = "src/BaseResource.java::BaseResource"
    assert served(files) == [
        ("GET", "/api/cars/", f"{base}.list"),
        ("DELETE", "/api/cars/{id}", f"{base}.remove"),
        ("GET", "/api/users", f"{base}.list"),  # that of the class takes other parameters
        ("GET", "/api/users/me", "src/UserResource.java::UserResource.list"),
        ("DELETE", "/api/users/{id}", "src/UserResource.java::UserResource.remove"),
    ]


def test_aspnet_controllers_without_a_path_are_found_by_names() -> None:
    files = {
        "AccountController.cs": """
public class AccountController : Controller
{
    [HttpGet]
    public int Login() => 1;

    [HttpPost("/out")]
    public int Logout() => 1;

    [HttpGet]
    public int Index() => 1;
}
public class HomeController : Controller
{
    [HttpGet]
    public int Index() => 1;
}
""",
    }
    account = "AccountController.cs::AccountController"
    assert served(files) == [
        ("GET", "/", "AccountController.cs::HomeController.Index"),
        ("GET", "/Account", f"{account}.Index"),
        ("GET", "/Account/Login", f"{account}.Login"),
        ("POST", "/out", f"{account}.Logout"),
    ]


def test_a_comment_above_is_no_receiver() -> None:
    files = {
        "CatalogApi.cs": """
public static class CatalogApi
{
    public static void Map(IEndpointRouteBuilder app)
    {
        var api = app.MapGroup("api/catalog");
        // Routes of items.
        api.MapGet("/items", GetItems);
    }
    public static int GetItems() => 1;
}
""",
        "server.js": """
const express = require('express');
const users = express.Router();
const app = express();
app.use('/api', users);
// Lists users.
users.get('/users', list);
/* Makes one. */
users
  .post('/users', make);
function list() {}
function make() {}
""",
    }
    assert served(files) == [
        ("GET", "/api/catalog/items", "CatalogApi.cs::CatalogApi.GetItems"),
        ("GET", "/api/users", "server.js::list"),
        ("POST", "/api/users", "server.js::make"),
    ]


def test_aspnet_routes_of_a_base_class() -> None:
    files = {
        "BaseApiController.cs": """
namespace A;
[ApiController]
[Route("api/[controller]")]
public abstract class BaseApiController : ControllerBase
{
    [HttpGet("health")]
    public virtual int Health() => 1;
}
""",
        "ArticlesController.cs": """
namespace A;
public class ArticlesController : BaseApiController
{
    [HttpGet("{slug}")]
    public int Get(string slug) => 1;

    public override int Health() => 2;
}
""",
        "TagsController.cs": """
namespace A;
[Route("tags")]
public class TagsController : BaseApiController
{
    [HttpPost]
    public int Add() => 1;
}
""",
    }
    articles = "ArticlesController.cs::ArticlesController"
    assert served(files) == [
        ("GET", "/api/Articles/health", f"{articles}.Health"),
        ("GET", "/api/Articles/{slug}", f"{articles}.Get"),
        ("POST", "/tags", "TagsController.cs::TagsController.Add"),
        ("GET", "/tags/health", "BaseApiController.cs::BaseApiController.Health"),
    ]


def test_spring_mappings_of_an_interface() -> None:
    files = {
        "src/PetApi.java": """
package a;
@RequestMapping("/pets")
public interface PetApi {
    @GetMapping("/{id}")
    Pet show(long id);
}
""",
        "src/PetController.java": """
package a;
@RestController
public class PetController implements PetApi {
    @Override
    public Pet show(long id) { return null; }
}
""",
    }
    assert served(files) == [("GET", "/pets/{id}", "src/PetController.java::PetController.show")]


def test_clients_of_java() -> None:
    files = {
        "src/PetController.java": """
package a;
@RestController
@RequestMapping("/pets")
public class PetController {
    @GetMapping("/{id}")
    Pet show(long id) { return null; }

    @PostMapping
    Pet add() { return null; }
}
""",
        "app/PetService.java": """
package b;
import retrofit2.http.*;
interface PetService {
    @GET("pets/{id}")
    Call<Pet> load(@Path("id") long id);
}
""",
        "feign/Pets.java": """
package c;
@FeignClient(name = "pets")
interface Pets {
    @PostMapping("/pets")
    Pet create();
}
""",
        "test/PetTest.java": """
package d;
import static io.restassured.RestAssured.given;
class PetTest {
    void assured() { given().when().get("/pets/1").then().statusCode(200); }
    void template() { restTemplate.getForObject("/pets/{id}", Pet.class, 1); }
    void web() { client.post().uri("/pets").exchange(); }
    void notAClient() { map.get("/pets/1"); }
}
import org.springframework.web.client.RestTemplate;
""",
    }
    assert requests(files) == {
        "GET /pets/{id}": [
            "app/PetService.java::PetService.load",
            "test/PetTest.java::PetTest.assured",
            "test/PetTest.java::PetTest.template",
        ],
        "POST /pets": ["feign/Pets.java::Pets.create", "test/PetTest.java::PetTest.web"],
    }


def test_gin_chains_of_groups_several_methods_and_relative_paths() -> None:
    files = {
        "main.go": """
package main

import "github.com/gin-gonic/gin"

func main() {
	g := gin.New()
	g.Match([]string{"GET", http.MethodHead}, "/health", health)
	g.GET("version", version)
	g.Group("/users").Use(auth).POST("", create)
	g.Group("/").Use(auth).Group("a/").GET("/b", version)
	api := g.Group("/api")
	api.GET("me", version)
	cache.GET("key", version)
}

func health() {}
func version() {}
func create() {}
""",
    }
    assert served(files) == [
        ("GET", "/a/b", "main.go::version"),
        ("GET", "/api/me", "main.go::version"),
        ("GET", "/health", "main.go::health"),
        ("HEAD", "/health", "main.go::health"),
        ("POST", "/users", "main.go::create"),
        ("GET", "/version", "main.go::version"),
    ]


def test_requests_of_rails() -> None:
    files = {
        "config/routes.rb": "Rails.application.routes.draw do\n  resources :posts, only: [:show]\nend\n",
        "app/controllers/posts_controller.rb": "class PostsController\n  def show\n  end\nend\n",
        "spec/requests/posts_spec.rb": (
            'describe "posts" do\n  it "shows" do\n    get "/posts/1"\n  end\n'
            '  it "shows another" do\n    get("/posts/#{id}?x=1", params: {})\n  end\nend\n'
        ),
        "app/other.rb": 'get "/posts/1" do\nend\n',
    }
    spec = "spec/requests/posts_spec.rb::describe posts"
    assert requests(files) == {"GET /posts/:id": [f"{spec}.it shows", f"{spec}.it shows another"]}


LARAVEL = {
    "routes/api.php": """<?php
use App\\Http\\Controllers\\PhotoController;
use App\\Http\\Controllers\\Me\\Login as LoginController;
use App\\Http\\Controllers\\OrderController;
Route::get('photos/random', [PhotoController::class, 'random'])->name('get');
Route::post('login', LoginController::class);
Route::apiResource('photos', PhotoController::class)->only(['index', 'show']);
Route::middleware('auth')->prefix('admin')->group(function () {
    Route::group(['prefix' => 'v1', 'middleware' => 'x'], static function (): void {
        Route::controller(OrderController::class)->group(function () {
            Route::get('/orders/{id}', 'show');
            Route::match(['PUT', 'PATCH'], 'orders/{id}', 'update');
        });
        Route::prefix('deep')->middleware('y')->delete('orders', 'OrderController@clear');
    });
    Route::resource('photos.playlist-entries', OrderController::class)->except('create', 'edit', 'update', 'destroy');
});
// Route::get('commented', [PhotoController::class, 'random']);
""",
    "routes/web.php": """<?php
Route::any('about', function () {
    return view('about');
});
""",
    "app/Http/Controllers/PhotoController.php": """<?php
namespace App\\Http\\Controllers;
class PhotoController { public function random() {} public function index() {} public function show($id) {} }
""",
    "app/Http/Controllers/Me/Login.php": """<?php
namespace App\\Http\\Controllers\\Me;
class Login { public function __invoke() {} }
""",
    "app/Http/Controllers/OrderController.php": """<?php
namespace App\\Http\\Controllers;
class OrderController { public function show($id) {} public function update($id) {} public function clear() {} }
""",
    "tests/Feature/PhotoTest.php": """<?php
class PhotoTest extends TestCase {
    public function testShows() { $this->getJson("/api/photos/{$this->photo->id}?x=1")->assertOk(); }
    public function testClears() { $this->json('DELETE', 'api/admin/v1/deep/orders'); }
    public function testLogsIn() { $this->be($user)->postJson('api/' . 'login'); }
    public function testElsewhere() { $this->cache->get('api/photos/random'); }
}
""",
}


def test_laravel_groups_resources_and_controllers() -> None:
    photos, orders = (f"app/Http/Controllers/{name}.php::{name}" for name in ("PhotoController", "OrderController"))
    entries = "/api/admin/photos/{photo}/playlist-entries"
    assert served(LARAVEL) == [
        ("ANY", "/about", "routes/web.php::any about"),
        ("GET", entries, orders),  # which has no method `index`
        ("POST", entries, orders),
        ("GET", f"{entries}/{{playlist_entry}}", f"{orders}.show"),
        ("DELETE", "/api/admin/v1/deep/orders", f"{orders}.clear"),
        ("GET", "/api/admin/v1/orders/{id}", f"{orders}.show"),
        ("PATCH", "/api/admin/v1/orders/{id}", f"{orders}.update"),
        ("PUT", "/api/admin/v1/orders/{id}", f"{orders}.update"),
        ("POST", "/api/login", "app/Http/Controllers/Me/Login.php::Login.__invoke"),
        ("GET", "/api/photos", f"{photos}.index"),
        ("GET", "/api/photos/random", f"{photos}.random"),
        ("GET", "/api/photos/{photo}", f"{photos}.show"),
    ]


def test_requests_of_laravel() -> None:
    tests = "tests/Feature/PhotoTest.php::PhotoTest"
    assert requests(LARAVEL) == {
        "GET /api/photos/{photo}": [f"{tests}.testShows"],
        "DELETE /api/admin/v1/deep/orders": [f"{tests}.testClears"],
        "POST /api/login": [f"{tests}.testLogsIn"],
    }


def test_symfony_attributes() -> None:
    files = {
        "src/Controller/BlogController.php": """<?php
namespace App\\Controller;
#[Route('/blog')]
final class BlogController extends AbstractController
{
    #[Route('/', name: 'blog_index', defaults: ['page' => '1'], methods: ['GET'])]
    #[Route('/page/{page}', name: 'blog_page', methods: ['GET'])]
    #[Cache(smaxage: 10)]
    public function index(int $page): Response {}

    #[Route(path: '/new', methods: ['GET', 'POST'])]
    public function new(): Response {}
}
#[Route('/health', methods: ['GET'])]
class Health { public function __invoke() {} }
""",
        "tests/BlogTest.php": """<?php
class BlogTest extends WebTestCase {
    public function testPage() { $client->request('GET', '/blog/page/3'); }
}
""",
    }
    blog = "src/Controller/BlogController.php::BlogController"
    assert served(files) == [
        ("GET", "/blog/", f"{blog}.index"),
        ("GET", "/blog/new", f"{blog}.new"),
        ("POST", "/blog/new", f"{blog}.new"),
        ("GET", "/blog/page/{page}", f"{blog}.index"),
        ("GET", "/health", "src/Controller/BlogController.php::Health"),
    ]
    assert requests(files) == {"GET /blog/page/{page}": ["tests/BlogTest.php::BlogTest.testPage"]}


def test_symfony_settings_name_prefixes_and_routes() -> None:
    """Of the folders that hold a class the last that is imported counts; files of `routes/` come before the other."""
    controller = "<?php\nnamespace App\\Controller{under};\n#[Route('/{path}')]\nclass {name} {{\n{method}\n}}\n"
    method = "    #[Route('/list', methods: ['GET'])]\n    public function list() {}"
    files = {
        "config/routes.yaml": """
controllers:
    resource: ../src/Controller/  # all
    prefix: /{_locale}
auth: { resource: ../elsewhere }
security:
    resource:
        path: ../src/Controller/Auth/
        namespace: App\\Controller\\Auth
    prefix: '/auth'
home:
    path: /start
    methods: [GET, POST]
    controller: App\\Controller\\Shop::list
about:
    path: /about
    defaults: { _controller: 'App\\Controller\\Nothing::show' }
profiler:
    resource: '@WebProfilerBundle/Resources/config/routing/wdt.xml'
    prefix: /_wdt
""",
        "config/routes/api.yaml": "api:\n    resource: ../../src/Api/\n    prefix: /api\n"
        "early:\n    resource: ../../src/Controller/Auth/\n    prefix: /early\n",
        "src/Controller/Shop.php": controller.format(under="", path="shop", name="Shop", method=method),
        "src/Controller/Auth/Login.php": controller.format(under="\\\\Auth", path="in", name="Login", method=method),
        "src/Api/Items.php": controller.format(under="", path="items", name="Items", method=method),
        "src/Other/Free.php": controller.format(under="", path="free", name="Free", method=method),
    }
    shop = "src/Controller/Shop.php::Shop.list"
    assert served(files) == [
        ("ANY", "/about", "config/routes.yaml"),
        ("GET", "/api/items/list", "src/Api/Items.php::Items.list"),
        ("GET", "/auth/in/list", "src/Controller/Auth/Login.php::Login.list"),
        ("GET", "/free/list", "src/Other/Free.php::Free.list"),
        ("GET", "/start", shop),
        ("POST", "/start", shop),
        ("GET", "/{_locale}/shop/list", shop),
    ]


def test_slim_groups() -> None:
    files = {
        "app/routes.php": """<?php
return function (App $app) {
    $app->group('/users', function (Group $group) {
        $group->get('/{id}', ViewUserAction::class);
    });
};
class ViewUserAction { public function __invoke() {} }
"""
    }
    assert served(files) == [("GET", "/users/{id}", "app/routes.php::ViewUserAction.__invoke")]


def test_requests_of_go() -> None:
    files = {
        "api/api.go": """
package api
func Serve(mux *http.ServeMux) {
	mux.HandleFunc("PUT /v1/feeds/{id}/refresh", refresh)
	mux.HandleFunc("GET /v1/feeds", list)
	mux.HandleFunc("/", index)
}
func refresh(w http.ResponseWriter, r *http.Request) {}
func list(w http.ResponseWriter, r *http.Request) {}
func index(w http.ResponseWriter, r *http.Request) {}
""",
        "client/client.go": """
package client
func (c *Client) Refresh(ctx context.Context, id int64) error {
	return c.request.Put(ctx, fmt.Sprintf("/v1/feeds/%d/refresh", id), nil)
}
func (c *Client) List(filter *Filter) error { return c.request.Get(withQuery("/v1/feeds", filter)) }
func (c *Client) Cached() { c.cache.Get("/v1/feeds") }
""",
        "api/api_test.go": """
package api
func TestList(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/v1/feeds?limit=1", nil)
}
func TestOwnHandler(t *testing.T) { r := httptest.NewRequest("GET", "/", nil) }
func TestRefresh(t *testing.T) {
	url := server.URL + "/v1/feeds/" + id + "/refresh"
	r, err := http.NewRequestWithContext(ctx, "PUT", url, nil)
}
""",
    }
    assert requests(files) == {
        "PUT /v1/feeds/{id}/refresh": ["api/api_test.go::TestRefresh", "client/client.go::Client.Refresh"],
        "GET /v1/feeds": ["api/api_test.go::TestList", "client/client.go::Client.List"],
    }


def test_requests_of_rust() -> None:
    files = {
        "src/main.rs": """
fn app() -> Router { Router::new().route("/users/:id", get(show).put(change)).route("/health", get(health)) }
async fn show() {}
async fn change() {}
async fn health() {}
""",
        "tests/api.rs": """
async fn shows() {
    let response = app().oneshot(Request::builder().method(http::Method::PUT).uri("/users/7").body(b).unwrap());
}
async fn asks() { let got = client.get(format!("http://{addr}/users/{}", id)).send().await; }
async fn made() { let request = Request::get("/health").body(Body::empty()); }
async fn actix() { let request = test::TestRequest::put().uri(&format!("/users/{id}")).to_request(); }
async fn other() { let held = map.get("/health"); }
""",
    }
    assert requests(files) == {
        "PUT /users/:id": ["tests/api.rs::actix", "tests/api.rs::shows"],
        "GET /users/:id": ["tests/api.rs::asks"],
        "GET /health": ["tests/api.rs::made"],
    }
