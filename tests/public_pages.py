"""Pages of customers and visitors of a running demo, for the pictures: every stage of the checkout,
payment links, invoices and the portal, the ways in, and what the links of emails open."""

import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page

from tests.ugly import ARABIC, LONG, Filler, mail_address

EMAIL_SECONDS = 60
EXPIRES_IN_SECONDS = 300
BY_CARD = "2499.90"  # the card sandbox takes no million
ACCOUNT = "sign-up/code"


def stay(page: Page) -> None:
    """The page as it is opened."""


Act = Callable[[Page], object]
Step = tuple[str, str, Act]


@dataclass(frozen=True)
class PublicPage:
    """One picture: where it is, and what is done on the page before."""

    name: str
    url: str
    act: Act = stay
    is_email: bool = False  # whose ground is the mail program's


@dataclass(frozen=True)
class Words:
    """Words that a merchant has typed."""

    title: str
    line: str
    customer: str
    email: str
    more: str
    amount: str = "29.90"
    price_cents: int = 2290


# A merchant's page with a checkout in it.
SHOP = """<!doctype html><html lang="en"><title>A shop</title>
<style>:root {{ color-scheme: light dark; background: light-dark(#fff, #111); }}</style>
<main><h1>A shop</h1><script src="{base}/embed.js" data-reference="{reference}"></script></main>
</html>"""
PLAIN = Words(
    "Order 1042",
    "Espresso beans, 1 kg",
    "Ann Baker",
    "ann@example.com",
    "Beans for the office, with paper filters",
)
_UGLY_LINE = f"{ARABIC} {LONG[:60]}"
UGLY = Words(
    LONG[:140],
    _UGLY_LINE,
    LONG[:120],
    mail_address(7),
    f"{_UGLY_LINE}, {_UGLY_LINE}",
    "999999.99",
    99999999,
)


def unfold(page: Page) -> None:
    """Everything that opens on a press."""
    page.eval_on_selector_all("main details", "all => all.forEach(one => { one.open = true; })")


