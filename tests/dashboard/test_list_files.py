"""Every list of the dashboard has a file, with the rows that its page shows and no statement more
for more of them."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.access import request_log
from apps.agents.models import PaymentOffer, SignedPayment
from apps.core import clock
from apps.dashboard.urls import PAGES
from apps.links.models import PaymentLink
from apps.payments.models import PaymentAddress
from apps.payouts.services.destinations import add_bank, add_wallet
from apps.stores.models import Role
from apps.webhooks.models import Event
from tests.cast import Cast, assemble
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_pages import RECORDS, joined
from tests.links.makers import bought, made_link
from tests.make import fresh_address, paid, payment
from tests.platforms.conftest import platform_of
from tests.stage import standing

PAYER = "0x52908400098527886e0f7030069857d2e4169ee7"


@dataclass(frozen=True)
class ListCase:
    """A page with a list, and its file: `key` is a column of the file that the page shows too.
    `record` is whose list it is, where one of them is looked at."""

    page: str
    file: str
    key: str
    record: str = ""


CASES = (
    ListCase("payments", "payments_export", "reference"),
    ListCase("links", "links_export", "title"),
    ListCase("link", "link_payments_export", "customer_email", "payment-links"),
    ListCase("invoices", "invoices_export", "number"),
    ListCase("subscriptions", "subscriptions_export", "products"),
    ListCase("customers", "customers_export", "email"),
    ListCase("products", "products_export", "name"),
    ListCase("platform_accounts", "platform_accounts_export", "name"),
    ListCase("platform_payments", "platform_payments_export", "reference"),
    ListCase("balances", "balances_export", "total"),
    ListCase("refunds", "refunds_export", "payment_reference"),
    ListCase("payouts", "payouts_export", "id"),
    ListCase("payout_batches", "payout_batches_export", "id"),
    ListCase("payout_batch", "payout_batch_export", "amount", "payouts/batches"),
    ListCase("payout_destinations", "payout_destinations_export", "id"),
    ListCase("payout_schedules", "payout_schedules_export", "id"),
    ListCase("approvals", "approvals_export", "id"),
    ListCase("swaps", "swaps_export", "id"),
    ListCase("request_log", "request_log_export", "id"),
    ListCase("audit_log", "audit_log_export", "action"),
    ListCase("x402", "x402_export", "payment_id"),
    ListCase("mandates", "mandates_export", "mandate_ref"),
    ListCase("mandate", "mandate_draws_export", "amount", "agents/mandates"),
    ListCase("webhook_endpoint", "deliveries_export", "id", "webhooks"),
    ListCase("events", "events_export", "id"),
    ListCase("members", "members_export", "email"),
    ListCase("statement", "statement_export", "asset"),
)
# Lists that are short and of settings or of people themselves, emails that are shown for a while,
# and files that were asked for.
WITHOUT_FILE = {
    "agents",
    "attention",
    "features",
    "keys",
    "notifications",
    "oauth_apps",
    "oauth_grants",
    "passkeys",
    "reports",
    "security",
    "sessions",
    "test_emails",
    "till_sales",
    "webhook_endpoints",
}
# Pages by a view named `index` that show no list.
NO_LIST = {"home", "platform", "search", "settings_wallets", "test_clock", "test_data", "till"}
OF_BOTH_MODES = {"audit_log", "members", "platform_accounts"}
EMPTY = {"mandate"}  # nothing is drawn on a mandate that nobody uses
MADE = (
    "agents/mandates",
    "approvals",
    "invoices",
    "payment-links",
    "payouts",
    "payouts/batches",
    "payouts/destinations",
    "payouts/schedules",
    "requests",
    "subscriptions",
    "swaps",
    "webhooks",
)


@dataclass
class Listed:
    """A store with something in each list; `ids` are records by how their paths begin."""

    cast: Cast
    ids: dict[str, str]

    def path(self, name: str, record: str) -> str:
        return reverse(f"dashboard:{name}", args=[self.ids[record]] if record else [])


def signed_payment(cast: Cast) -> None:
    """A payer's signature for a payment."""
    here = {"store": cast.bakery.store, "mode": "test", "created_at": clock.real_now()}
    address = PaymentAddress.objects.filter(payment=payment(cast.bakery.test)["id"]).first()
    assert address is not None
    offer = PaymentOffer.objects.create(
        **here,
        payment_id=address.payment_id,
        asset_id=address.asset_id,
        pay_to_id=address.address_id,
        amount_atomic=10**6,
        resource="https://rye.example/weather",
        timeout_seconds=60,
    )
    SignedPayment.objects.create(
        **here,
        offer=offer,
        chain_id=offer.asset.chain_id,
        contract_address=PAYER,
        payer=PAYER,
        nonce=f"0x{offer.pk.hex:0>64}",
        amount_atomic=10**6,
        valid_after=0,
        valid_before=1,
        signature="0x",
        updated_at=here["created_at"],
    )


