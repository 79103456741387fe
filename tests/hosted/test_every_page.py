"""Every customer's page in a language whose every word is marked: what isn't marked couldn't be
translated."""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from babel import Locale
from django.core import mail as outbox
from django.core.cache import cache
from django.template.loader import render_to_string
from django.test import Client
from django.utils import translation

from apps.billing.invoices import files
from apps.billing.models import Customer, Invoice
from apps.billing.services import emails
from apps.billing.services.portal import portal_url
from apps.core import mail
from apps.core.redis import buckets
from apps.stores.services import change_store
from tests import make
from tests.billing import records as r
from tests.cast import Cast, Shop
from tests.hosted.wrapping import CLOSE, LANGUAGE, OPEN, wrapping
from tests.links.makers import donation, made_link
from tests.platforms.conftest import platform_of

pytestmark = pytest.mark.django_db
# What is read aloud or shown of an element beside its text.
SHOWN = (
    "aria-label",
    "placeholder",
    "alt",
    "title",
    "data-copied-text",
    "data-watermark",
    "data-text",
)
# Names and codes that are the same everywhere, and what merchants and customers wrote themselves.
# A day is named by its own language, by the machine that formats it.
MONTHS = {name.rstrip(".") for name in Locale(LANGUAGE).months["format"]["abbreviated"].values()}
NAMES = {
    *(
        "Tillgate",
        "ETH",
        "SETH",
        "USDC",
        "TEST",
        "EUR",
        "UTC",
        "PDF",
        "XML",
        "https",
        "IBAN",
        "API",
    ),
    "Sepolia",
    "Ethereum",
    "Base",
    "Polygon",
    "Arbitrum",
    "Optimism",
}
WORD = re.compile(r"[^\W\d_]{2,}")
MARKED = re.compile(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}")


class Reader(HTMLParser):
    """Collects what people see of a page; leaves out data, which isn't ours to translate (<bdi>,
    code, times, countries, languages)."""

    SKIPPED = ("script", "style", "svg", "bdi", "time", "option")

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.hidden: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = dict(attributes)
        if self.hidden:
            self.hidden += [tag] if tag == self.hidden[0] else []
            return
        is_data = (
            tag in self.SKIPPED
            or "mono" in (told.get("class") or "").split()
            or (tag != "html" and told.get("lang"))
        )
        if is_data:
            self.hidden.append(tag)
        self.seen += [f" {told[name]} " for name in SHOWN if told.get(name) and not is_data]

    def handle_endtag(self, tag: str) -> None:
        if self.hidden and tag == self.hidden[-1]:
            self.hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.seen.append(data)


def unmarked(page: str, data: Iterable[str] = ()) -> set[str]:
    """The words outside of every mark."""
    reader = Reader()
    reader.feed(page)
    return words(" ".join(reader.seen), data)


def words(text: str, data: Iterable[str]) -> set[str]:
    text = unescape(text)
    for item in sorted(data, key=len, reverse=True):
        text = text.replace(item, " ")
    while MARKED.search(text):
        text = MARKED.sub(" ", text)
    return set(WORD.findall(text)) - NAMES - MONTHS


@pytest.fixture(autouse=True)
def _marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with wrapping(monkeypatch):
        yield


def looked_at(path: str, *data: str, status: int = 200, form: dict[str, str] | None = None) -> None:
    client = Client(headers={"Accept-Language": LANGUAGE})
    answer = client.get(path) if form is None else client.post(path, form)
    assert answer.status_code == status, (path, answer.status_code)
    assert f'<html lang="{LANGUAGE}"' in answer.text
    assert (
        unmarked(answer.text, {"Alice", "Bakery", "help", "bakery", "example", *data}) == set()
    ), path


@pytest.mark.parametrize(
    "scenario", ["", "exact", "underpaid", "overpaid", "unconfirmed", "failed"]
)
def test_the_checkout(bakery: Shop, scenario: str) -> None:
    change_store(bakery.store, support_email="help@bakery.example")
    made = make.payment(bakery.test, title="Rye")
    if scenario:
        make.simulated(bakery.test, made["id"], scenario)
    looked_at(f"/pay/{made['reference']}", "Rye")
    looked_at(f"/pay/{made['reference']}?embed=1&origin=https://shop.example", "Rye")


def test_the_checkout_that_has_expired(bakery: Shop) -> None:
    made = make.payment(bakery.test, failed_url="https://shop.example/back")
    make.advance(bakery.test, 3601)
    looked_at(f"/pay/{made['reference']}", "shop.example")
    looked_at(
        f"/pay/{made['reference']}/simulate", "shop.example", status=422, form={"scenario": "exact"}
    )


def test_the_checkout_by_card(bakery: Shop) -> None:
    cache.clear()
    change_store(bakery.store, country="DE", card_funding_live=True, card_funding_test=True)
    reference = make.payment(bakery.test)["reference"]
    looked_at(
        f"/pay/{reference}?pay=card",
        "Sandbox",
        "Credit or debit card",
        "Bank transfer",
        "Deutschland",
    )
    looked_at(
        f"/pay/{reference}/card",
        "Sandbox",
        "Credit or debit card",
        "Bank transfer",
        "Deutschland",
        status=422,
        form={"choice": "x|y"},
    )