class Customers:
    """Has the API of one store make what its customers open."""

    def __init__(self, base: str, key: str, words: Words, kind: str) -> None:
        self.base = base
        self.filler = Filler(base, key)
        self.words = words
        self.kind = kind

    def pages(self) -> Iterator[PublicPage]:
        for name, url, act in chain(self._checkouts(), self._invoices(), self._languages()):
            yield PublicPage(f"{self.kind}-{name}", url, act)

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self.filler.post(path, body)

    def _order(self, scenario: str = "", **more: Any) -> dict[str, Any]:
        words = self.words
        lines = [
            {"description": words.line, "quantity": 1, "unit_amount_cents": words.price_cents},
            {"description": "Paper filters", "quantity": 2, "unit_amount_cents": 350},
        ]
        order = {
            "amount": words.amount,
            "currency": "EUR",
            "title": words.title,
            "description": words.more,
            "line_items": lines,
            "success_url": "https://shop.example/thanks",
            "failed_url": "https://shop.example/basket",
        }
        made = self._ask("/payments", {"payment_intent": order | more})
        if scenario:
            simulated: dict[str, Any] = {"scenario": scenario}
            if scenario == "unconfirmed":
                simulated["confirmations"] = 3
            self._ask(f"/payments/{made['id']}/simulated_payments", simulated)
        return made

    def _checkouts(self) -> Iterator[Step]:
        expired = self._order(expires_in=EXPIRES_IN_SECONDS)
        short = self._order("underpaid", expires_in=EXPIRES_IN_SECONDS)
        self._ask("/test_clock/advance", {"seconds": EXPIRES_IN_SECONDS + 1})
        yield "checkout-expired", expired["hosted_url"], stay
        yield "checkout-expired-short", short["hosted_url"], unfold
        made = self._order()
        yield "checkout-pay", made["hosted_url"], stay
        yield "checkout-pay-unfolded", made["hosted_url"], unfold
        yield "checkout-embedded", made["hosted_url"], embed
        by_card = self._order(amount=BY_CARD, line_items=[])["hosted_url"]
        yield "checkout-card", f"{by_card}?pay=card&country=DE", choose_last_method
        for scenario in ("underpaid", "unconfirmed", "exact", "overpaid", "failed"):
            yield f"checkout-{scenario}", self._order(scenario)["hosted_url"], stay
        refunded = self._order("exact")
        self.filler.api.headers["Idempotency-Key"] = uuid.uuid4().hex
        self._ask(f"/payments/{refunded['id']}/refunds", {"refund": {}})
        del self.filler.api.headers["Idempotency-Key"]
        yield "checkout-refunded", refunded["hosted_url"], await_refund

    def _languages(self) -> Iterator[Step]:
        """At last: a customer's choice is kept."""
        url = self._order()["hosted_url"]
        for language in ("ar", "ja", "de"):
            yield f"checkout-pay-{language}", f"{url}?lang={language}", stay

    def _invoice(self) -> dict[str, Any]:
        words = self.words
        address = {
            "line1": "Ringstraße 1",
            "postal_code": "10115",
            "city": "Berlin",
            "country": "DE",
        }
        email = f"{uuid.uuid4().hex[:8]}.{words.email}"  # each customer has their own
        owner = {"email": email, "name": words.customer, "address": address}
        customer = self._ask("/billing/customers", {"customer": owner})
        lines = [
            {"description": words.line, "quantity": 2, "unit_amount_cents": words.price_cents},
            {"description": "Delivery", "quantity": 1, "unit_amount_cents": 490},
        ]
        invoice = {
            "customer_id": customer["id"],
            "currency": "EUR",
            "line_items": lines,
            "tax_rate_bps": 1900,
            "discount_type": "percent",
            "discount_value": 10,
            "notes": "Please ring twice.",
            "footer": "Thank you for your order.",
        }
        made = self._ask("/billing/invoices", {"invoice": invoice})
        return self._ask(f"/billing/invoices/{made['id']}/finalize", {})

    def _invoices(self) -> Iterator[Step]:
        for name, act in (("void", "void"), ("uncollectible", "mark_uncollectible")):
            made = self._invoice()
            self._ask(f"/billing/invoices/{made['id']}/{act}", {})
            yield f"invoice-{name}", made["hosted_url"], stay
        made = self._invoice()
        yield "invoice-open", made["hosted_url"], stay
        yield "invoice-paying", made["hosted_url"], press_pay
        yield "invoice-paid", made["hosted_url"], simulate


def embed(page: Page) -> None:
    """By the script that a merchant puts into a page of theirs, which is `SHOP`."""
    parts = urlsplit(page.url)
    base = f"{parts.scheme}://{parts.netloc}"
    body = SHOP.format(base=base, reference=parts.path.rpartition("/")[2])
    page.route("**/shop", lambda route: route.fulfill(content_type="text/html", body=body))
    page.goto(f"{base}/shop")
    page.frame_locator("iframe").locator("#checkout").wait_for()


def choose_last_method(page: Page) -> None:
    """A card checkout has methods to choose from: without them this waits in vain."""
    unfold(page)
    page.locator(".card-choice input").last.check(timeout=3000)


def await_refund(page: Page) -> None:
    """The stage once the worker has sent it back."""
    ends_at = time.monotonic() + EMAIL_SECONDS
    while not page.get_by_text("Refunded").count() and time.monotonic() < ends_at:
        time.sleep(2)
        page.reload()


def press_pay(page: Page) -> None:
    button = page.locator("main form[action$='/pay'] button")
    if button.count():
        button.first.click()
        page.wait_for_load_state("load")  # its page waits for news with a request


def simulate(page: Page) -> None:
    """By the panel that pages of test mode have."""
    button = page.locator("form[action*='/simulate'] button[value=exact]")
    if button.count():
        unfold(page)
        button.first.click()
        page.wait_for_load_state("load")  # its page waits for news with a request


# --- payment links, by the dashboard --------------------------------------------------------------


def link_pages(page: Page, base: str, kind: str) -> Iterator[PublicPage]:
    """The public pages of the payment links in the list; somebody is signed in."""
    page.goto(f"{base}/dashboard/payment-links")
    rows = page.locator("tbody .row-link")
    found = [rows.nth(number).get_attribute("href") for number in range(rows.count())]
    for number, path in enumerate(found[:4]):
        page.goto(f"{base}{path}")
        url = page.locator(".copy-box code").first.inner_text()
        yield PublicPage(f"{kind}-link-{number}", url)


