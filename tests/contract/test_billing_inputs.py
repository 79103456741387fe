"""Odd inputs of billing as one table: each row is asked once in one store, and none is answered
with a 500."""

from typing import Any

from django.test import Client

from apps.billing.models import Invoice
from apps.core.models import OutgoingMail
from tests.billing import records as r
from tests.cast import Api, Cast
from tests.dashboard.browse import Browser

UNKNOWN = "00000000-0000-4000-8000-000000000000"
HTML = "<script>alert(1)</script>"
UPWARD = "../../etc/passwd"


class World:
    """Records that the rows name."""

    def __init__(self, cast: Cast) -> None:
        api = cast.bakery.test
        self.price = r.price(api)
        self.other = r.price(api)
        self.dollars = r.price(api, currency="USD")
        self.customer = r.customer(api, email="ann@example.com", name="Ann 100%")
        self.gone = r.customer(api, email="gone@example.com")
        assert api.delete(f"/billing/customers/{self.gone['id']}").status_code == 204
        self.draft = r.draft(api, custom_number="A-1")
        self.open = r.opened(api)
        self.nothing = r.draft(api, line_items=[r.line(0)])
        self.void = r.ok(r.act(api, r.opened(api)["id"], "void"))
        self.paid = r.pay(api, r.opened(api))
        self.live = r.draft(cast.bakery.live)
        self.running = r.subscribe(api)
        self.ended = r.subscribe(api)
        r.ok(api.post(f"/billing/subscriptions/{self.ended['id']}/cancel", {}))

    def rows(self) -> list[tuple[str, str, str, Any, int, Any]]:
        """name, method, path, body, status, what the answer says: a sentence, or fields."""
        return [
            *self.prices(),
            *self.subscriptions(),
            *self.customers(),
            *self.invoices(),
            *self.states(),
            *self.ids(),
        ]

    def prices(self) -> list[tuple[str, str, str, Any, int, Any]]:
        of = f"/billing/products/{self.price['product_id']}/prices"
        good = {"unit_amount_cents": 1000, "currency": "EUR", "interval": "monthly"}

        def made(**fields: Any) -> dict[str, Any]:
            return {"price": {**good, **fields}}

        return [
            (
                "negative price",
                "POST",
                of,
                made(unit_amount_cents=-1),
                422,
                "unit_amount_cents must be at least 0",
            ),
            (
                "price of nothing",
                "POST",
                of,
                made(unit_amount_cents=0),
                201,
                {"unit_amount_cents": 0},
            ),
            (
                "price of 10^30",
                "POST",
                of,
                made(unit_amount_cents=10**30),
                422,
                "unit_amount_cents must be at most",
            ),
            ("price in coins", "POST", of, made(currency="ETH"), 422, "currency must be one of"),
            ("hourly price", "POST", of, made(interval="hourly"), 422, "interval must be one of"),
            (
                "negative interval",
                "POST",
                of,
                made(interval_count=-1),
                422,
                "interval_count must be at least 1",
            ),
            (
                "price changed",
                "PATCH",
                f"{of}/{self.price['id']}",
                made(unit_amount_cents=1),
                405,
                None,
            ),
            (
                "price of another product",
                "GET",
                f"{of}/{self.other['id']}",
                None,
                404,
                {"error": "Price not found"},
            ),
        ]

    def subscriptions(self) -> list[tuple[str, str, str, Any, int, Any]]:
        path = "/billing/subscriptions"
        euros = {"price_id": self.price["id"]}
        dollars = {"price_id": self.dollars["id"]}

        def made(**fields: Any) -> dict[str, Any]:
            return {"subscription": {"customer_id": self.customer["id"], **fields}}

        return [
            (
                "two currencies",
                "POST",
                path,
                made(items=[euros, dollars]),
                422,
                "interval, interval_count and currency",
            ),
            (
                "customer deleted",
                "POST",
                path,
                made(**euros, customer_id=self.gone["id"]),
                422,
                {"error": "Customer is not active"},
            ),
            (
                "price and items",
                "POST",
                path,
                made(price_id=self.other["id"], items=[euros]),
                201,
                {"price_id": self.price["id"]},
            ),
            (
                "quantity nothing",
                "POST",
                path,
                made(**euros, quantity=0),
                422,
                "quantity must be at least 1",
            ),
            (
                "quantity beyond 64 bits",
                "POST",
                path,
                made(**euros, quantity=10**12),
                422,
                "quantity must be at most",
            ),
            (
                "sum too large",
                "POST",
                path,
                made(**euros, quantity=10**9),
                422,
                "total must be at most",
            ),
            ("no items", "POST", path, made(items=[]), 422, "items can't be empty"),
            ("no price", "POST", path, made(), 422, "price_id is required"),
            (
                "item without a price",
                "POST",
                path,
                made(items=[{"price": {}}]),
                422,
                "items price_id is required",
            ),
            (
                "one price twice",
                "POST",
                path,
                made(items=[euros, euros]),
                422,
                "items name a price more than once",
            ),
            (
                "ended one broken",
                "PATCH",
                f"{path}/{self.ended['id']}",
                {},
                422,
                {"error": "Cannot change a canceled subscription"},
            ),
            (
                "items of null",
                "PATCH",
                f"{path}/{self.running['id']}",
                {"subscription": {"items": None, "quantity": None}},
                200,
                {"quantity": 1},
            ),
            (
                "cycles of null",
                "PATCH",
                f"{path}/{self.running['id']}",
                {"subscription": {"grace_cycles": None}},
                200,
                {"grace_cycles": 1},
            ),
            (
                "broken item",
                "PATCH",
                f"{path}/{self.running['id']}",
                {"subscription": {"items": [{"quantity": 0}]}},
                422,
                "items[0].quantity must be at least 1",
            ),
            (
                "cancellation of text",
                "POST",
                f"{path}/{self.running['id']}/cancel",
                {"at_period_end": "x"},
                422,
                "at_period_end must be true or false",
            ),
            (
                "trial backwards",
                "POST",
                path,
                made(**euros, trial_period_days=-1),
                422,
                "trial_period_days must be at least 0",
            ),
            (
                "grace backwards",
                "POST",
                path,
                made(**euros, grace_cycles=-1),
                422,
                "grace_cycles must be at least 0",
            ),
        ]

    def customers(self) -> list[tuple[str, str, str, Any, int, Any]]:
        path = "/billing/customers"
        taken = {"error": "A customer with this email already exists"}

        def made(email: str, **fields: Any) -> dict[str, Any]:
            return {"customer": {"email": email, **fields}}

        return [
            ("address of a deleted one", "POST", path, made("GONE@example.com"), 409, taken),
            (
                "umlaut in an address",
                "POST",
                path,
                made("ü@x.example"),
                422,
                "email is not a valid address",
            ),
            (
                "formula as a name",
                "POST",
                path,
                made("f@x.example", name="=cmd|' /C calc'!A0"),
                201,
                {"name": "=cmd|' /C calc'!A0"},
            ),
            (
                "address of a megabyte",
                "POST",
                path,
                made("m@x.example", address={"a": "x" * 900_000}),
                422,
                "address is too large",
            ),
            (
                "address as a list",
                "POST",
                path,
                made("l@x.example", address=[]),
                422,
                "address must be an object",
            ),
            (
                "search for a percent sign",
                "GET",
                f"{path}?q=%25",
                None,
                200,
                {"data": [self.customer]},
            ),
            *(
                (f"page {page}", "GET", f"{path}?page={page}", None, 200, None)
                for page in ("-1", "1.5", "1e2", "9" * 20)
            ),
            *(
                (f"{size} per page", "GET", f"{path}?per_page={size}", None, 200, None)
                for size in ("0", "-1", "101", "abc", "9" * 20)
            ),
        ]

    def invoices(self) -> list[tuple[str, str, str, Any, int, Any]]:
        def made(**fields: Any) -> dict[str, Any]:
            return {
                "invoice": {
                    "customer_id": self.customer["id"],
                    "currency": "EUR",
                    "line_items": [r.line()],
                    **fields,
                }
            }

        path = "/billing/invoices"
        percent = {"discount_type": "percent"}
        naive = {"due_at": "2026-01-01T00:00:00.000000Z"}
        return [
            (
                "101 percent",
                "POST",
                path,
                made(**percent, discount_value=101),
                422,
                "discount_value must be at most 100 percent",
            ),
            (
                "minus 5 percent",
                "POST",
                path,
                made(**percent, discount_value=-5),
                422,
                "discount_value must be at least 0",
            ),
            (
                "tax without end",
                "POST",
                path,
                made(tax_rate_bps=10**9),
                422,
                "tax_rate_bps must be at most 10000",
            ),
            (
                "number taken",
                "POST",
                path,
                made(custom_number="A-1"),
                422,
                "custom_number has already been taken",
            ),
            (
                "number of HTML",
                "POST",
                path,
                made(custom_number=HTML),
                201,
                {"custom_number": HTML},
            ),
            (
                "number as a path",
                "POST",
                path,
                made(custom_number=UPWARD),
                201,
                {"formatted_number": UPWARD},
            ),
            (
                "time without an offset",
                "POST",
                path,
                made(due_at="2026-01-01T00:00:00"),
                201,
                naive,
            ),
        ]

    def states(self) -> list[tuple[str, str, str, Any, int, Any]]:
        def at(record: dict[str, Any], action: str = "") -> str:
            return f"/billing/invoices/{record['id']}{action}"

        pay = f"/billing/invoice/{self.void['public_token']}/payment_intent"
        return [
            (
                "nothing finalized",
                "POST",
                at(self.nothing, "/finalize"),
                {},
                200,
                {"status": "paid"},
            ),
            (
                "open one changed",
                "PATCH",
                at(self.open),
                {"invoice": {}},
                422,
                {"error": "Only draft invoices can be edited"},
            ),
            (
                "open one broken",
                "PATCH",
                at(self.open),
                {"invoice": {"currency": 5}},
                422,
                {"error": "Only draft invoices can be edited"},
            ),
            (
                "open one without fields",
                "PATCH",
                at(self.open),
                {},
                422,
                {"error": "Only draft invoices can be edited"},
            ),
            (
                "unknown one broken",
                "PATCH",
                f"/billing/invoices/{UNKNOWN}",
                {},
                404,
                {"error": "Invoice not found"},
            ),
            ("draft without fields", "PATCH", at(self.draft), {}, 422, "invoice is required"),
            (
                "draft without currency",
                "PATCH",
                at(self.draft),
                {"invoice": {"currency": None}},
                422,
                "currency is required",
            ),
            (
                "draft cleared",
                "PATCH",
                at(self.draft),
                {"invoice": {"line_items": None, "notes": None, "metadata": None}},
                200,
                {"line_items": [], "notes": None, "metadata": {}, "custom_number": "A-1"},
            ),
            (
                "open one deleted",
                "DELETE",
                at(self.open),
                None,
                422,
                {"error": "Only draft invoices can be deleted"},
            ),
            (
                "paid one voided",
                "POST",
                at(self.paid, "/void"),
                {},
                422,
                {"error": "Cannot void a paid invoice"},
            ),
            ("void one voided", "POST", at(self.void, "/void"), {}, 200, {"status": "void"}),
            (
                "draft written off",
                "POST",
                at(self.draft, "/mark_uncollectible"),
                {},
                200,
                {"status": "draft"},
            ),
            (
                "page of a draft",
                "GET",
                f"/billing/invoice/{self.draft['public_token']}",
                None,
                404,
                {"error": "Invoice not found"},
            ),
            ("void one paid", "POST", pay, {}, 422, {"error": "Invoice can't be paid"}),
        ]

    def ids(self) -> list[tuple[str, str, str, Any, int, Any]]:
        strange = ("x", UNKNOWN, self.live["id"], "ABCDEFGH12345678")
        nouns = (("invoices", "Invoice"), ("subscriptions", "Subscription"))
        return [
            (
                f"{noun} {id}",
                "GET",
                f"/billing/{path}/{id}",
                None,
                404,
                {"error": f"{noun} not found"},
            )
            for path, noun in nouns
            for id in strange
        ]