def filled() -> Listed:
    cast = assemble()
    platform = platform_of(cast.bakery)
    paid(platform.sub().test, amount="30.00")
    ids = {name: RECORDS[name](cast)["id"] for name in MADE}
    made = paid(cast.bakery.test, amount="80.00")
    answer = cast.bakery.test.post(
        f"/payments/{made['id']}/refunds", {"amount": "0.01"}, key="refund"
    )
    assert answer.status_code == 201
    link = made_link(cast.bakery, title="Loaf", email=PaymentLink.Ask.REQUIRED)
    bought(cast.bakery, link, email="ann@rye.example")
    signed_payment(cast)
    add_bank(
        cast.bakery.store,
        "test",
        currency="EUR",
        holder="Rye GmbH",
        account="DE89370400440532013000",
        label="House bank",
    )
    request_log.flush()
    return Listed(cast, {**ids, "payment-links": str(link.pk)})


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[Listed]:
    yield from standing(django_db_blocker, filled)


@pytest.fixture
def listed(made: Listed, db: None) -> Listed:
    return made


def rows_of(answer: Any) -> list[dict[str, str]]:
    assert answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))


def in_words(page: Any) -> str:
    return unescape(text(page))


def test_every_list_page_of_the_dashboard_has_a_file() -> None:
    lists = {page.name for page in PAGES if page.view.__name__.startswith("index")}
    assert lists <= {case.page for case in CASES} | WITHOUT_FILE | NO_LIST
    files = {page.name for page in PAGES if page.name.endswith("_export")}
    assert files == {case.file for case in CASES} | {"prices_export"}


def test_the_file_has_the_rows_that_the_page_shows(listed: Listed) -> None:
    browser = Browser(listed.cast.alice)
    for case in CASES:
        rows = rows_of(browser.get(f"{listed.path(case.file, case.record)}?columns=all"))
        page = browser.get(listed.path(case.page, case.record))
        assert listed.path(case.file, case.record) in text(page) or case.page in EMPTY, case
        assert bool(rows) is (case.page not in EMPTY), case
        shown = in_words(page)
        for row in rows:
            assert row[case.key] and row[case.key] in shown, (case, row)


def test_an_empty_list_has_a_file_of_its_columns_alone(listed: Listed) -> None:
    browser = Browser(listed.cast.alice)
    browser.switch("live")
    for case in CASES:
        if not case.record and case.page not in OF_BOTH_MODES:
            assert rows_of(browser.get(listed.path(case.file, ""))) == [], case


def test_the_file_has_what_the_filters_of_the_page_leave(listed: Listed) -> None:
    browser = Browser(listed.cast.alice)
    for address, there, key in (
        ("payment-links.csv?status=active", 2, "title"),
        ("payment-links.csv?status=archived", 0, "title"),
        ("platform/payments.csv?status=completed", 1, "reference"),
        ("platform/payments.csv?status=expired", 0, "reference"),
        ("platform/accounts.csv?q=corner", 1, "name"),
        ("platform/accounts.csv?q=nobody", 0, "name"),
        ("approvals.csv", 1, "id"),
        ("approvals.csv?show=decided", 0, "id"),
        ("requests.csv?method=DELETE", 0, "id"),
        ("audit-log.csv?action=refund", 1, "action"),
        ("audit-log.csv?actor=nobody", 0, "action"),
        ("events.csv?type=payment_intent.completed", 1, "type"),
    ):
        assert len({row[key] for row in rows_of(browser.get(address))}) == there, address


