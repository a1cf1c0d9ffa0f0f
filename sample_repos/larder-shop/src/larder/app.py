"""Puts the parts together."""

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from larder.api import Application, build_router
from larder.infra.clock import Clock, system_clock
from larder.infra.database import Database
from larder.infra.mail import Outbox
from larder.infra.payments import AcceptingGateway, HttpGateway, PaymentGateway
from larder.infra.signing import Signer
from larder.jobs import Job, Scheduler, release_expired_holds
from larder.repositories import (
    BasketRepository,
    CustomerRepository,
    OrderRepository,
    ProductRepository,
    PromotionRepository,
)
from larder.services import (
    AccountService,
    BasketService,
    CheckoutService,
    InventoryService,
    PriceList,
    RefundService,
)
from larder.settings import Settings


@dataclass
class Shop:
    """All parts, wired."""

    settings: Settings
    clock: Clock
    database: Database
    gateway: PaymentGateway
    outbox: Outbox
    signer: Signer
    products: ProductRepository
    customers: CustomerRepository
    orders: OrderRepository
    promotions: PromotionRepository
    inventory: InventoryService
    prices: PriceList
    baskets: BasketService
    checkout: CheckoutService
    refunds: RefundService
    accounts: AccountService

    def application(self) -> Application:
        return Application(build_router(self))

    def scheduler(self) -> Scheduler:
        release = partial(release_expired_holds, self.inventory)
        return Scheduler(self.database, self.clock, [Job("release holds", timedelta(minutes=1), release)])


def create_shop(settings: Settings, clock: Clock = system_clock, gateway: PaymentGateway | None = None) -> Shop:
    database = Database(settings.database)
    gateway = gateway or make_gateway(settings)
    outbox = Outbox(settings.mail_dir)
    products, baskets = ProductRepository(database), BasketRepository(database)
    orders, promotions = OrderRepository(database), PromotionRepository(database)
    customers = CustomerRepository(database)
    inventory = InventoryService(database, products, baskets, clock, settings.hold_minutes)
    prices = PriceList(promotions, settings)
    return Shop(
        settings=settings,
        clock=clock,
        database=database,
        gateway=gateway,
        outbox=outbox,
        signer=Signer(settings.secrets),
        products=products,
        customers=customers,
        orders=orders,
        promotions=promotions,
        inventory=inventory,
        prices=prices,
        baskets=BasketService(baskets, promotions, inventory),
        checkout=CheckoutService(baskets, orders, prices, gateway, outbox, clock),
        refunds=RefundService(orders, gateway, inventory),
        accounts=AccountService(customers),
    )


def make_gateway(settings: Settings) -> PaymentGateway:
    if settings.payment_url and settings.payment_key:
        return HttpGateway(settings.payment_url, settings.payment_key)
    return AcceptingGateway()