def misread(api: Api, row: tuple[str, str, str, Any, int, Any]) -> str | None:
    """What is wrong with the answer to a row; None when it is as it should be."""
    name, method, path, body, status, told = row
    answer = api(method, path, body)
    if answer.status_code != status:
        return f"{name}: {answer.status_code} {answer.content[:200]!r}"
    if isinstance(told, str):
        (text,) = answer.json()["errors"]
        return None if told in text else f"{name}: {text}"
    shown = {field: answer.json().get(field) for field in told or {}}
    return None if shown == (told or {}) else f"{name}: {shown}"


def test_every_odd_input_has_its_answer(cast: Cast) -> None:
    world = World(cast)
    assert [
        wrong for row in world.rows() if (wrong := misread(cast.bakery.test, row)) is not None
    ] == []


def test_a_number_of_html_or_of_a_path_harms_no_page_letter_or_file(cast: Cast) -> None:
    api = cast.bakery.test
    browser = Browser(cast.alice)
    for number in (HTML, UPWARD):
        made = r.opened(api, custom_number=number, customer_id=r.customer(api, name=HTML)["id"])
        assert r.ok(r.act(api, made["id"], "send"))["status"] == "open"
        pages = [
            Client().get(f"/invoice/{made['public_token']}"),
            browser.get(f"invoices/{made['id']}"),
            browser.get("invoices"),
        ]
        assert [one.status_code for one in pages] == [200, 200, 200]
        assert all(HTML.encode() not in one.content for one in pages)
        file = browser.get(f"invoices/{made['id']}/file")
        assert file.content.startswith(b"%PDF") and "/" not in file.headers["Content-Disposition"]
        assert "<" not in file.headers["Content-Disposition"]
    cells = b"".join(browser.get("customers.csv").streaming_content).decode()
    assert HTML in cells  # a spreadsheet shows it as text


def test_a_letter_that_is_asked_for_again_and_again_leaves_once(cast: Cast) -> None:
    made = r.opened(cast.bakery.test)
    before = OutgoingMail.objects.count()
    for _ in range(20):
        assert r.act(cast.bakery.test, made["id"], "send").status_code in (200, 429)
    assert OutgoingMail.objects.count() - before in (1, 2)  # a new minute may begin on the way
    assert Invoice.objects.get(pk=made["id"]).status == "open"