def test_payment_links(bakery: Shop) -> None:
    looked_at(f"/pay/{made_link(bakery).token}", "Mug")
    looked_at(f"/pay/{donation(bakery, email='required', name='optional').token}", "Donation")
    looked_at(
        f"/pay/{donation(bakery, email='required').token}",
        "Donation",
        status=422,
        form={"choice": "other", "amount": "x"},
    )


def test_an_invoice_in_each_state(bakery: Shop) -> None:
    change_store(bakery.store, support_email="help@bakery.example")
    made = r.opened(bakery.test, description="Croissants")
    data = (
        "Croissants",
        "Bread",
        "club",
        "Croissant",
        made["formatted_number"],
        "INV",
        made["customer"]["email"],
    )
    path = f"/invoice/{made['public_token']}"
    looked_at(path, *data)
    looked_at(f"{path}?sent=1", *data)
    r.start_payment(made["public_token"])
    looked_at(path, *data)
    r.pay(bakery.test, made)
    looked_at(path, *data)
    void = r.opened(bakery.test)
    r.ok(r.act(bakery.test, void["id"], "void"))
    looked_at(f"/invoice/{void['public_token']}", *data, void["customer"]["email"])


def test_the_portal(bakery: Shop) -> None:
    subscription = r.subscribe(bakery.test)
    customer = Customer.objects.select_related("store").get(pk=subscription["customer_id"])
    path = "/portal/" + portal_url(customer).rpartition("/")[2]
    data = ("Bread club", "INV", customer.email, customer.name or "")
    looked_at(path, *filter(None, data))
    looked_at(f"{path}/subscriptions/{subscription['id']}/cancel", *filter(None, data))


def test_onboarding(cast: Cast) -> None:
    platform = platform_of(cast.bakery)
    sub = platform.sub(kyc=False)
    link = platform.mint(sub.id).json()
    path = f"/onboarding/{link['token']}"
    data = ("Corner Shop", "Corner", "Shop", "USD", "GBP")
    looked_at(path, *data)
    looked_at(f"{path}/business", *data, status=422, form={"business_legal_name": ""})
    looked_at(f"{path}/payout", *data)
    looked_at(f"{path}/payout?kind=bank", *data)
    looked_at(
        f"{path}/payout",
        *data,
        status=422,
        form={"kind": "wallet", "network": "ethereum", "address": "x"},
    )
    looked_at("/onboarding/unknown", status=404)
    looked_at("/onboarding/destination/unknown", status=404)


@pytest.mark.parametrize("path", ["/pay/AAAAAAAAAAAAAAAA", "/nothing"])
def test_pages_that_say_no(db: None, path: str) -> None:
    looked_at(path, status=404)


def test_the_page_for_who_asks_too_often(bakery: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make.payment(bakery.test)
    limited = buckets.Allowance(
        "checkout",
        is_limited=True,
        per_minute=1,
        burst=1,
        remaining=0,
        reset_seconds=60,
        retry_after_seconds=60,
    )
    monkeypatch.setattr(buckets, "take", lambda *_: limited)
    looked_at(f"/pay/{made['reference']}", status=429)


def test_the_status_page(db: None) -> None:
    looked_at("/status")


@pytest.mark.parametrize("name", ["400", "403", "503"])
def test_the_other_pages_that_say_no(name: str, rf: Any) -> None:
    with translation.override(LANGUAGE):
        assert unmarked(render_to_string(f"{name}.html", request=rf.get("/pay/x"))) == set()


def test_emails(bakery: Shop) -> None:
    change_store(bakery.store, customer_language=LANGUAGE)
    r.subscribe(bakery.test, grace_cycles=1)
    make.advance(bakery.test, 42 * r.DAY)
    r.pay(bakery.test, r.opened(bakery.test))
    for customer in Customer.objects.select_related("store"):
        emails.portal_link(customer)
    mail.send_due()
    assert len({email.subject for email in outbox.outbox}) >= 7
    for email in outbox.outbox:
        html, _ = email.alternatives[0]  # type: ignore[attr-defined]
        data = {
            "Alice's Bakery",
            "Bread club",
            "INV",
            *email.to,
            *Locale(LANGUAGE).months["format"]["wide"].values(),
        }
        body = re.sub(r"https?://\S+", " ", email.body)
        assert unmarked(html, data) | words(f"{email.subject} {body}", data) == set(), email.subject


def test_files(bakery: Shop) -> None:
    made = r.opened(
        bakery.test, description="Croissants", discount={"type": "percent", "value": 10}
    )
    r.pay(bakery.test, made)
    invoice = Invoice.objects.select_related("store", "customer").get(pk=made["id"])
    data = {"Alice's Bakery", "Bread club", "Croissants", "INV", invoice.customer.email}
    for is_receipt in (False, True):
        assert (
            unmarked(files._page(invoice, is_receipt=is_receipt, language=LANGUAGE), data) == set()
        )
