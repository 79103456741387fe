"""The demo's payment links, in test mode: a collection with an open amount, a course with few
seats, and a sale at the till."""

import uuid
from datetime import timedelta

from apps.access.access import ACT, Access
from apps.links.models import PaymentLink
from apps.links.requests import LinkRequest, Purchase
from apps.links.services.buy import buy
from apps.links.services.links import create_link
from apps.links.services.sales import start_sale
from apps.links.services.till import add_item, change_till
from apps.links.till_requests import ItemRequest, SaleLine, SaleRequest, TillRequest
from apps.links.till_selectors import TIPS_DEFAULT
from apps.payments.requests import SimulationRequest
from apps.payments.services.simulate import simulate_deposit
from apps.stores.models import Store, User

GIFTS_CENTS = (1000, 2500, 750)
SEATS = 8
GUESTS = (
    ("Ann Baker", "ann@example.com"),
    ("Ben Okafor", "ben@example.com"),
    ("Chloé Martin", "chloe@example.com"),
)
ITEMS = (("Flat white", 420, 1900), ("Beans, 250 g", 1190, 700), ("Oat cookie", 280, 700))
COURSE_IN = timedelta(days=30)


def seed_links(store: Store, merchant: User) -> None:
    """Once, in a store that has no payment links yet."""
    access = Access.for_session(merchant, store, "test", proof=ACT)
    if PaymentLink.objects.visible_to(access).exists():
        return
    _collect(access)
    _sell_seats(access)
    _sell(access)


def _sell(access: Access) -> None:
    """At the till, which is set up for two VAT rates and two devices."""
    till = TillRequest(
        currency="EUR",
        tip_bps=TIPS_DEFAULT,
        vat_bps=(1900, 700),
        names=("Bar", "Terrace"),
    )
    change_till(access, till)
    items = [
        add_item(access, ItemRequest(name=name, price_cents=cents, currency="EUR", vat_bps=bps))
        for name, cents, bps in ITEMS
    ]
    lines = [
        SaleLine(
            description=item.name,
            quantity=2,
            unit_amount_cents=item.price_cents,
            vat_bps=item.vat_bps,
        )
        for item in items[:2]
    ]
    request = SaleRequest(
        lines=lines,
        currency="EUR",
        tip_cents=120,
        note="Table 4",
        till_name="Bar",
        form_key=uuid.uuid4().hex,
    )
    payment = start_sale(access, request).payment
    assert payment is not None
    simulate_deposit(access, payment, SimulationRequest())


def _collect(access: Access) -> None:
    link = create_link(
        access,
        LinkRequest(
            title="A roof for the roastery",
            description="Every gift goes into the new roof. Thank you!",
            currency="EUR",
            min_cents=200,
            suggested_cents=(500, 1000, 2500),
            name=PaymentLink.Ask.OPTIONAL,
        ),
    )
    for cents in GIFTS_CENTS:
        _pay(access, link, Purchase(form_key=uuid.uuid4().hex, amount_cents=cents))


def _sell_seats(access: Access) -> None:
    link = create_link(
        access,
        LinkRequest(
            title="Latte art, Saturday morning",
            description="Two hours at the machine, milk included.",
            currency="EUR",
            amount_cents=4500,
            stock=SEATS,
            ends_at=access.now() + COURSE_IN,
            email=PaymentLink.Ask.REQUIRED,
            name=PaymentLink.Ask.REQUIRED,
        ),
    )
    for name, email in GUESTS:
        _pay(access, link, Purchase(form_key=uuid.uuid4().hex, name=name, email=email))


def _pay(access: Access, link: PaymentLink, purchase: Purchase) -> None:
    simulate_deposit(access, buy(link, purchase), SimulationRequest())
