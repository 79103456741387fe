"""Columns of a record on the staff site: words for our codes, human units, identifiers that can be
copied, and structures that can be read."""

from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib import admin
from django.template.loader import render_to_string
from django.utils.html import strip_tags

from apps.access.models import AgentCredential, RequestEntry
from apps.access.models.settings import WaitingPeriodSettings
from apps.agents.models import PaymentOffer, Settlement
from apps.agents.models.settings import AgentSettings
from apps.assets.audit_details import detail_lines
from apps.assets.models import Chain
from apps.billing.models import Customer, Invoice, InvoiceChange, Subscription, SubscriptionChange
from apps.chain.models import Deposit, HotWallet, OutgoingTransaction
from apps.core import clock
from apps.core.models import OutgoingMail
from apps.core.text.durations import duration_text
from apps.links.models import PaymentLink
from apps.onramp.models import FundingSession
from apps.payments.badges import BADGES
from apps.payments.models import Payment, PaymentAddress, PaymentEvent
from apps.payouts.models import Destination, Payout
from apps.payouts.services.caps import set_store_cap
from apps.payouts.states import NEEDS_APPROVER
from apps.platforms.models import DestinationConfirmation
from apps.staff.system.emails import EMAIL_NAMES
from apps.stores.models import StaffRequest, Store, User
from apps.webhooks.catalogue import EVENTS, event_title
from apps.webhooks.models import Delivery, Endpoint, Event
from apps.webhooks.reasons import FAILURES
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser
from tests.house.files import ROOT
from tests.staff.pages import words
from tests.staff.test_roles import signed_in

ID = "01a21b33-8198-7482-a9d7-9bb239bd72d5"
HASH = "0x" + "ab" * 32
LINE = {"description": "Beans", "quantity": 12, "unit_amount_cents": 1850, "image_url": None}
HEXADECIMAL = ("digest", "from_address", "nonce", "tx_hash")
POLICY = {"agents_may_refund": True, "allowed_scopes": ["x402"]}
EURO = Payment(settlement_currency="EUR")
PARTS = {part.model: part for page in admin.site._registry.values() for part in page.inlines}


def said(row: Any, column: str) -> str:
    """As the page of the record has it."""
    page: Any = admin.site._registry.get(type(row)) or PARTS.get(type(row))
    page = page or admin.site._registry[Store]  # settings of a store stand on its page
    return str(page.value_of(row, column))


def said_of(model: Any, column: str) -> str:
    page: Any = admin.site._registry[model]
    return str(page.label_of(column))