def test_a_file_tells_what_the_columns_of_the_page_say(listed: Listed) -> None:
    browser = Browser(listed.cast.alice)
    (link,) = [row for row in rows_of(browser.get("payment-links.csv")) if row["title"] == "Loaf"]
    assert (link["amount"], link["currency"], link["status"]) == ("12.00", "EUR", "active")
    assert (link["paid"], link["collected"]) == ("1", "12.00")
    (payment_at_link,) = rows_of(browser.get(listed.path("link_payments_export", "payment-links")))
    assert payment_at_link["customer_email"] == "ann@rye.example"
    assert (payment_at_link["amount"], payment_at_link["status"]) == ("12.00", "completed")
    (bank,) = [
        row for row in rows_of(browser.get("payouts/destinations.csv")) if row["kind"] == "bank"
    ]
    assert (bank["name"], bank["verified"], bank["account_ending"]) == ("House bank", "no", "3000")
    (approval,) = rows_of(browser.get("approvals.csv"))
    assert (approval["amount"], approval["asset"], approval["status"]) == ("0.1", "SETH", "waiting")
    (signed,) = rows_of(browser.get("agents/x402.csv"))
    assert (signed["for"], signed["status"]) == ("https://rye.example/weather", "verified")
    (platform_payment,) = rows_of(browser.get("platform/payments.csv?columns=all"))
    assert platform_payment["sub_merchant"] == "Corner Shop"
    assert platform_payment["platform_fee_percentage"] == "1.50"
    assert platform_payment["platform_fee"] == f"{float(platform_payment['amount']) * 0.015:.2f}"


def statements(browser: Browser, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        rows_of(browser.get(address))
    return len(captured)


def more_of_each(cast: Cast) -> None:
    for _ in range(3):
        made_link(cast.bakery)
        signed_payment(cast)
        add_wallet(cast.bakery.store, "test", "sepolia", fresh_address())
    link = made_link(cast.bakery, title="Cake")
    bought(cast.bakery, link)
    RECORDS["webhooks"](cast)
    joined(cast, Role.VIEWER)


def test_a_file_asks_as_much_for_many_rows_as_for_one(listed: Listed) -> None:
    browser = Browser(listed.cast.alice)
    files = (
        "payment-links.csv",
        "agents/x402.csv",
        "payouts/destinations.csv",
        "events.csv",
        "audit-log.csv",
        "approvals.csv",
        "platform/payments.csv",
        "platform/accounts.csv",
        "team.csv",
        "requests.csv",
    )
    browser.get("team.csv")
    few = {file: statements(browser, file) for file in files}
    more_of_each(listed.cast)
    assert {file: statements(browser, file) for file in files} == few


# --- the list of events ---------------------------------------------------------------------------


def events_of(answer: Any) -> list[str]:
    return [row.event.type for row in answer.context["events"]]


def test_events_are_filtered_by_type_and_found_by_their_id(listed: Listed) -> None:
    browser = Browser(listed.cast.alice)
    answer = browser.get("events?type=payment_intent.completed")
    assert set(events_of(answer)) == {"payment_intent.completed"}
    event = Event.objects.visible_to(listed.cast.bakery.access()).order_by("created_at")[0]
    assert events_of(browser.get(f"events?q={event.pk}")) == [event.type]
    assert events_of(browser.get(f"events?q={event.pk}&type=store.deleted")) == []
    nothing = browser.get("events?q=bread")
    assert events_of(nothing) == [] and "No matching events" in text(nothing)
    assert events_of(Browser(listed.cast.charlie).get(f"events?q={event.pk}")) == []
    assert len(events_of(browser.get("events?type=nonsense"))) > 2
