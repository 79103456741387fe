"""Drafts and what becomes of them: totals, numbers, locks, and every move of the table."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.billing.models import InvoiceChange, InvoiceLine
from apps.billing.states import INVOICE_MACHINE
from apps.core.models import OutgoingMail
from apps.webhooks.models import Event
from tests.billing import records as r
from tests.billing.test_catalog import UNKNOWN, flat, refused
from tests.cast import Cast, Shop

FREE = {"discount_type": "percent", "discount_value": 100}


def patch(shop: Shop, invoice_id: str, **fields: Any) -> Any:
    return shop.test.patch(f"/billing/invoices/{invoice_id}", {"invoice": fields})


def test_a_draft_answers_everything_it_was_given(bakery: Shop) -> None:
    owner = r.customer(bakery.test)
    sent = {
        "currency": "USD",
        "due_at": "2031-01-02T03:04:05+01:00",
        "description": "March",
        "metadata": {"k": [1]},
        "custom_number": "C-1",
        "po_number": "PO",
        "discount_type": "amount",
        "discount_value": 100,
        "tax_rate_bps": 1900,
        "notes": "N",
        "footer": "F",
    }
    made = r.draft(
        bakery.test,
        customer_id=owner["id"],
        line_items=[r.line(250, 4, "Rolls"), r.line(99, 1, "Bag")],
        **sent,
    )
    assert {name: made[name] for name in sent} == {**sent, "due_at": "2031-01-02T02:04:05.000000Z"}
    nothing = (
        "number",
        "public_token",
        "hosted_url",
        "x402_url",
        "subscription_id",
        "period_key",
        "finalized_at",
        "paid_at",
        "voided_at",
        "needs_attention",
    )
    assert {made[name] for name in nothing} == {None}
    assert (
        made["status"],
        made["formatted_number"],
        made["amount_paid_cents"],
        made["refunded_cents"],
    ) == ("draft", "C-1", 0, 0)
    assert [
        (line_item["position"], line_item["description"], line_item["amount_cents"])
        for line_item in made["line_items"]
    ] == [
        (0, "Rolls", 1000),
        (1, "Bag", 99),
    ]
    assert r.invoice(bakery.test, made["id"]) == made


TOTALS: list[Any] = [  # lines of (cents, quantity), fields, subtotal, discount, tax, total
    ([(500, 2)], {}, 1000, 0, 0, 1000),
    ([], {}, 0, 0, 0, 0),
    ([(500, 2)], {"discount_type": "amount", "discount_value": 300}, 1000, 300, 0, 700),
    ([(500, 2)], {"discount_type": "amount", "discount_value": 5000}, 1000, 1000, 0, 0),
    ([(999, 1)], {"discount_type": "percent", "discount_value": 10}, 999, 100, 0, 899),
    ([(50, 1)], {"discount_type": "percent", "discount_value": 5}, 50, 3, 0, 47),
    (
        [(333, 3)],
        {"discount_type": "percent", "discount_value": 100, "tax_rate_bps": 1900},
        999,
        999,
        0,
        0,
    ),
    (
        [(1000, 1)],
        {"discount_type": "percent", "discount_value": 10, "tax_rate_bps": 2000},
        1000,
        100,
        180,
        1080,
    ),
    ([(150, 1)], {"tax_rate_bps": 1900}, 150, 0, 29, 179),
    ([(50, 1)], {"tax_rate_bps": 100}, 50, 0, 1, 51),
    ([(10_000, 1)], {"currency": "JPY", "tax_rate_bps": 805}, 10_000, 0, 800, 10_800),
    ([(10_000, 1)], {"currency": "JPY", "tax_rate_bps": 850}, 10_000, 0, 900, 10_900),
    (
        [(10_100, 1)],
        {"currency": "JPY", "discount_type": "percent", "discount_value": 50},
        10_100,
        5_100,
        0,
        5_000,
    ),
    (
        [(10_000, 1)],
        {"currency": "JPY", "discount_type": "amount", "discount_value": 150},
        10_000,
        200,
        0,
        9_800,
    ),
    ([(10_000_000_000, 1)], {}, 10_000_000_000, 0, 0, 10_000_000_000),
]


def test_totals_round_half_up(bakery: Shop) -> None:
    owner = r.customer(bakery.test)["id"]
    for lines, fields, *sums in TOTALS:
        items = [r.line(*line) for line in lines]
        made = r.draft(bakery.test, customer_id=owner, line_items=items, **fields)
        parts = [made[f"{part}_cents"] for part in ("subtotal", "discount", "tax", "total")]
        assert parts == sums, (lines, fields)


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"customer_id": None}, "customer_id is required"),
    ({"customer_id": 5}, "customer_id must be a string"),
    ({"currency": None}, "currency is required"),
    ({"line_items": "text"}, "line_items must be a list"),
    ({"line_items": [{"description": "x"}]}, "line_items[0].unit_amount_cents is required"),
    ({"line_items": [{"unit_amount_cents": 1}]}, "line_items[0].description is required"),
    ({"line_items": [r.line(100, 0)]}, "line_items[0].quantity must be at least 1"),
    ({"line_items": [r.line(-1)]}, "line_items[0].unit_amount_cents must be at least 0"),
    ({"line_items": [r.line()] * 201}, "line_items has too many items (maximum is 200)"),
    ({"line_items": [r.line(10_000_000_000, 2)]}, "total must be at most 100000000.00"),
    (
        {"line_items": [r.line(10_000_000_000)], "tax_rate_bps": 1},
        "total must be at most 100000000.00",
    ),
    (
        {"currency": "JPY", "line_items": [r.line(150)]},
        "line_items[0].unit_amount_cents must be a multiple of 100 in JPY",
    ),
    (
        {"discount_type": "half", "discount_value": 1},
        "discount_type must be one of amount, percent",
    ),
    ({"discount_type": "percent"}, "discount_value is required with discount_type"),
    ({"discount_value": 1}, "discount_type is required with discount_value"),
    (
        {"discount_type": "percent", "discount_value": 101},
        "discount_value must be at most 100 percent",
    ),
    ({"discount_type": "percent", "discount_value": -5}, "discount_value must be at least 0"),
    ({"tax_rate_bps": -1}, "tax_rate_bps must be at least 0"),
    ({"tax_rate_bps": 10**9}, "tax_rate_bps must be at most 10000"),
    ({"tax_rate_bps": "2000"}, "tax_rate_bps must be an integer"),
    ({"due_at": "tomorrow"}, "due_at must be an ISO 8601 time"),
    ({"due_at": "0001-01-01T00:00:00+14:00"}, "due_at must be an ISO 8601 time"),
    ({"notes": "n" * 5001}, "notes is too long (maximum is 5000 characters)"),
    ({"footer": "f" * 5001}, "footer is too long (maximum is 5000 characters)"),
    ({"metadata": "text"}, "metadata must be an object"),
    ({"metadata": {"n": 1e30}}, "metadata contains a number that is too large"),
    ({"custom_number": ""}, "custom_number can't be blank"),
]


def test_a_draft_is_refused_by_name(bakery: Shop) -> None:
    owner = r.customer(bakery.test)["id"]
    for fields, text in REFUSALS:
        refused(r.ask_invoice(bakery.test, **{"customer_id": owner, **fields}), text)
    assert r.ok(bakery.test.get("/billing/invoices"))["data"] == []


def test_a_time_without_offset_is_utc(bakery: Shop) -> None:
    assert (
        r.draft(bakery.test, due_at="2026-01-01T00:00:00")["due_at"]
        == "2026-01-01T00:00:00.000000Z"
    )


def test_the_customer_must_be_the_stores(cast: Cast) -> None:
    for id in (
        UNKNOWN,
        "x",
        r.customer(cast.strangers.test)["id"],
        r.customer(cast.bakery.live)["id"],
    ):
        flat(r.ask_invoice(cast.bakery.test, customer_id=id), "Customer not found")


def test_a_custom_number_is_unique_in_a_store_and_mode(cast: Cast) -> None:
    made = r.draft(cast.bakery.test, custom_number="<script>")
    owner = r.customer(cast.bakery.test)["id"]
    refused(
        r.ask_invoice(cast.bakery.test, customer_id=owner, custom_number="<script>"),
        "custom_number has already been taken",
    )
    other = r.draft(cast.bakery.test)
    refused(
        patch(cast.bakery, other["id"], custom_number="<script>"),
        "custom_number has already been taken",
    )
    r.draft(cast.bakery.live, custom_number="<script>")
    r.draft(cast.strangers.test, custom_number="<script>")
    sent = r.ok(r.act(cast.bakery.test, made["id"], "finalize"))
    assert (sent["number"], sent["formatted_number"]) == (1, "<script>")


def test_a_change_replaces_what_was_sent_and_counts_again(bakery: Shop) -> None:
    made = r.draft(bakery.test, notes="N")
    changed = r.ok(
        patch(
            bakery,
            made["id"],
            line_items=[r.line(300, 2), r.line(1)],
            tax_rate_bps=1000,
            notes=None,
            customer_id=UNKNOWN,
        )
    )
    assert (changed["subtotal_cents"], changed["tax_cents"], changed["total_cents"]) == (
        601,
        60,
        661,
    )
    assert (changed["notes"], changed["customer_id"], len(changed["line_items"])) == (
        None,
        made["customer_id"],
        2,
    )
    assert r.ok(patch(bakery, made["id"], tax_rate_bps=None))["total_cents"] == 601
    assert r.ok(patch(bakery, made["id"], line_items=[]))["total_cents"] == 0
    refused(patch(bakery, r.draft(bakery.test, line_items=[r.line(150)])["id"], currency="JPY"),
            "line_items[0].unit_amount_cents must be a multiple of 100 in JPY")  # fmt: skip
    assert r.invoice(bakery.test, made["id"])["line_items"] == []


def end(shop: Shop, status: str) -> dict[str, Any]:
    """An invoice of each status."""
    made = r.draft(shop.test, **(FREE if status == "paid" else {}))
    if status != "draft":
        made = r.ok(r.act(shop.test, made["id"], "finalize"))
    if status in ("void", "uncollectible"):
        made = r.ok(
            r.act(shop.test, made["id"], "void" if status == "void" else "mark_uncollectible")
        )
    assert made["status"] == status
    return made


UNCHANGED = object()
# from, action, the status afterwards, or the sentence of the refusal, or UNCHANGED
MOVES: list[tuple[str, str, Any]] = [
    ("draft", "finalize", "open"),
    ("draft", "void", "void"),
    ("draft", "mark_uncollectible", UNCHANGED),
    ("draft", "send", "Only open invoices can be sent"),
    ("open", "finalize", "Only draft invoices can be finalized"),
    ("open", "void", "void"),
    ("open", "mark_uncollectible", "uncollectible"),
    ("open", "send", "open"),
    ("paid", "finalize", "Only draft invoices can be finalized"),
    ("paid", "void", "Cannot void a paid invoice"),
    ("paid", "mark_uncollectible", UNCHANGED),
    ("paid", "send", "Only open invoices can be sent"),
    ("void", "finalize", "Only draft invoices can be finalized"),
    ("void", "void", UNCHANGED),
    ("void", "mark_uncollectible", UNCHANGED),
    ("void", "send", "Only open invoices can be sent"),
    ("uncollectible", "finalize", "Only draft invoices can be finalized"),
    ("uncollectible", "void", "Cannot void an uncollectible invoice"),
    ("uncollectible", "mark_uncollectible", UNCHANGED),
    ("uncollectible", "send", "Only open invoices can be sent"),
]


def test_the_whole_table_of_moves(bakery: Shop) -> None:
    """Each row of the table begins from the status that the one before has left."""
    after: dict[str, Any] = {}
    before = after
    for status, action, outcome in MOVES:
        if after != before or before.get("status") != status:
            before = end(bakery, status)
        answer = r.act(bakery.test, before["id"], action)
        after = r.invoice(bakery.test, before["id"])
        row = (status, action)
        if outcome is UNCHANGED:
            assert (r.ok(answer), after) == (before, before), row
        elif outcome in INVOICE_MACHINE.moves:
            assert (r.ok(answer)["status"], after["status"]) == (outcome, outcome), row
        else:
            flat(answer, outcome)
            assert after == before, row


def test_only_a_draft_is_edited_or_deleted(bakery: Shop) -> None:
    for status in ("open", "paid", "void", "uncollectible"):
        made = end(bakery, status)
        flat(patch(bakery, made["id"], notes="x"), "Only draft invoices can be edited")
        deleted = bakery.test.delete(f"/billing/invoices/{made['id']}")
        flat(deleted, "Only draft invoices can be deleted")
        assert r.invoice(bakery.test, made["id"]) == made, status


def test_a_deleted_draft_is_gone_with_its_lines(bakery: Shop) -> None:
    made = r.draft(bakery.test)
    answer = bakery.test.delete(f"/billing/invoices/{made['id']}")
    assert (answer.status_code, answer.content) == (204, b"")
    flat(bakery.test.get(f"/billing/invoices/{made['id']}"), "Invoice not found", 404)
    assert not InvoiceLine.objects.filter(invoice_id=made["id"]).exists()


def test_numbers_count_up_per_store_and_mode_and_drafts_take_none(cast: Cast) -> None:
    api = cast.bakery.test
    r.draft(api)
    r.ok(r.act(api, r.draft(api)["id"], "void"))
    first = r.opened(api)
    named = r.opened(api, custom_number="X")
    third = r.opened(api)
    assert [item["formatted_number"] for item in (first, named, third)] == [
        "INV-0001",
        "X",
        "INV-0003",
    ]
    assert (r.opened(cast.bakery.live)["number"], r.opened(cast.strangers.test)["number"]) == (1, 1)


def told(shop: Shop, record: dict[str, Any]) -> list[str]:
    rows = Event.objects.filter(store=shop.store, object__id=record["id"]).order_by(
        "created_at", "type"
    )
    return list(rows.values_list("type", flat=True))


EVENTS = {
    "draft": [],
    "open": ["invoice.finalized"],
    "paid": ["invoice.finalized", "invoice.paid"],
    "void": ["invoice.finalized", "invoice.voided"],
    "uncollectible": ["invoice.finalized"],
}


@pytest.mark.parametrize("status", EVENTS)
def test_each_move_has_its_event_with_the_full_object_and_its_history(
    bakery: Shop, status: str
) -> None:
    made = end(bakery, status)
    assert told(bakery, made) == EVENTS[status]
    if EVENTS[status]:
        last = (
            Event.objects.filter(store=bakery.store, object__id=made["id"])
            .order_by("-created_at", "-type")
            .first()
        )
        assert last is not None
        assert set(last.object) == set(made)
    steps = list(
        InvoiceChange.objects.filter(invoice_id=made["id"]).values_list("from_status", "to_status")
    )
    assert ("draft" if not steps else steps[-1][1]) == status


def test_the_email_leaves_once_a_minute_however_often_it_is_asked_for(bakery: Shop) -> None:
    made = r.opened(bakery.test)
    for _ in range(3):
        r.ok(r.act(bakery.test, made["id"], "send"))
    emails = OutgoingMail.objects.filter(to=made["customer"]["email"], template="invoice_open")
    assert emails.count() in (1, 2)


BROKEN = [
    ("UPDATE billing_invoice SET total_cents = 1, subtotal_cents = 1 WHERE id = %s", "open"),
    ("UPDATE billing_invoice SET number = 7 WHERE id = %s", "open"),
    ("UPDATE billing_invoice SET currency = 'USD' WHERE id = %s", "open"),
    ("UPDATE billing_invoice SET status = 'draft' WHERE id = %s", "open"),
    ("UPDATE billing_invoice SET status = 'open' WHERE id = %s", "paid"),
    (
        (
            "UPDATE billing_invoice SET number = 9, public_token = 't', finalized_at = created_at,"
            " status = 'open' WHERE id = %s"
        ),
        "draft",
    ),
    ("UPDATE billing_invoice SET total_cents = 5 WHERE id = %s", "draft"),
    ("DELETE FROM billing_invoice WHERE id = %s", "open"),
    (
        "UPDATE billing_invoiceline SET quantity = 2, amount_cents = 2000 WHERE invoice_id = %s",
        "open",
    ),
    ("DELETE FROM billing_invoiceline WHERE invoice_id = %s", "open"),
]


def is_refused(statement: str, invoice_id: str) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, [invoice_id])
    except DatabaseError:
        return True
    return False


def test_the_database_itself_refuses_what_must_not_be(bakery: Shop) -> None:
    made = {status: end(bakery, status) for status in ("draft", "open", "paid")}
    for statement, status in BROKEN:
        assert is_refused(statement, made[status]["id"]), statement
    for record in made.values():
        assert r.invoice(bakery.test, record["id"]) == record


def test_the_list_is_filtered_and_paged(bakery: Shop) -> None:
    api = bakery.test
    made = r.subscribe(api)
    [bill], drafts = (
        r.invoices_of(api, made["id"]),
        [r.draft(api, customer_id=made["customer_id"]) for _ in range(2)],
    )

    def ids(query: str) -> list[str]:
        return [item["id"] for item in r.ok(api.get(f"/billing/invoices?{query}"))["data"]]

    newest = [drafts[1]["id"], drafts[0]["id"], bill["id"]]
    assert ids("") == ids(f"customer_id={made['customer_id']}") == ids("status=nonsense") == newest
    assert ids("status=draft") == newest[:2]
    assert ids(f"subscription_id={made['id']}") == [bill["id"]]
    assert ids("customer_id=x") == ids(f"subscription_id={UNKNOWN}") == []
    assert ids("per_page=2&page=2") == [bill["id"]]


def test_lists_take_the_same_few_queries_however_many_rows(
    bakery: Shop, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        r.subscribe(bakery.test)
    for path in ("/billing/invoices", "/billing/subscriptions", "/billing/customers"):
        with django_assert_max_num_queries(8):
            r.ok(bakery.test.get(path))