def plain(markup: str) -> str:
    return " ".join(strip_tags(markup.replace("<", " <")).split())


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        (Store(customer_language="en"), "customer_language", "English"),
        (Customer(language="pt"), "language", "Português (Brasil)"),
        (User(region="en-GB"), "region", "English (United Kingdom)"),
        (Delivery(error="http_404", response_status=404), "error", "HTTP 404"),
        (Delivery(error="timeout"), "error", "No response in time"),
        (Payment(state_reason="completed_exact"), "state_reason", "Paid in full"),
        (Payment(needs_attention="dust_refund"), "needs_attention", "Refund too small to send"),
        (Payment(reconciliation_status="final"), "reconciliation_status", "Final"),
        (PaymentEvent(event_type="transaction.confirmed"), "event_type", "Deposit confirmed"),
        (PaymentEvent(event_type="refund_confirmed"), "event_type", "Refund confirmed"),
        (InvoiceChange(change="uncollectible"), "change", "Written off"),
        (SubscriptionChange(change="cycle_failed"), "change", "Payment failed"),
        (Invoice(number=6), "number", "INV-0006"),
        (Invoice(needs_attention="paid_void"), "needs_attention", "Paid after it was voided"),
        (Invoice(discount_type="percent", discount_value=10), "discount_value", "10%"),
        (
            Invoice(discount_type="amount", discount_value=250, currency="EUR"),
            "discount_value",
            "€2.50",
        ),
        (Payout(pending_reason="waiting_for_funds"), "pending_reason", "Waiting for funds"),
        (Event(type="payment_intent.completed"), "type", "Payment completed payment_intent.comp"),
        (OutgoingMail(template="invoice_open"), "template", "New invoice"),
        (StaffRequest(kind="dispatch"), "kind", "Change to a store’s cards or agents"),
        (PaymentOffer(timeout_seconds=120), "timeout_seconds", "2 minutes"),
        (Store(test_offset_seconds=903), "test_offset_seconds", "15 minutes, 3 seconds ahead"),
        (Store(test_offset_seconds=0), "test_offset_seconds", "Real time"),
        (WaitingPeriodSettings(cooling_hours=36), "cooling_hours", "1 day, 12 hours"),
        (RequestEntry(duration_ms=1234), "duration_ms", "1,234 ms"),
        (Payment(idempotency_caller="secret"), "idempotency_caller", "Secret keys of the store"),
        (PaymentLink(stock=1000), "stock", "1,000"),
        (Settlement(is_dispatched=False), "is_dispatched", "No, final when submitted"),
        (PaymentLink(email="no"), "email", "Don’t ask"),
        (PaymentAddress(payment=EURO, exchange_rate=Decimal(1800)), "exchange_rate", "€1,800"),
        (Payout(fiat_currency="EUR", paid_fx_rate=Decimal(1800)), "paid_fx_rate", "€1,800"),
        (Payout(review_reason=NEEDS_APPROVER), "review_reason", "It needs a second approval"),
        (
            AgentSettings(authorization_policy=POLICY),
            "authorization_policy",
            "Agents may refund Yes Allowed scopes x402",
        ),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_a_value_is_in_peoples_words_and_units(row: Any, column: str, words: str) -> None:
    assert words in plain(said(row, column))


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (Deposit(tx_hash=HASH), "tx_hash"),
        (Deposit(from_address=HASH[:42]), "from_address"),
        (Payment(reference="J9ELVCEURUQRB05Z"), "reference"),
        (Payment(idempotency_caller="demo"), "idempotency_caller"),
        (OutgoingTransaction(approval="demo:98"), "approval"),
        (Settlement(nonce="30b890729b94dd3fe94610ce9b552daa"), "nonce"),
        (StaffRequest(digest="ab" * 32), "digest"),
        (AgentCredential(principal=f"agent:{ID}"), "principal"),
        (RequestEntry(record_id=UUID(ID)), "record_id"),
        (RequestEntry(error_code="payment_not_found"), "error_code"),
        (Store(id=UUID(ID)), "id"),
        (Chain(id="sepolia"), "id"),
        (FundingSession(provider_txid="01HXYZ0123"), "provider_txid"),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_what_people_copy_is_set_as_code(row: Any, column: str) -> None:
    value = str(getattr(row, column))
    kind = "code hash" if column in HEXADECIMAL else "code"
    assert said(row, column) == f'<bdi class="{kind}">{value}</bdi>'


def test_a_name_or_an_ordinary_word_is_not_set_as_code() -> None:
    for row, column in (
        (Customer(name="Ann Baker"), "name"),
        (Payment(order_id="sample"), "order_id"),
    ):
        assert "code" not in said(row, column)


def test_structures_are_read_as_tables_and_pairs_and_what_was_sent_as_it_was() -> None:
    items = said(Payment(line_items=[LINE], settlement_currency="EUR"), "line_items")
    assert "<table" in items
    assert plain(items) == "Description Quantity Unit price Beans 12 €18.50"
    notes = said(Payment(metadata={"cart_id": 7, "gift": {"wrapped": False}}), "metadata")
    assert plain(notes) == "cart_id 7 gift wrapped No"
    event = said(Event(object={"status": "completed", "tx": {"hash": HASH}}), "object")
    assert event.startswith('<pre class="code">{\n  &quot;status&quot;')
    address = {"city": "Lyon", "line1": "3 rue Claire", "country": "FR", "postal_code": "69001"}
    assert plain(said(Customer(address=address), "address")) == (
        "Line 1 3 rue Claire Postal code 69001 City Lyon Country France"
    )


def test_every_reason_of_a_payment_and_every_failed_delivery_has_words() -> None:
    for code, (_, text) in BADGES["reason"].items():
        assert said(Payment(state_reason=code), "state_reason") == text
    for code, text in FAILURES.items():
        assert said(Delivery(error=code), "error") == text


