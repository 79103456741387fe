"""The demo's billing, in test mode: a coffee club with subscribers, and invoices in every state."""

from datetime import timedelta
from typing import Any

from apps.access.access import ACT, Access
from apps.billing.invoices.drafts import create_invoice
from apps.billing.invoices.lifecycle import (
    finalize_invoice,
    mark_uncollectible,
    send_invoice,
    void_invoice,
)
from apps.billing.invoices.payment_intents import start_payment, update_paid_amounts
from apps.billing.models import Customer, Product
from apps.billing.requests import (
    CustomerRequest,
    InvoiceRequest,
    LineRequest,
    PriceRequest,
    ProductRequest,
    SubscriptionRequest,
    TaxRateRequest,
)
from apps.billing.services.catalog import create_price, create_product
from apps.billing.services.customers import create_customer
from apps.billing.services.tax_rates import create_rate
from apps.billing.subscriptions.changes import create_subscription, pause_subscription
from apps.payments.requests import SimulationRequest
from apps.payments.services.simulate import simulate_deposit
from apps.platforms.requests import OwnVerificationRequest
from apps.platforms.services.verifications import approve_verification, submit_own
from apps.stores.models import Store, User

PEOPLE = (
    ("Ann Baker", "ann@example.com", {"line1": "Ringstrasse 1", "city": "Berlin", "country": "DE"}),
    (
        "Ben Okafor",
        "ben@example.com",
        {"line1": "12 High Street", "city": "Leeds", "country": "GB"},
    ),
    (
        "Café Lumen",
        "books@lumen.example",
        {"line1": "3 rue Claire", "postal_code": "69001", "city": "Lyon", "country": "FR"},
    ),
)
BEANS = LineRequest(description="Wholesale beans, 10 kg", quantity=2, unit_amount_cents=21900)
BUSINESS = OwnVerificationRequest(
    business_legal_name="Demo Coffee GmbH",
    business_country="DE",
    registration_number="HRB 123456 B",
    tax_id="DE123456789",
    legal_form="GmbH",
    representative="Mira Merchant",
    street="Hauptstraße 5",
    postal_code="10827",
    city="Berlin",
    business_description="Coffee, beans and classes, in a shop and online.",
)
# Of coffee in Germany; so cycles are e-invoices as well.
REDUCED = TaxRateRequest(name="VAT 7%", category="S", rate_bps=700)
DUE_IN = timedelta(days=14)
TRAINING = LineRequest(description="Barista training", unit_amount_cents=48000)


def seed_billing(store: Store, merchant: User) -> None:
    """Once, in a store that sells nothing by subscription yet."""
    access = Access.for_session(merchant, store, "test", proof=ACT)
    if Product.objects.visible_to(access).exists():
        return
    approve_verification(submit_own(store, BUSINESS))
    reduced = create_rate(access, REDUCED)
    club = ProductRequest(
        name="Coffee club",
        description="Fresh beans to your door",
        tax_rate_id=str(reduced.pk),
        supply_type="goods",
    )
    product = create_product(access, club)
    by_month = PriceRequest(unit_amount_cents=2400, currency="EUR", interval="monthly")
    by_year = PriceRequest(unit_amount_cents=26000, currency="EUR", interval="yearly")
    monthly = str(create_price(access, product, by_month).pk)
    create_price(access, product, by_year)
    ann, ben, lumen = (
        create_customer(access, CustomerRequest(name=name, email=email, address=address))
        for name, email, address in PEOPLE
    )
    create_subscription(
        access, SubscriptionRequest(customer_id=str(ann.pk), price_id=monthly, quantity=2)
    )
    on_trial = SubscriptionRequest(
        customer_id=str(lumen.pk), price_id=monthly, trial_period_days=14
    )
    create_subscription(access, on_trial)
    paused = create_subscription(
        access, SubscriptionRequest(customer_id=str(ben.pk), price_id=monthly)
    )
    pause_subscription(access, paused)
    _seed_invoices(access, ben, lumen)


def _seed_invoices(access: Access, ben: Customer, lumen: Customer) -> None:
    """A draft, one that was sent and is to be paid, one paid, one void, one written off."""
    create_invoice(access, _wish(lumen, TRAINING, notes="Dates to be agreed."))
    terms = _wish(
        lumen,
        BEANS,
        TRAINING,
        due_at=access.now() + DUE_IN,
        po_number="PO-3381",
        buyer_reference="Lumen 7",
        footer="Thank you.",
    )
    send_invoice(access, finalize_invoice(access, create_invoice(access, terms)))
    paid = finalize_invoice(
        access,
        create_invoice(access, _wish(ben, BEANS, discount_type="percent", discount_value=10)),
    )
    _, payment, _ = start_payment(str(paid.public_token))
    simulate_deposit(access, payment, SimulationRequest())
    update_paid_amounts([payment.pk])
    void_invoice(access, finalize_invoice(access, create_invoice(access, _wish(ben, TRAINING))))
    mark_uncollectible(access, finalize_invoice(access, create_invoice(access, _wish(ben, BEANS))))


def _wish(customer: Customer, *lines: LineRequest, **fields: Any) -> InvoiceRequest:
    """With tax, so that each is an e-invoice."""
    return InvoiceRequest(
        customer_id=str(customer.pk),
        currency="EUR",
        line_items=list(lines),
        **{"tax_rate_bps": 1900, **fields},
    )
