"""Data as long, as foreign and as large as it may be, for the pictures: what the API makes, and
what people type in forms."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import requests
from playwright.sync_api import Locator, Page

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
ARABIC = "قهوة عربية بالهيل والزعفران مع تمر المجهول الفاخر"
UGLY = [
    f"{LONG}"[:140],
    f"{ARABIC} {ARABIC}",
    "👩🏽‍🚀☕️🇯🇵 コーヒー豆の定期便（深煎り）",
    '<b>"O\'Neill" & Söhne</b>',
]


def mail_address(number: int) -> str:
    return f"{'very.' * 10}long{number}@{'sub.' * 8}example.com"


HEX_ADDRESS = "0x" + "7e57c01d" * 5
CONFIRM = "/dashboard/confirm"
SENDING_MAX = 3
ERRORS = "main .error, main [role=alert]"
# Pages with a form, in the order in which one needs another, and what is typed there in place of
# ugly words.
FORMS: tuple[tuple[str, dict[str, str]], ...] = (
    ("settings/store", {"website": "", "vat_number": ""}),
    ("settings/taxes/new", {"rate": "99.99", "reason": "", "reason_code": ""}),
    ("settings/branding", {"primary_color": "", "secondary_color": ""}),
    ("payment-links/new", {"amount": "999999.99", "stock": "1000"}),
    ("payouts/destinations/wallet", {"address": HEX_ADDRESS}),
    ("payouts/destinations/bank", {"account": "DE89370400440532013000"}),
    ("payouts/new", {"amount": "0.123456789012345678", "destination_address": HEX_ADDRESS}),
    ("payouts/schedules/new", {"minimum": "999999.99"}),
    ("subscriptions/new", {"trial_days": "30", "email": mail_address(0)}),
    ("agents/new", {}),
    ("api-keys/new", {}),
    ("team/invite", {}),
    ("apps/own/new", {"redirect_uris": f"https://{'sub.' * 20}example.com/{'path/' * 20}"}),
    ("platform", {}),
    ("verification", {}),
)


class Filler:
    """Asks the API for what its store is to have; what is refused is printed and left out."""

    def __init__(self, base: str, key: str) -> None:
        self.base = base
        self.api = requests.Session()
        self.api.auth = (key, "")

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.api.post(f"{self.base}/api/v2{path}", json=body, timeout=60)
        if answer.status_code >= 400:
            print(f"  {path}: {answer.status_code} {answer.text[:160]}")
            return {}
        record: dict[str, Any] = answer.json()
        return record

    def add_payment(self, number: int, scenario: str | None) -> None:
        words = UGLY[number % len(UGLY)]
        payment = self.post(
            "/payments",
            {
                "payment_intent": {
                    "amount": ["0.02", "99999.99", "12.34", "1234567"][number % 4],
                    "currency": ["EUR", "USD", "CHF", "JPY"][number % 4],
                    "title": words,
                    "description": f"{words} {words}"[:400],
                    "order_id": f"ORDER-{number}-{'9' * 40}",
                    "metadata": {"long": LONG[:200], "rtl": ARABIC},
                }
            },
        )
        if scenario and payment:
            self.post(f"/payments/{payment['id']}/simulated_payments", {"scenario": scenario})

    def add_billing(self, number: int, words: str) -> None:
        email = mail_address(number)
        customer = self.post(
            "/billing/customers", {"customer": {"email": email, "name": words[:120]}}
        )
        product = self.post(
            "/billing/products", {"product": {"name": words[:100], "description": words}}
        )
        if not product or not customer:
            return
        self.post(
            f"/billing/products/{product['id']}/prices",
            {"price": {"unit_amount_cents": 99999999, "currency": "EUR", "interval": "monthly"}},
        )
        item = {"description": words, "quantity": 999, "unit_amount_cents": 123456}
        invoice = self.post(
            "/billing/invoices",
            {
                "invoice": {
                    "customer_id": customer["id"],
                    "currency": "EUR",
                    "line_items": [item],
                }
            },
        )
        if invoice:
            self.post(f"/billing/invoices/{invoice['id']}/finalize", {})

    def add_credit(self, words: str) -> None:
        """A customer who paid too much for an invoice with a tax, a part of which was taken
        back."""
        customer = self.post(
            "/billing/customers", {"customer": {"email": mail_address(50), "name": words[:120]}}
        )
        tax = {"name": words[:50], "category": "S", "rate_bps": 9999}
        line = {
            "description": words,
            "quantity": 1,
            "unit_amount_cents": 9_999_999,
            "tax_rate_id": self.post("/billing/tax_rates", {"tax_rate": tax}).get("id"),
        }
        invoice = {"customer_id": customer.get("id"), "currency": "EUR", "line_items": [line]}
        made = self.post("/billing/invoices", {"invoice": invoice})
        path = f"/billing/invoices/{made.get('id')}"
        token = self.post(f"{path}/finalize", {}).get("public_token")
        paying = self.post(f"/billing/invoice/{token}/payment_intent", {}).get("payment") or {}
        self.post(
            f"/payments/{paying.get('payment_intent_id')}/simulated_payments",
            {"scenario": "overpaid"},
        )
        self.api.get(f"{self.base}/api/v2/billing/invoice/{token}", timeout=60)  # which counts it
        note = {"amount_cents": 5_555_555, "reason": "other", "memo": words}
        self.post(f"{path}/credit_notes", {"credit_note": note})

    def add_endpoint(self) -> None:
        path = "/".join(["webhooks"] * 12)
        self.post(
            "/webhook_endpoints",
            {
                "webhook_endpoint": {
                    "url": f"{self.base}/{path}",
                    "subscribed_events": ["payment_intent.completed"],
                }
            },
        )


def fill_with_ugly_data(base: str, key: str) -> None:
    """A bit of everything that the API makes, in the longest and most foreign words that it
    takes."""
    filler = Filler(base, key)
    scenarios = ["exact", "underpaid", "overpaid", "exact", "exact", None, "failed", "exact"]
    for number, scenario in enumerate(scenarios):
        filler.add_payment(number, scenario)
    for number, words in enumerate(UGLY):
        filler.add_billing(number, words)
    filler.add_credit(UGLY[0])
    filler.add_endpoint()


def fill_by_forms(page: Page, base: str, confirm: Callable[[], None]) -> None:
    """Fill the forms that only people fill. Some ask for a code, which `confirm` answers."""
    for number, (path, typed) in enumerate(FORMS):
        page.goto(f"{base}/dashboard/{path}")
        if urlsplit(page.url).path == CONFIRM:
            confirm()
            page.goto(f"{base}/dashboard/{path}")
        for _ in range(SENDING_MAX):
            form = page.locator("main form:has(.button.primary)").last
            if not form.count() or page.url.rstrip("/") == f"{base}/dashboard":
                break
            before = page.url
            _fill(form, UGLY[number % len(UGLY)], typed)
            _choose(form)
            if form.locator("input[name=code]").count():
                confirm()
            else:
                form.evaluate("form => { form.noValidate = true; }")
                form.locator(".button.primary").last.click()
                page.wait_for_load_state()
            if page.url != before or page.locator(ERRORS).count():
                break
        for complaint in page.locator(ERRORS).all_inner_texts():
            print(f"  {path}: {complaint[:160]}")


def _fill(form: Locator, words: str, typed: dict[str, str]) -> None:
    fields = form.locator(
        "input:not([type=hidden],[type=checkbox],[type=radio],[type=file],[type=date]), textarea"
    )
    for field in fields.all():
        name = field.get_attribute("name") or ""
        if name == "code" or not field.is_visible():
            continue
        length = int(field.get_attribute("maxlength") or 500)
        field.fill(typed.get(name, _words_for(field, name, words))[:length])


def _choose(form: Locator) -> None:
    for select in form.locator("select[required], select[name=price]").all():
        if not select.input_value():
            select.select_option(index=1)
    scopes = form.locator("input[type=checkbox][name=scopes]")
    if scopes.count() and not form.locator("input[name=scopes]:checked").count():
        scopes.first.check()


def _words_for(field: Locator, name: str, words: str) -> str:
    kind = field.get_attribute("type") or ""
    if kind == "email" or "email" in name:
        return mail_address(99)
    if kind == "url" or (field.get_attribute("placeholder") or "").startswith("https"):
        return f"https://example.com/{'path/' * 30}"
    if kind == "number" or field.get_attribute("inputmode") in ("decimal", "numeric"):
        return field.input_value() or "12"
    return f"{words} {words} {words}"