def test_every_event_and_every_email_has_a_name() -> None:
    for event in EVENTS:
        assert not set("._") & set(event_title(event)), event
    assert event_title("store.verification.approved") == "Business verification approved"
    sent = {path.stem for path in Path(ROOT, "templates/email").glob("[a-z]*.html")}
    assert set(EMAIL_NAMES) == sent


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (903, "15 minutes, 3 seconds"),
        (3600, "1 hour"),
        (90_061, "1 day, 1 hour"),
        (86_405, "1 day"),
    ],
)
def test_a_duration_is_said_in_its_two_largest_units(seconds: int, words: str) -> None:
    assert duration_text(seconds) == words


def test_the_audit_log_says_durations_in_the_same_words() -> None:
    assert detail_lines({"cooling_hours": [24, 48], "test_offset_seconds": 903}) == [
        ("Waiting period for new destinations", "1 day → 2 days"),
        ("Test clock", "15 minutes, 3 seconds"),
    ]


def test_a_column_is_called_after_its_record_where_another_calls_it_otherwise() -> None:
    assert said_of(Invoice, "number") == "Number"
    assert said_of(HotWallet, "number") == "Lane"


def test_a_card_payment_is_called_by_its_amount_and_not_by_an_address() -> None:
    page: Any = admin.site._registry[FundingSession]
    row = FundingSession(amount_cents=1850, currency="EUR", url="https://cards.example/x")
    assert page.heading_of(row) == "Card payment of €18.50"


def test_records_with_names_are_headed_by_them(cast: Cast, finance: Browser) -> None:
    store = cast.bakery.store
    Store.objects.filter(pk=store.pk).update(name="Empty store")
    page = words(finance.get(f"/admin/stores/store/{store.pk}/change/"))
    assert "Home › Stores › Empty store Empty store Store " in page
    assert "Store Empty store" not in page
    assert "Empty store | Stores | Tillgate staff" in page


def test_lines_stand_in_their_order_without_a_number_that_begins_at_zero() -> None:
    parts = admin.site._registry[Invoice].inlines + admin.site._registry[Subscription].inlines
    assert [part.__name__ for part in parts if "position" in (part.fields or ())] == []


def test_filters_of_statuses_say_what_the_badges_say(cast: Cast, finance: Browser) -> None:
    for page, text, code in (
        ("platforms/accessrequest", "Under review", "Pending"),
        ("stores/verification", "Declined", "Rejected"),
        ("payments/payment", "Awaiting payment", "Pending"),
    ):
        shown = words(finance.get(f"/admin/{page}/"))
        assert text in shown and code not in shown, page


def test_a_contacts_confirmation_is_called_by_the_ends_of_its_wallet() -> None:
    page: Any = admin.site._registry[DestinationConfirmation]
    row = DestinationConfirmation(destination=Destination(kind="wallet", address=HASH[:42]))
    assert page.heading_of(row) == "Contact confirmation of 0xabab…abab"
    assert page.state(row) == '<span class="badge wait">Contact not emailed yet</span>'
    row.stopped_at = clock.real_now()
    assert page.state(row) == '<span class="badge bad">Stopped</span>'


def test_a_url_breaks_between_its_parts() -> None:
    url = "https://shop.example/hooks/orders?page=1&size=2"
    broken = "https://shop.example/<wbr>hooks/<wbr>orders?page=1&amp;size=2"
    page: Any = admin.site._registry[Endpoint]
    row = Endpoint(url=url)
    assert said(row, "url") == broken
    assert page.address(row) == f'<bdi class="name">{broken}</bdi>'
    heading = render_to_string("staff/_record.html", {"original": row})
    title = render_to_string("staff/_record.html", {"original": row, "is_bare": True})
    assert heading.strip() == broken and "<wbr>" not in title


def test_a_record_shows_no_number_that_only_the_database_counts(cast: Cast) -> None:
    cap = set_store_cap(cast.bakery.store, "SETH", daily_atomic=10**18)
    staff = signed_in(make.clerk("admin"))
    shown = words(staff.get(f"/admin/payouts/storepayoutcap/{cap.pk}/change/"))
    assert "Details Store Alice" in shown and f"ID {cap.pk}" not in shown
