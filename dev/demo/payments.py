"""The demo's payments: test mode shows every status, live mode is paid on the local chain by a
customer's wallet."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

from apps.access.access import ACT, Access
from apps.core import clock
from apps.core.money import CENTS
from apps.payments.models import Payment, PaymentAddress
from apps.payments.requests import (
    EXPIRES_IN_MAX,
    EXPIRES_IN_MIN,
    PaymentRequest,
    RefundRequest,
    SimulationRequest,
)
from apps.payments.seals import seal_payments
from apps.payments.services.create import create_payment
from apps.payments.services.refund import request_refund
from apps.payments.services.simulate import simulate_deposit
from apps.stores.models import Store, User
from apps.stores.services import change_store
from dev.demo.chain import DemoWallet

SAMPLE_ORDER = "sample"
SAMPLE_CENTS = 1850


@dataclass(frozen=True)
class Order:
    """An order of the coffee shop and how it is paid; `scenario` None leaves it unpaid."""

    title: str
    cents: int
    scenario: str | None = None
    currency: str = "EUR"
    settings: dict[str, bool] = field(default_factory=dict)
    is_given_back: bool = False


# Past their deadline when the seeding ends.
ENDED = (
    Order("Espresso cups", 2400),
    Order("Filter papers", 650, "underpaid"),
    Order("Milk jug", 3100, "underpaid", settings={"accept_underpayments": True}),
)
OPEN = (
    Order("House blend 1 kg", 2890, "exact"),
    Order("Single origin Ethiopia", 1650, "exact", "USD"),
    Order("Hand grinder", 8900, "overpaid"),
    Order("Gift card", 5000, "overpaid", settings={"accept_overpayments": False}),
    Order("Moka pot", 4200, "unconfirmed"),
    Order("Kettle", 6900, "underpaid"),
    Order("Subscription box", 2500),
    Order("Espresso machine", 64900, "exact", "CHF"),
    Order("Matcha set", 380000, "exact", "JPY"),
    Order("Milk frother", 3450, "exact", is_given_back=True),
)
# (title, cents, asset, percent of the price that the customer sends)
LIVE = (
    ("Roasting course", 12000, "ETH", 100),
    ("Wholesale beans 10 kg", 21900, "ETH_USDC", 100),
    ("Barista apron", 3900, "ETH", 50),
    ("Tasting for two", 4800, None, 0),
)
# Of the weeks before: how many orders come on each day of the week, Monday first, and what they
# are, by turns.
BUSY = (1, 1, 2, 1, 2, 3, 2)
DAY_SECONDS = 86_400
REST_DAYS = 8  # what else is made of a store takes as long as so many days
HABITS = (
    Order("House blend 5 kg", 11900, "exact"),
    Order("Espresso beans 10 kg", 24900, "exact"),
    Order("Brunch for twelve", 27600, "exact"),
    Order("Office subscription", 18900, "exact"),
    Order("Oat drink, pallet", 32400),
    Order("Decaf 5 kg", 13500, "exact"),
    Order("Barista workshop", 19500, "exact"),
    Order("Cold brew, keg", 23400, "exact"),
    Order("Filter set, ten", 16900, "exact"),
    Order("Ceramic mugs, two dozen", 21600, "exact", is_given_back=True),
    Order("Grinder service", 15400, "exact"),
    Order("Tea sampler", 9800, "underpaid"),
    Order("Office beans 15 kg", 36750, "exact"),
)
DEFAULTS = {"accept_overpayments": True, "accept_underpayments": False}


def seed_test_payments(
    store: Store, merchant: User, days: int, tell: Callable[[float, float], None]
) -> None:
    """Every status that test mode reaches, and the sales of so many days before, in a store that
    has no test payments yet. `tell` hears how much is made of the store, these and the rest."""
    if Payment.objects.visible_to(Access.for_session(merchant, store, "test", proof=ACT)).exists():
        return
    whole = days + len(ENDED) + REST_DAYS
    for day in _seed_history(store, merchant, days):
        tell(day, whole)
    for number, order in enumerate(ENDED):
        tell(days + number, whole)
        _simulate(store, merchant, order, EXPIRES_IN_MIN)
        change_store(store, **(DEFAULTS | order.settings))
        clock.advance(store, store.test_offset_seconds + EXPIRES_IN_MIN + 1)
        store.refresh_from_db()
    for order in OPEN:
        change_store(store, **(DEFAULTS | order.settings))
        _simulate(store, merchant, order, EXPIRES_IN_MAX)
    change_store(store, **DEFAULTS)


def _seed_history(store: Store, merchant: User, days: int) -> Iterator[int]:
    """Sales of a shop that has been open for some weeks, day by day on its test clock until today.
    Yields the number of each day that is over."""
    orders = cycle(HABITS)
    change_store(store, **DEFAULTS)
    clock.begin(store, days * DAY_SECONDS)
    for day in range(days):
        for order in islice(orders, BUSY[clock.now(store, "test").weekday()]):
            _simulate(store, merchant, order, EXPIRES_IN_MAX)
        clock.advance(store, store.test_offset_seconds + DAY_SECONDS)
        store.refresh_from_db()
        yield day + 1
    seal_payments(clock.real_now())  # what is older than a day has a seal


def _simulate(store: Store, merchant: User, order: Order, lifetime_seconds: int) -> None:
    access = Access.for_session(merchant, store, "test", proof=ACT)
    payment, _ = _create(access, order.title, order.cents, order.currency, lifetime_seconds)
    if order.scenario:
        payment, _ = simulate_deposit(access, payment, SimulationRequest(scenario=order.scenario))
    if order.is_given_back:
        request_refund(access, payment, RefundRequest(), f"demo: {payment.reference}")


def _create(
    access: Access,
    title: str,
    cents: int,
    currency: str = "EUR",
    lifetime_seconds: int = EXPIRES_IN_MAX,
    **options: Any,
) -> tuple[Payment, bool]:
    amount = f"{cents // CENTS}.{cents % CENTS:02d}"
    order_id = options.get("order_id")
    order = PaymentRequest(
        amount=amount,
        currency=currency,
        title=title,
        expires_in=lifetime_seconds,
        order_id=order_id,
    )
    return create_payment(access, order, options.get("key"))


def sample_payment(store: Store, merchant: User, mode: str = "test") -> Payment:
    """An unpaid payment whose checkout page can be opened now."""
    access = Access.for_session(merchant, store, mode, proof=ACT)
    payment = (
        Payment.objects.visible_to(access)
        .filter(order_id=SAMPLE_ORDER, status="pending", expires_at__gt=access.now())
        .first()
    )
    return payment or _create(access, "Flat white, twice", SAMPLE_CENTS, order_id=SAMPLE_ORDER)[0]


def pay_live_payments(
    store: Store, merchant: User, customer: DemoWallet, tokens: dict[str, str]
) -> None:
    """Make the live payments and pay them on the chain, once."""
    access = Access.for_session(merchant, store, "live", proof=ACT)
    for title, cents, asset_id, percent in LIVE:
        payment, is_new = _create(access, title, cents, key=f"demo: {title}")
        if is_new and asset_id:
            entry = PaymentAddress.objects.select_related("asset").get(
                payment=payment, asset_id=asset_id
            )
            _pay(customer, entry, tokens, percent)


def _pay(customer: DemoWallet, entry: PaymentAddress, tokens: dict[str, str], percent: int) -> None:
    amount_atomic = entry.required_atomic * percent // 100
    if entry.asset.is_native:
        customer.send(entry.address_id, amount_atomic)
    else:
        customer.transfer(tokens[entry.asset_id], entry.address_id, amount_atomic)
