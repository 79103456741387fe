"""Odd inputs of billing as one table, with the records that its rows name."""

from typing import Any, NamedTuple

from tests.billing import records as r
from tests.cast import Cast

UNKNOWN = "00000000-0000-4000-8000-000000000000"
HTML = "<script>alert(1)</script>"
UPWARD = "../../etc/passwd"


class Row(NamedTuple):
    """An input and its answer: a sentence that it says, or fields."""

    name: str
    method: str
    path: str
    body: Any
    status: int
    answer: Any


def refused(name: str, path: str, body: Any, answer: Any) -> Row:
    return Row(name, "POST", path, body, 422, answer)


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

    def rows(self) -> list[Row]:
        return [
            *self.prices(),
            *self.subscriptions(),
            *self.running_subscriptions(),
            *self.customers(),
            *self.invoices(),
            *self.edits(),
            *self.states(),
            *self.ids(),
        ]

    def prices(self) -> list[Row]:
        of = f"/billing/products/{self.price['product_id']}/prices"
        good = {"unit_amount_cents": 1000, "currency": "EUR", "interval": "monthly"}

        def made(**fields: Any) -> dict[str, Any]:
            return {"price": {**good, **fields}}

        return [
            refused(
                "negative price",
                of,
                made(unit_amount_cents=-1),
                "unit_amount_cents must be at least 0",
            ),
            Row(
                "price of nothing",
                "POST",
                of,
                made(unit_amount_cents=0),
                201,
                {"unit_amount_cents": 0},
            ),
            refused(
                "price of 10^30",
                of,
                made(unit_amount_cents=10**30),
                "unit_amount_cents must be at most",
            ),
            refused("price in coins", of, made(currency="ETH"), "currency must be one of"),
            refused("hourly price", of, made(interval="hourly"), "interval must be one of"),
            refused(
                "negative interval",
                of,
                made(interval_count=-1),
                "interval_count must be at least 1",
            ),
            Row(
                "price changed",
                "PATCH",
                f"{of}/{self.price['id']}",
                made(unit_amount_cents=1),
                405,
                None,
            ),
            Row(
                "price of another product",
                "GET",
                f"{of}/{self.other['id']}",
                None,
                404,
                {"error": "Price not found"},
            ),
        ]

    def subscriptions(self) -> list[Row]:
        path = "/billing/subscriptions"
        euros = {"price_id": self.price["id"]}
        dollars = {"price_id": self.dollars["id"]}

        def made(**fields: Any) -> dict[str, Any]:
            return {"subscription": {"customer_id": self.customer["id"], **fields}}

        return [
            refused(
                "two currencies",
                path,
                made(items=[euros, dollars]),
                "interval, interval_count and currency",
            ),
            refused(
                "customer deleted",
                path,
                made(**euros, customer_id=self.gone["id"]),
                {"error": "Customer is not active"},
            ),
            Row(
                "price and items",
                "POST",
                path,
                made(price_id=self.other["id"], items=[euros]),
                201,
                {"price_id": self.price["id"]},
            ),
            refused(
                "quantity nothing", path, made(**euros, quantity=0), "quantity must be at least 1"
            ),
            refused(
                "quantity beyond 64 bits",
                path,
                made(**euros, quantity=10**12),
                "quantity must be at most",
            ),
            refused("sum too large", path, made(**euros, quantity=10**9), "total must be at most"),
            refused("no items", path, made(items=[]), "items can't be empty"),
            refused("no price", path, made(), "price_id is required"),
            refused(
                "item without a price",
                path,
                made(items=[{"price": {}}]),
                "items price_id is required",
            ),
            refused(
                "one price twice",
                path,
                made(items=[euros, euros]),
                "items name a price more than once",
            ),
            refused(
                "trial backwards",
                path,
                made(**euros, trial_period_days=-1),
                "trial_period_days must be at least 0",
            ),
            refused(
                "grace backwards",
                path,
                made(**euros, grace_cycles=-1),
                "grace_cycles must be at least 0",
            ),
        ]

    def running_subscriptions(self) -> list[Row]:
        path = "/billing/subscriptions"
        return [
            Row(
                "ended one broken",
                "PATCH",
                f"{path}/{self.ended['id']}",
                {},
                422,
                {"error": "Cannot change a canceled subscription"},
            ),
            Row(
                "items of null",
                "PATCH",
                f"{path}/{self.running['id']}",
                {"subscription": {"items": None, "quantity": None}},
                200,
                {"quantity": 1},
            ),
            Row(
                "cycles of null",
                "PATCH",
                f"{path}/{self.running['id']}",
                {"subscription": {"grace_cycles": None}},
                200,
                {"grace_cycles": 1},
            ),
            Row(
                "broken item",
                "PATCH",
                f"{path}/{self.running['id']}",
                {"subscription": {"items": [{"quantity": 0}]}},
                422,
                "items[0].quantity must be at least 1",
            ),
            refused(
                "cancellation of text",
                f"{path}/{self.running['id']}/cancel",
                {"at_period_end": "x"},
                "at_period_end must be true or false",
            ),
        ]

    def customers(self) -> list[Row]:
        path = "/billing/customers"
        taken = {"error": "A customer with this email already exists"}

        def made(email: str, **fields: Any) -> dict[str, Any]:
            return {"customer": {"email": email, **fields}}

        return [
            Row("address of a deleted one", "POST", path, made("GONE@example.com"), 409, taken),
            refused(
                "umlaut in an address", path, made("ü@x.example"), "email is not a valid address"
            ),
            Row(
                "formula as a name",
                "POST",
                path,
                made("f@x.example", name="=cmd|' /C calc'!A0"),
                201,
                {"name": "=cmd|' /C calc'!A0"},
            ),
            refused(
                "address of a megabyte",
                path,
                made("m@x.example", address={"a": "x" * 900_000}),
                "address is too large",
            ),
            refused(
                "address as a list",
                path,
                made("l@x.example", address=[]),
                "address must be an object",
            ),
            Row(
                "search for a percent sign",
                "GET",
                f"{path}?q=%25",
                None,
                200,
                {"data": [self.customer]},
            ),
            *(
                Row(f"page {page}", "GET", f"{path}?page={page}", None, 200, None)
                for page in ("-1", "1.5", "1e2", "9" * 20)
            ),
            *(
                Row(f"{size} per page", "GET", f"{path}?per_page={size}", None, 200, None)
                for size in ("0", "-1", "101", "abc", "9" * 20)
            ),
        ]

    def invoices(self) -> list[Row]:
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
            refused(
                "101 percent",
                path,
                made(**percent, discount_value=101),
                "discount_value must be at most 100 percent",
            ),
            refused(
                "minus 5 percent",
                path,
                made(**percent, discount_value=-5),
                "discount_value must be at least 0",
            ),
            refused(
                "tax without end",
                path,
                made(tax_rate_bps=10**9),
                "tax_rate_bps must be at most 10000",
            ),
            refused(
                "number taken",
                path,
                made(custom_number="A-1"),
                "custom_number has already been taken",
            ),
            Row(
                "number of HTML",
                "POST",
                path,
                made(custom_number=HTML),
                201,
                {"custom_number": HTML},
            ),
            Row(
                "number as a path",
                "POST",
                path,
                made(custom_number=UPWARD),
                201,
                {"formatted_number": UPWARD},
            ),
            Row(
                "time without an offset",
                "POST",
                path,
                made(due_at="2026-01-01T00:00:00"),
                201,
                naive,
            ),
        ]

    def edits(self) -> list[Row]:
        open_path = f"/billing/invoices/{self.open['id']}"
        draft_path = f"/billing/invoices/{self.draft['id']}"
        return [
            Row(
                "open one changed",
                "PATCH",
                open_path,
                {"invoice": {}},
                422,
                {"error": "Only draft invoices can be edited"},
            ),
            Row(
                "open one broken",
                "PATCH",
                open_path,
                {"invoice": {"currency": 5}},
                422,
                {"error": "Only draft invoices can be edited"},
            ),
            Row(
                "open one without fields",
                "PATCH",
                open_path,
                {},
                422,
                {"error": "Only draft invoices can be edited"},
            ),
            Row(
                "unknown one broken",
                "PATCH",
                f"/billing/invoices/{UNKNOWN}",
                {},
                404,
                {"error": "Invoice not found"},
            ),
            Row("draft without fields", "PATCH", draft_path, {}, 422, "invoice is required"),
            Row(
                "draft without currency",
                "PATCH",
                draft_path,
                {"invoice": {"currency": None}},
                422,
                "currency is required",
            ),
            Row(
                "draft cleared",
                "PATCH",
                draft_path,
                {"invoice": {"line_items": None, "notes": None, "metadata": None}},
                200,
                {"line_items": [], "notes": None, "metadata": {}, "custom_number": "A-1"},
            ),
        ]

    def states(self) -> list[Row]:
        def at(record: dict[str, Any], action: str = "") -> str:
            return f"/billing/invoices/{record['id']}{action}"

        pay = f"/billing/invoice/{self.void['public_token']}/payment_intent"
        return [
            Row(
                "nothing finalized",
                "POST",
                at(self.nothing, "/finalize"),
                {},
                200,
                {"status": "paid"},
            ),
            Row(
                "open one deleted",
                "DELETE",
                at(self.open),
                None,
                422,
                {"error": "Only draft invoices can be deleted"},
            ),
            refused(
                "paid one voided",
                at(self.paid, "/void"),
                {},
                {"error": "Cannot void a paid invoice"},
            ),
            Row("void one voided", "POST", at(self.void, "/void"), {}, 200, {"status": "void"}),
            Row(
                "draft written off",
                "POST",
                at(self.draft, "/mark_uncollectible"),
                {},
                200,
                {"status": "draft"},
            ),
            Row(
                "page of a draft",
                "GET",
                f"/billing/invoice/{self.draft['public_token']}",
                None,
                404,
                {"error": "Invoice not found"},
            ),
            refused("void one paid", pay, {}, {"error": "Invoice can't be paid"}),
        ]

    def ids(self) -> list[Row]:
        strange = ("x", UNKNOWN, self.live["id"], "ABCDEFGH12345678")
        nouns = (("invoices", "Invoice"), ("subscriptions", "Subscription"))
        return [
            Row(
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
