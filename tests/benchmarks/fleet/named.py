"""Edges by names between the services of public systems, against lists that were made by hand.

    python -m tests.benchmarks.fleet.named SYSTEM CLONE STORE

CLONE is a work tree of the commit that the system below names, or a folder of such clones. Each folder is a member of
its own. A line of a list is a rule, a file that asks, and the services that it leads to. Edges of a file to a service
by one rule count once. What asks was found with grep: calls that make stubs, producers and consumers, images, `uses`,
mapped tables and statements; which service is meant was decided by reading.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

from causalist.fleet import FleetStore, Member, build_shard
from causalist.fleet.links.join import link_shards
from tests.benchmarks.edges.rust_sites import wilson


class System(NamedTuple):
    """A system at a commit, the folders of its members, and the edges between them."""

    repository: str
    folders: tuple[str, ...]
    edges: str


Edge = tuple[str, str, str]  # rule, file with its member in front, member
_RULES = ("rpc-service", "topic", "async-channel", "docker-image", "workflow", "submodule", "sql-table")

_BOUTIQUE = """
rpc-service frontend/handlers.go checkoutservice
rpc-service frontend/rpc.go currencyservice productcatalogservice cartservice shippingservice recommendationservice
rpc-service frontend/rpc.go adservice
rpc-service checkoutservice/main.go shippingservice cartservice productcatalogservice currencyservice paymentservice
rpc-service checkoutservice/main.go emailservice
rpc-service recommendationservice/recommendation_server.py productcatalogservice
"""
_OTEL = """
rpc-service frontend/gateways/rpc/Ad.gateway.ts ad
rpc-service frontend/gateways/rpc/Cart.gateway.ts cart
rpc-service frontend/gateways/rpc/Checkout.gateway.ts checkout
rpc-service frontend/gateways/rpc/Currency.gateway.ts currency
rpc-service frontend/gateways/rpc/ProductCatalog.gateway.ts product-catalog
rpc-service frontend/gateways/rpc/Recommendations.gateway.ts recommendation
rpc-service checkout/main.go product-catalog cart currency payment
rpc-service recommendation/recommendation_server.py product-catalog
topic checkout/main.go accounting fraud-detection
sql-table product-catalog/main.go postgresql
sql-table accounting/Entities.cs postgresql
"""
_HOTEL = """
rpc-service frontend/server.go search profile recommendation user reservation review attractions
rpc-service search/server.go geo rate
"""
_HANDLERS = "Ordering.API/Application/DomainEventHandlers"
_ESHOP = f"""
rpc-service ClientApp/Services/Basket/BasketService.cs Basket.API
rpc-service WebApp/Extensions/Extensions.cs Basket.API
topic Catalog.API/Apis/CatalogApi.cs Webhooks.API
topic Catalog.API/IntegrationEvents/EventHandling/OrderStatusChangedToAwaitingValidationIntegrationEventHandler.cs Ordering.API
topic OrderProcessor/Services/GracePeriodManagerService.cs Ordering.API
topic PaymentProcessor/IntegrationEvents/EventHandling/OrderStatusChangedToStockConfirmedIntegrationEventHandler.cs Ordering.API
topic Ordering.API/Application/Commands/CreateOrderCommandHandler.cs Basket.API
topic {_HANDLERS}/OrderCancelledDomainEventHandler.cs WebApp
topic {_HANDLERS}/OrderShippedDomainEventHandler.cs WebApp Webhooks.API
topic {_HANDLERS}/OrderStatusChangedToAwaitingValidationDomainEventHandler.cs Catalog.API WebApp
topic {_HANDLERS}/OrderStatusChangedToPaidDomainEventHandler.cs Catalog.API WebApp Webhooks.API
topic {_HANDLERS}/OrderStatusChangedToStockConfirmedDomainEventHandler.cs PaymentProcessor WebApp
topic {_HANDLERS}/ValidateOrAddBuyerAggregateWhenOrderStartedDomainEventHandler.cs WebApp
"""  # noqa: E501
_FIGHTS = "rest-fights/src/main/java/io/quarkus/sample/superheroes/fight"
_HEROES = f"""
rpc-service {_FIGHTS}/client/LocationClient.java grpc-locations
topic {_FIGHTS}/service/FightService.java event-statistics
"""
_EVENTS = "policy-service/src/main/java/pl/altkom/asc/lab/micronaut/poc/policy/infrastructure/adapters/kafka"
_MICRONAUT = f"""
topic {_EVENTS}/EventPublisher.java dashboard-service documents-service payment-service policy-search-service
"""
_H = "src/app/handlers"
_PRESENT = f"""
topic chat-microservice/{_H}/chat-user-answered.handler.ts gift-ideas-microservice restapi-macroservice
topic chat-microservice/{_H}/generate-question.handler.ts restapi-macroservice
topic fetch-microservice/{_H}/fetch-allegro.handler.ts reranking-microservice
topic fetch-microservice/{_H}/fetch-amazon.handler.ts reranking-microservice
topic fetch-microservice/{_H}/fetch-ebay.handler.ts reranking-microservice
topic fetch-microservice/{_H}/fetch-olx.handler.ts reranking-microservice
topic gift-ideas-microservice/{_H}/emit-fetch-events.handler.ts fetch-microservice
topic gift-ideas-microservice/{_H}/generate-gift-ideas.handler.ts reranking-microservice
topic gift-ideas-microservice/{_H}/regenerate-ideas-loop.handler.ts reranking-microservice
topic reranking-microservice/{_H}/rerank-and-emit-gift-ready.handler.ts gift-ideas-microservice restapi-macroservice
topic restapi-macroservice/{_H}/send-user-message.handler.ts chat-microservice
topic restapi-macroservice/{_H}/start-processing.handler.ts stalking-microservice chat-microservice
topic stalking-microservice/{_H}/stalking-analyze.handler.ts gift-ideas-microservice
async-channel docs/asyncapi/chat-microservice.asyncapi.yml restapi-macroservice gift-ideas-microservice
async-channel docs/asyncapi/fetch-microservice.asyncapi.yml reranking-microservice
async-channel docs/asyncapi/gift-microservice.asyncapi.yml fetch-microservice reranking-microservice
async-channel docs/asyncapi/reranking-microservice.asyncapi.yml restapi-macroservice
async-channel docs/asyncapi/restapi-macroservice.asyncapi.yml stalking-microservice chat-microservice
async-channel docs/asyncapi/stalking-microservice.asyncapi.yml gift-ideas-microservice
async-channel chat-microservice/{_H}/chat-user-answered.handler.ts docs
async-channel chat-microservice/{_H}/generate-question.handler.ts docs
async-channel fetch-microservice/{_H}/fetch-allegro.handler.ts docs
async-channel fetch-microservice/{_H}/fetch-amazon.handler.ts docs
async-channel fetch-microservice/{_H}/fetch-ebay.handler.ts docs
async-channel fetch-microservice/{_H}/fetch-olx.handler.ts docs
async-channel gift-ideas-microservice/{_H}/emit-fetch-events.handler.ts docs
async-channel gift-ideas-microservice/{_H}/generate-gift-ideas.handler.ts docs
async-channel gift-ideas-microservice/{_H}/regenerate-ideas-loop.handler.ts docs
async-channel reranking-microservice/{_H}/rerank-and-emit-gift-ready.handler.ts docs
async-channel restapi-macroservice/{_H}/send-user-message.handler.ts docs
async-channel restapi-macroservice/{_H}/start-processing.handler.ts docs
async-channel stalking-microservice/{_H}/stalking-analyze.handler.ts docs
"""
_DEPLOY = "microservices-demo/deploy"
_SOCK = f"""
topic shipping/src/main/java/works/weave/socks/shipping/controllers/ShippingController.java queue-master
docker-image front-end/test/docker-compose.yml carts catalogue orders payment queue-master shipping user
docker-image {_DEPLOY}/docker-compose/docker-compose.yml carts catalogue orders payment queue-master shipping user
docker-image {_DEPLOY}/docker-compose/docker-compose.yml front-end
docker-image {_DEPLOY}/kubernetes/complete-demo.yaml carts catalogue orders payment queue-master shipping user front-end
docker-image {_DEPLOY}/kubernetes/manifests-jaeger/catalogue-dep.yaml catalogue
docker-image {_DEPLOY}/kubernetes/manifests-jaeger/payment-dep.yaml payment
docker-image {_DEPLOY}/kubernetes/manifests-jaeger/user-dep.yaml user
docker-image {_DEPLOY}/kubernetes/manifests/01-carts-dep.yaml carts
docker-image {_DEPLOY}/kubernetes/manifests/05-catalogue-dep.yaml catalogue
docker-image {_DEPLOY}/kubernetes/manifests/07-catalogue-db-dep.yaml catalogue
docker-image {_DEPLOY}/kubernetes/manifests/09-front-end-dep.yaml front-end
docker-image {_DEPLOY}/kubernetes/manifests/11-orders-dep.yaml orders
docker-image {_DEPLOY}/kubernetes/manifests/15-payment-dep.yaml payment
docker-image {_DEPLOY}/kubernetes/manifests/17-queue-master-dep.yaml queue-master
docker-image {_DEPLOY}/kubernetes/manifests/23-shipping-dep.yaml shipping
docker-image {_DEPLOY}/kubernetes/manifests/25-user-dep.yaml user
docker-image {_DEPLOY}/kubernetes/manifests/27-user-db-dep.yaml user
"""
_LEDGER = "src/main/java/anthos/samples/bankofanthos"
_BANK = f"""
sql-table contacts/db.py accounts-db
sql-table userservice/db.py accounts-db
sql-table balancereader/{_LEDGER}/balancereader/Transaction.java ledger-db
sql-table ledgerwriter/{_LEDGER}/ledgerwriter/Transaction.java ledger-db
sql-table transactionhistory/{_LEDGER}/transactionhistory/Transaction.java ledger-db
"""
_BOOKING = """
rpc-service Booking/src/Booking/Extensions/Infrastructure/GrpcClientExtensions.cs Flight Passenger
topic Identity/src/Identity/Data/Seed/IdentityDataSeeder.cs Passenger
topic Identity/src/Identity/Identity/Features/RegisteringNewUser/V1/RegisterNewUser.cs Passenger
"""
_BEER = """
rpc-service courier/job/internal/data/data.go order
rpc-service admin/internal/data/data.go user cart catalog order payment
rpc-service interface/internal/data/data.go user cart catalog order payment
"""
_ROBOT = """
topic payment/rabbitmq.py dispatch
"""


def _below(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" if folder else name for name in names.split())


SYSTEMS = {
    "microservices-demo": System(
        "GoogleCloudPlatform/microservices-demo@34ffea9175946982c3088ed84994fe6019ad6e92",
        _below(
            "src",
            "adservice cartservice checkoutservice currencyservice emailservice frontend loadgenerator paymentservice"
            " productcatalogservice recommendationservice shippingservice shoppingassistantservice",
        ),
        _BOUTIQUE,
    ),
    "opentelemetry-demo": System(
        "open-telemetry/opentelemetry-demo@054282e318317f2be09f67dd9b0d7d1278566cfa",
        _below(
            "src",
            "accounting ad agent cart chatbot checkout currency email flagd-ui fraud-detection frontend frontend-proxy"
            " image-provider load-generator mcp payment postgresql product-catalog quote recommendation shipping",
        ),
        _OTEL,
    ),
    "hotel-reservation": System(
        "delimitrou/DeathStarBench@6ecb09706140f8730b5385c08f1386c654c3c526",
        _below(
            "hotelReservation/services",
            "attractions frontend geo profile rate recommendation reservation review search user",
        ),
        _HOTEL,
    ),
    "eshop": System(
        "dotnet/eShop@5624ad564d1602a927879df32a79b94522eb6101",
        _below(
            "src",
            "Basket.API Catalog.API ClientApp OrderProcessor Ordering.API PaymentProcessor WebApp WebAppComponents"
            " WebhookClient Webhooks.API eShop.AppHost eShop.ServiceDefaults",
        ),
        _ESHOP,
    ),
    "super-heroes": System(
        "quarkusio/quarkus-super-heroes@91d6974f2d1b7e795f51eb94877f6c9106d1d8fb",
        _below("", "event-statistics grpc-locations rest-fights rest-heroes rest-narration rest-villains"),
        _HEROES,
    ),
    "micronaut-poc": System(
        "asc-lab/micronaut-microservices-poc@9871a2e482f6ff8a358b8f3c6caa460374e76c36",
        _below(
            "",
            "agent-portal-gateway auth-service chat-service dashboard-service documents-service payment-service"
            " policy-search-service policy-service pricing-service product-service",
        ),
        _MICRONAUT,
    ),
    "present-finder": System(
        "Generacja-Cuzi/ai-present-finder@03b9499d2d8680ce715d089d72a76c688585088d",
        _below(
            "backend",
            "chat-microservice docs fetch-microservice gift-ideas-microservice reranking-microservice"
            " restapi-macroservice stalking-microservice",
        ),
        _PRESENT,
    ),
    # Nine repositories, cloned into one folder.
    "sock-shop": System(
        "microservices-demo/microservices-demo@9dff06fae4981921caec6a62393a6ebfce4b3e3f and others",
        _below("", "carts catalogue front-end microservices-demo orders payment queue-master shipping user"),
        _SOCK,
    ),
    "bank-of-anthos": System(
        "GoogleCloudPlatform/bank-of-anthos@d0af04743a6d951665169ca6370d15725ec51252",
        (
            *_below("src/accounts", "accounts-db contacts userservice"),
            *_below("src/ledger", "balancereader ledger-db ledgerwriter transactionhistory"),
            *_below("src", "frontend loadgenerator"),
        ),
        _BANK,
    ),
    # The rules were written without these three.
    "booking": System(
        "meysamhadeli/booking-microservices@bd94742d1808407fadc08aba538276b0e2f6d303",
        (*_below("src/Services", "Booking Flight Identity Passenger"), "src/ApiGateway", "src/BuildingBlocks"),
        _BOOKING,
    ),
    "beer-shop": System(
        "go-kratos/beer-shop@f762a4251b7c74120c74406033b370a132cc1fde",
        _below("app", "cart catalog courier order payment shipping shop/admin shop/interface user"),
        _BEER,
    ),
    "robot-shop": System(
        "instana/robot-shop@55292e2199f2fb00a165b1f7d3045fe7f8922038",
        _below("", "cart catalogue dispatch load-gen mysql payment ratings shipping user web"),
        _ROBOT,
    ),
}


def read_edges(system: System) -> set[Edge]:
    """Return the edges of the list of a system."""
    found = set()
    for line in system.edges.strip().splitlines():
        rule, path, *members = line.split()
        found |= {(rule, path, member) for member in members}
    return found


def find_edges(system: System, clone: Path, store: FleetStore) -> set[Edge]:
    """Return the edges that the program finds, of the rules of this benchmark."""
    shards = []
    for folder in system.folders:
        name = folder.rpartition("/")[2]
        shards.append(build_shard(Member(name, str(clone / folder)), clone / folder, store))
    return {
        (row["rule"], f"{row['source_repository']}/{row['source'].partition('::')[0]}", row["target_repository"])
        for row in link_shards(shards, store).to_pylist()
        if row["rule"] in _RULES
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fleet.named")
    parser.add_argument("system", choices=sorted(SYSTEMS))
    parser.add_argument("clone", type=Path)
    parser.add_argument("store")
    given = parser.parse_args()
    system = SYSTEMS[given.system]
    found, listed = find_edges(system, given.clone, FleetStore(given.store)), read_edges(system)
    for rule in _RULES:
        own = {each for each in found if each[0] == rule}, {each for each in listed if each[0] == rule}
        right = own[0] & own[1]
        for what, n in (("precision", len(own[0])), ("recall", len(own[1]))):
            if n:
                low, high = wilson(len(right), n)
                print(f"{rule:14} {what:10} {len(right)} of {n}  {len(right) / n:.3f}  [{low:.3f}, {high:.3f}]")
    for what, some in (("too much", found - listed), ("missing", listed - found)):
        for each in sorted(some):
            print(f"    {what}: {' '.join(each)}")


if __name__ == "__main__":
    main()