# --- visitors -------------------------------------------------------------------------------------


def sign_up(page: Page) -> str:
    """To the page that asks for the code of the email; to whom it went."""
    email = f"{uuid.uuid4().hex[:8]}@example.com"
    page.locator("#email").fill(email)
    page.locator("main .button.primary").click()
    page.wait_for_url(f"**/{ACCOUNT}")
    return email


def with_code(page: Page) -> None:
    """To the page that names the store."""
    base = page.url.partition("/dashboard")[0]
    email = sign_up(page)
    there = page.url
    message = page.locator("tbody tr", has_text=email).locator("th a")
    ends_at = time.monotonic() + EMAIL_SECONDS
    while True:
        page.goto(f"{base}/dev/mailbox")
        if message.count() or time.monotonic() > ends_at:
            break
        time.sleep(2)
    message.first.click()
    found = re.search(r"^\s*(\d{6})\s*$", page.locator("main .card").inner_text(), re.M)
    text = found.group(1) if found else ""
    page.goto(there)
    page.locator("input[name=code]").fill(text)
    page.locator("main .button.primary").click()
    page.wait_for_load_state()


def wrongly(page: Page) -> None:
    """Send the form with what can't be right."""
    for field in page.locator("main form input:visible").all():
        if (field.get_attribute("type") or "text") in ("text", "email", "password"):
            field.fill("nobody@example.com" if field.get_attribute("id") == "email" else "1")
    page.locator("main form .button.primary").first.click()
    page.wait_for_load_state()


def forget(page: Page) -> None:
    page.locator("#email").fill("merchant@demo.example")
    page.locator("main .button.primary").click()
    page.wait_for_load_state()


def visitor_pages(base: str) -> Iterator[PublicPage]:
    room = f"{base}/dashboard/"
    acts: dict[str, tuple[str, Act]] = {
        "sign-in": (f"{room}sign-in", stay),
        "sign-in-wrong": (f"{room}sign-in", wrongly),
        "sign-up": (f"{room}sign-up", stay),
        "sign-up-code": (f"{room}sign-up", sign_up),
        "sign-up-store": (f"{room}sign-up", with_code),
        "forgot": (f"{room}forgot", stay),
        "forgot-sent": (f"{room}forgot", forget),
        "status": (f"{base}/status", stay),
        "mailbox": (f"{base}/dev/mailbox", stay),
        "reset-over": (f"{room}reset/{uuid.uuid4()}/unknown", stay),
        "join-over": (f"{room}join/unknown", stay),
        "stop-over": (f"{room}stop/unknown", stay),
        "invited-over": (f"{room}sign-up/invited/unknown", stay),
        "new-sign-in-over": (f"{room}sign-ins/unknown", stay),
        "unsubscribe-over": (f"{room}unsubscribe/unknown", stay),
        "onboarding-over": (f"{base}/onboarding/unknown", stay),
        "destination-over": (f"{base}/onboarding/destination/unknown", stay),
        "portal-over": (f"{base}/portal/{'0' * 32}.a.a", stay),
        "pay-missing": (f"{base}/pay/AAAAAAAAAAAAAAAA", stay),
        "missing": (f"{base}/nothing", stay),
        "front": (f"{base}/", stay),
    }
    for name, (url, act) in acts.items():
        yield PublicPage(f"visitor-{name}", url, act)
    for path in ("", "quickstart", "errors", "events", "reference/payments", "search?q=refund"):
        yield PublicPage(f"docs-{re.sub('[^a-z]+', '-', path) or 'home'}", f"{base}/docs/{path}")


def email_pages(page: Page, base: str) -> Iterator[PublicPage]:
    """One email of each subject, numbers apart."""
    page.goto(f"{base}/dev/mailbox")
    seen = set()
    rows = page.locator("tbody th a")
    for number in range(rows.count()):
        subject = re.sub(r"[\d.,€$]+", "0", rows.nth(number).inner_text())[:24]
        if subject not in seen:
            seen.add(subject)
            name = re.sub(r"[^a-z]+", "-", subject.lower()).strip("-")
            href = rows.nth(number).get_attribute("href")
            yield PublicPage(f"email-{name}", f"{base}{href}/html", is_email=True)
