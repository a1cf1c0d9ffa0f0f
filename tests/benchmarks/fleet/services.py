"""Requests between the services of public systems, against lists that were made by hand.

    python -m tests.benchmarks.fleet.services SYSTEM CLONE STORE

CLONE is a work tree of the commit that the system below names. Each service folder is a member of its own. A line of a
list is a file that asks, the service that answers, and the route. Requests of a file for a route count once; those to
routes that a framework brings along (metrics, tokens, discovery) are not listed. Rules were written with robot-shop and
petclinic in sight; the other two are reported as they were first met, and again after.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as parquet

from causalist.fleet import FleetStore, Member, build_shard
from causalist.fleet.links.join import link_shards
from causalist.fleet.links.services import routes_for
from tests.benchmarks.edges.rust_sites import wilson


class System(NamedTuple):
    """A system at a commit, the folders of its services, and the requests between them."""

    repository: str
    folders: tuple[str, ...]
    requests: str


_ROBOT = """
web/static/js/controller.js catalogue GET /products/{}; GET /categories; GET /search/{}; GET /product/{}
web/static/js/controller.js user GET /uniqueid; POST /login; POST /register; GET /history/{}
web/static/js/controller.js cart GET /add/{}/{}/{}; GET /update/{}/{}/{}; GET /cart/{}; GET /rename/{}/{}
web/static/js/controller.js ratings PUT /api/rate/{}/{}; GET /api/fetch/{}
web/static/js/controller.js shipping GET /calc/{}; POST /confirm/{}; GET /codes; GET /match/{}/{}
web/static/js/controller.js payment POST /pay/{}
load-gen/robot-shop.py user POST /login; GET /uniqueid
load-gen/robot-shop.py catalogue GET /categories; GET /products; GET /product/{}
load-gen/robot-shop.py ratings PUT /api/rate/{}/{}; GET /api/fetch/{}
load-gen/robot-shop.py cart GET /add/{}/{}/{}; GET /cart/{}; GET /update/{}/{}/{}
load-gen/robot-shop.py shipping GET /codes; GET /cities/{}; GET /calc/{}; POST /confirm/{}
load-gen/robot-shop.py payment POST /pay/{}
cart/server.js catalogue GET /product/{}
payment/payment.py user GET /check/{}; POST /order/{}
payment/payment.py cart DELETE /cart/{}
shipping/src/main/java/com/instana/robotshop/shipping/Controller.java cart POST /shipping/{}
ratings/html/src/Service/CatalogueService.php catalogue GET /product/{}
"""
_GATEWAY, _GENAI = "spring-petclinic-api-gateway/src/main/", "spring-petclinic-genai-service/src/main/"
_JAVA = "java/org/springframework/samples/petclinic/"
_PETCLINIC = f"""
{_GATEWAY}{_JAVA}api/application/CustomersServiceClient.java customers GET /owners/{{}}
{_GATEWAY}{_JAVA}api/application/VisitsServiceClient.java visits GET /pets/visits
{_GATEWAY}resources/static/scripts/genai/chat.js genai POST /chatclient
{_GATEWAY}resources/static/scripts/owner-form/owner-form.controller.js customers GET /owners/{{}}; PUT /owners/{{}}
{_GATEWAY}resources/static/scripts/owner-form/owner-form.controller.js customers POST /owners
{_GATEWAY}resources/static/scripts/owner-list/owner-list.controller.js customers GET /owners
{_GATEWAY}resources/static/scripts/pet-form/pet-form.controller.js customers GET /petTypes; GET /owners/{{}}
{_GATEWAY}resources/static/scripts/pet-form/pet-form.controller.js customers GET /owners/{{}}/pets/{{}}
{_GATEWAY}resources/static/scripts/pet-form/pet-form.controller.js customers PUT /owners/{{}}/pets/{{}}
{_GATEWAY}resources/static/scripts/pet-form/pet-form.controller.js customers POST /owners/{{}}/pets
{_GATEWAY}resources/static/scripts/vet-list/vet-list.controller.js vets GET /vets
{_GATEWAY}resources/static/scripts/visits/visits.controller.js visits GET /owners/{{}}/pets/{{}}/visits
{_GATEWAY}resources/static/scripts/visits/visits.controller.js visits POST /owners/{{}}/pets/{{}}/visits
{_GENAI}{_JAVA}genai/AIDataProvider.java customers GET /owners; POST /owners/{{}}/pets; POST /owners
{_GENAI}{_JAVA}genai/VectorStoreController.java vets GET /vets
"""
_WRITER = "ledger/ledgerwriter/src/main/java/anthos/samples/bankofanthos/ledgerwriter/LedgerWriterController.java"
_BANK = f"""
frontend/frontend.py balancereader GET /balances/{{}}
frontend/frontend.py transactionhistory GET /transactions/{{}}
frontend/frontend.py contacts GET /contacts/{{}}; POST /contacts/{{}}
frontend/frontend.py ledgerwriter POST /transactions
frontend/frontend.py userservice GET /login; POST /users
{_WRITER} balancereader GET /balances/{{}}
loadgenerator/locustfile.py frontend POST /signup; GET /signup; GET /login; POST /login; POST /logout; GET /; GET /home
loadgenerator/locustfile.py frontend POST /payment; POST /deposit
"""
_PIGGY_JAVA = "src/main/java/com/piggymetrics/"
_PIGGY = f"""
account-service/{_PIGGY_JAVA}account/client/AuthServiceClient.java auth-service POST /users
account-service/{_PIGGY_JAVA}account/client/StatisticsServiceClient.java statistics-service PUT /{{}}
notification-service/{_PIGGY_JAVA}notification/client/AccountServiceClient.java account-service GET /{{}}
gateway/src/main/resources/static/js/launch.js account-service GET /current
gateway/src/main/resources/static/js/main.js account-service PUT /current
gateway/src/main/resources/static/js/login.js account-service POST /; GET /{{}}
gateway/src/main/resources/static/js/login.js notification-service PUT /recipients/current
"""
_SOCK = """
front-end/api/cart/index.js carts GET /carts/{}/items; POST /carts/{}/items; PATCH /carts/{}/items
front-end/api/cart/index.js carts DELETE /carts/{}; DELETE /carts/{}/items/{}
front-end/api/cart/index.js catalogue GET /catalogue/{}
front-end/api/catalogue/index.js catalogue GET /tags
front-end/api/orders/index.js user GET /customers/{}
front-end/api/orders/index.js orders POST /orders
front-end/api/orders/index.js carts GET /carts/{}/items
front-end/api/user/index.js user GET /customers; GET /customers/{}; GET /cards; GET /cards/{}; GET /addresses
front-end/api/user/index.js user GET /login; DELETE /{}
front-end/api/user/index.js user POST /customers; POST /cards; POST /addresses; POST /register
front-end/api/user/index.js carts GET /carts/{}/merge
orders/src/main/java/works/weave/socks/orders/config/OrdersConfigurationProperties.java payment POST /paymentAuth
orders/src/main/java/works/weave/socks/orders/config/OrdersConfigurationProperties.java shipping POST /shipping
"""
_CATALOG = (
    "GET /api/catalog/items; GET /api/catalog/items/{}; GET /api/catalog/catalogbrands; GET /api/catalog/catalogtypes"
)
# The handler of the last is known without the path of its group.
_MORE_CATALOG = "GET /api/catalog/items/by; GET /items/withsemanticrelevance"
_ESHOP = f"""
WebAppComponents/Services/CatalogService.cs Catalog.API {_CATALOG}; {_MORE_CATALOG}
HybridApp/Services/CatalogService.cs Catalog.API {_CATALOG}; {_MORE_CATALOG}
ClientApp/Services/Catalog/CatalogService.cs Catalog.API {_CATALOG}
ClientApp/Services/Order/OrderService.cs Ordering.API POST /api/orders; GET /api/orders
ClientApp/Services/Order/OrderService.cs Ordering.API GET /api/orders/{{}}; PUT /api/orders/cancel
WebApp/Services/OrderingService.cs Ordering.API GET /api/orders; POST /api/orders
WebApp/Program.cs Catalog.API GET /api/catalog/items/{{}}/pic
WebhookClient/Services/WebHooksClient.cs Webhooks.API POST /api/webhooks; GET /api/webhooks
"""
_PET_SERVICES = ("api-gateway", "customers-service", "genai-service", "vets-service", "visits-service", "admin-server")
SYSTEMS = {
    "robot-shop": System(
        "instana/robot-shop@55292e2199f2fb00a165b1f7d3045fe7f8922038",
        ("cart", "catalogue", "dispatch", "load-gen", "payment", "ratings", "shipping", "user", "web"),
        _ROBOT,
    ),
    "petclinic": System(
        "spring-petclinic/spring-petclinic-microservices@9a76b4e34cd75f3d6bfa6f15775bf996c59e8989",
        tuple(f"spring-petclinic-{each}" for each in (*_PET_SERVICES, "config-server", "discovery-server")),
        _PETCLINIC,
    ),
    "bank-of-anthos": System(
        "GoogleCloudPlatform/bank-of-anthos@d0af04743a6d951665169ca6370d15725ec51252",
        tuple(
            f"src/{each}"
            for each in (
                "accounts/contacts", "accounts/userservice", "frontend", "ledger/balancereader", "ledger/ledgerwriter",
                "ledger/transactionhistory", "loadgenerator",
            )
        ),
        _BANK,
    ),
    "piggymetrics": System(
        "sqshq/piggymetrics@6bb2cf9ddbca980b664d3edbb6ff775d75369278",
        (
            "account-service", "auth-service", "config", "gateway", "monitoring", "notification-service", "registry",
            "statistics-service",
        ),
        _PIGGY,
    ),
    # Eight repositories, cloned into one folder.
    "sock-shop": System(
        "microservices-demo/front-end@52dee656f4423be041619bbb090205f912e00113 and others",
        ("carts", "catalogue", "front-end", "orders", "payment", "queue-master", "shipping", "user"),
        _SOCK,
    ),
    "eshop": System(
        "dotnet/eShop@5624ad564d1602a927879df32a79b94522eb6101",
        tuple(
            f"src/{each}"
            for each in (
                "Basket.API", "Catalog.API", "ClientApp", "HybridApp", "Identity.API", "Ordering.API", "WebApp",
                "WebAppComponents", "WebhookClient", "Webhooks.API", "eShop.AppHost", "eShop.ServiceDefaults",
            )
        ),
        _ESHOP,
    ),
}  # fmt: skip
Asked = tuple[str, str, str]  # file, service, route


def read_requests(system: System) -> set[Asked]:
    """Return the requests of the list of a system."""
    found = set()
    for line in system.requests.strip().splitlines():
        path, service, routes = line.split(" ", 2)
        found |= {(path, service, route.strip()) for route in routes.split(";")}
    return found


def _short(member: str) -> str:
    return member.removeprefix("spring-petclinic-").removesuffix("-service" if "petclinic" in member else "")


def find_requests(system: System, clone: Path, store: FleetStore) -> set[Asked]:
    """Return the requests that the edges of a system say."""
    shards = []
    for folder in system.folders:
        name = folder.rpartition("/")[2]
        shards.append(build_shard(Member(name, str(clone / folder)), clone / folder, store))
    routes: dict[tuple[str, str], set[str]] = {}
    for shard in shards:
        table = parquet.read_table(store.local_object(shard.objects["publishes"], "publishes"))
        for row in table.to_pylist():
            if row["kind"] == "route":
                routes.setdefault((shard.name, row["node"]), set()).add(row["name"])
    asked: dict[tuple[str, str, int], set[str]] = {}
    for shard in shards:
        table = parquet.read_table(store.local_object(shard.objects["uses"], "uses"))
        for row in table.to_pylist():
            if row["kind"] == "route":
                asked.setdefault((shard.name, row["node"], row["row"]), set()).add(row["name"])
    folders = {folder.rpartition("/")[2]: folder.removeprefix("src/") for folder in system.folders}
    return {
        (
            f"{folders[row['source_repository']]}/{row['source'].partition('::')[0]}",
            _short(row["target_repository"]),
            name,
        )
        for row in link_shards(shards, store).to_pylist()
        if row["kind"] == "routes"
        for name in _meant(
            routes[row["target_repository"], row["target"]],
            asked.get((row["source_repository"], row["source"], row["row"]), set()),
        )
    }


def _meant(routes: set[str], asked: set[str]) -> set[str]:
    """Return those routes of a function that a request means: all if it has one or none is like the request."""
    paths = [route.partition(" ")[2].lower() for name in asked for route, _ in routes_for(name)]
    methods = {name.partition(" ")[0] for name in asked} | {"ANY"}
    fit = [each for each in routes if each.partition(" ")[2].lower() in paths]
    fit = [each for each in fit if methods == {"ANY"} or each.partition(" ")[0] in methods] or fit
    best = min((paths.index(each.partition(" ")[2].lower()) for each in fit), default=-1)
    return {each for each in fit if paths.index(each.partition(" ")[2].lower()) == best} or routes


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fleet.services")
    parser.add_argument("system", choices=sorted(SYSTEMS))
    parser.add_argument("clone", type=Path)
    parser.add_argument("store")
    given = parser.parse_args()
    system = SYSTEMS[given.system]
    found, listed = find_requests(system, given.clone, FleetStore(given.store)), read_requests(system)
    right = found & listed
    for what, n in (("precision", len(found)), ("recall", len(listed))):
        low, high = wilson(len(right), n)
        print(f"{what:10} {len(right)} of {n}  {len(right) / max(n, 1):.3f}  [{low:.3f}, {high:.3f}]")
    for what, some in (("too much", found - listed), ("missing", listed - found)):
        for each in sorted(some):
            print(f"    {what}: {' -> '.join(each)}")


if __name__ == "__main__":
    main()
