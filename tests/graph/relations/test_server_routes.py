"""Routes of Spring, JAX-RS, ASP.NET, gin, axum and Rails, with paths worked by hand from their documentation."""

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

func create(c *gin.Context) {}
func drop(c *gin.Context)   {}
func show(c *gin.Context)   {}
""",
    }
    assert served(files) == [
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
