"""Calls about subscriptions: begin, read back, change, pause, resume, cancel, and every move
of the table."""

from typing import Any

from apps.billing.models import SubscriptionChange
from apps.billing.states import SUBSCRIPTION_MACHINE
from apps.core.models import OutgoingMail
from apps.webhooks.models import Event
from tests import make
from tests.billing import records as r
from tests.billing.records import DAY
from tests.billing.test_catalog import UNKNOWN, flat, refused
from tests.cast import Api, Cast, Shop


def patch(api: Api, id: str, **fields: Any) -> Any:
    return api.patch(f"/billing/subscriptions/{id}", {"subscription": fields})


def told(made: dict[str, Any]) -> list[str]:
    rows = Event.objects.filter(object__id=made["id"], type__startswith="subscription.").order_by(
        "created_at"
    )
    return [row.removeprefix("subscription.") for row in rows.values_list("type", flat=True)]


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"quantity": 0}, "quantity must be at least 1"),
    ({"quantity": "2"}, "quantity must be an integer"),
    ({"quantity": 10**12}, "quantity must be at most 1000000000"),
    ({"quantity": 10**9}, "total must be at most 100000000.00"),
    ({"trial_period_days": -1}, "trial_period_days must be at least 0"),
    ({"trial_period_days": 10**9}, "trial_period_days must be at most 3650"),
    ({"grace_cycles": -1}, "grace_cycles must be at least 0"),
    ({"metadata": "text"}, "metadata must be an object"),
    ({"customer_id": None}, "customer_id is required"),
    ({"price_id": None}, "price_id is required"),
    ({"items": []}, "items can't be empty"),
    ({"items": "text"}, "items must be a list"),
    ({"items": [{"quantity": 1}]}, "items price_id is required"),
    ({"items": ["text"]}, "items[0] must be an object"),
]


def test_a_subscription_is_refused_by_name(bakery: Shop) -> None:
    good = {"customer_id": r.customer(bakery.test)["id"], "price_id": r.price(bakery.test)["id"]}
    for fields, text in REFUSALS:
        refused(r.ask_subscription(bakery.test, **{**good, **fields}), text)
    assert r.ok(bakery.test.get("/billing/subscriptions")) == []


def test_prices_of_different_cycles_do_not_mix(bakery: Shop) -> None:
    owner = r.customer(bakery.test)["id"]
    monthly = r.price(bakery.test)
    others: tuple[dict[str, Any], ...] = (
        {"currency": "USD"},
        {"interval": "yearly"},
        {"interval_count": 2},
    )
    for other in others:
        prices = (monthly, r.price(bakery.test, monthly["product_id"], **other))
        items = [{"price_id": price["id"], "quantity": 1} for price in prices]
        answer = r.ask_subscription(bakery.test, customer_id=owner, items=items)
        refused(answer, "items must all have the same interval, interval_count and currency")


def test_what_is_named_must_be_the_stores_and_active(cast: Cast) -> None:
    api = cast.bakery.test
    plan = r.price(api)
    owner = r.customer(api)["id"]
    for id in (UNKNOWN, "x", r.price(cast.strangers.test)["id"], r.price(cast.bakery.live)["id"]):
        flat(r.ask_subscription(api, customer_id=owner, price_id=id), "Price not found")
    flat(r.ask_subscription(api, customer_id=UNKNOWN, price_id=plan["id"]), "Customer not found")
    r.ok(api.post(f"/billing/products/{plan['product_id']}/prices/{plan['id']}/archive"))
    flat(r.ask_subscription(api, customer_id=owner, price_id=plan["id"]), "Price is not active")


def test_items_are_an_anchor_without_id_and_add_ons_and_can_be_sent_back(bakery: Shop) -> None:
    api = bakery.test
    owner = r.product(bakery.test)["id"]
    first = r.price(api, owner)["id"]
    second = r.price(api, owner, unit_amount_cents=250)["id"]
    made = r.subscribe(api, items=[{"price_id": first}, {"price_id": second, "quantity": 4}])
    assert [
        (item["id"] is None, item["price"]["id"], item["quantity"]) for item in made["items"]
    ] == [
        (True, first, 1),
        (False, second, 4),
    ]
    assert (made["amount_cents"], made["price_id"]) == (2000, first)
    [bill] = r.invoices_of(api, made["id"])
    assert [line_item["amount_cents"] for line_item in bill["line_items"]] == [1000, 1000]
    r.ok(api.post(f"/billing/products/{owner}/prices/{second}/archive"))
    before = r.subscription(api, made["id"])
    assert (
        r.ok(
            patch(
                api,
                made["id"],
                items=before["items"],
                price_id=before["price_id"],
                quantity=before["quantity"],
            )
        )
        == before
    )
    assert told(made) == ["created"]


def test_swaps_count_from_the_next_cycle(bakery: Shop) -> None:
    api = bakery.test
    made = r.subscribe(api, price_id=r.price(api, unit_amount_cents=0)["id"])
    dearer = r.price(api, unit_amount_cents=0, interval="yearly")["id"]
    changed = r.ok(
        patch(api, made["id"], price_id=dearer, quantity=3, grace_cycles=4, metadata={"a": "b"})
    )
    assert (
        changed["price_id"],
        changed["quantity"],
        changed["grace_cycles"],
        changed["metadata"],
    ) == (dearer, 3, 4, {"a": "b"})
    assert changed["current_period_end"] == made["current_period_end"]
    make.advance(api, 32 * DAY)
    now = r.subscription(api, made["id"])
    bills = r.invoices_of(api, made["id"])
    assert [bill["line_items"][0]["quantity"] for bill in bills] == [1, 3]
    assert (
        now["current_period_start"],
        int(now["current_period_end"][:4]) - int(now["current_period_start"][:4]),
    ) == (made["current_period_end"], 1)
    assert told(made) == ["created", "updated"]


def test_a_price_swapped_alone_keeps_the_add_ons_and_must_fit_them(bakery: Shop) -> None:
    api = bakery.test
    made = r.subscribe(
        api, items=[{"price_id": r.price(api)["id"]}, {"price_id": r.price(api)["id"]}]
    )
    other = r.price(api)["id"]
    assert [
        item["price"]["id"] for item in r.ok(patch(api, made["id"], price_id=other))["items"]
    ] == [other, made["items"][1]["price"]["id"]]
    refused(patch(api, made["id"], price_id=r.price(api, interval="daily")["id"]),
            "items must all have the same interval, interval_count and currency")  # fmt: skip
    flat(patch(api, made["id"], price_id=UNKNOWN), "Price not found")
    assert (
        len(r.ok(patch(api, made["id"], items=[{"price_id": other, "quantity": 2}]))["items"]) == 1
    )


def of_status(api: Api, status: str, **fields: Any) -> dict[str, Any]:
    made = r.subscribe(api, trial_period_days=14 if status == "trialing" else 0, **fields)
    if status == "past_due":
        make.advance(api, 8 * DAY)
    if status in ("paused", "canceled"):
        r.ok(r.change(api, made["id"], "pause" if status == "paused" else "cancel"))
    found = r.subscription(api, made["id"])
    assert found["status"] == status
    return found


UNCHANGED = object()
CANCELED = "Cannot change a canceled subscription"
# from, action, the status afterwards, or the sentence of the refusal, or UNCHANGED. Of each status
# what changes it comes last; the past due one, whose days pass, first.
MOVES: list[tuple[str, str, Any]] = [
    ("past_due", "pause", "Cannot move subscription from past_due to paused"),
    ("past_due", "resume", "Cannot move subscription from past_due to active"),
    ("past_due", "schedule", "Cannot schedule cancellation of a past_due subscription"),
    ("past_due", "uncancel", UNCHANGED),
    ("past_due", "cancel", "canceled"),
    ("trialing", "pause", "Cannot move subscription from trialing to paused"),
    ("trialing", "resume", "Cannot move subscription from trialing to active"),
    ("trialing", "uncancel", UNCHANGED),
    ("trialing", "cancel", "canceled"),
    ("trialing", "schedule", "trialing"),
    ("active", "resume", "Cannot move subscription from active to active"),
    ("active", "uncancel", UNCHANGED),
    ("active", "pause", "paused"),
    ("active", "cancel", "canceled"),
    ("active", "schedule", "active"),
    ("paused", "pause", "Cannot move subscription from paused to paused"),
    ("paused", "uncancel", UNCHANGED),
    ("paused", "schedule", "Cannot schedule cancellation of a paused subscription"),
    ("paused", "resume", "active"),
    ("paused", "cancel", "canceled"),
    ("canceled", "pause", CANCELED),
    ("canceled", "resume", CANCELED),
    ("canceled", "cancel", UNCHANGED),
    ("canceled", "uncancel", UNCHANGED),
    ("canceled", "schedule", UNCHANGED),
]


def test_the_whole_table_of_moves(bakery: Shop) -> None:
    """Each row of the table begins from the status that the one before has left."""
    api = bakery.test
    shared = {"price_id": r.price(api)["id"], "customer_id": r.customer(api)["id"]}
    after: dict[str, Any] = {}
    before = after
    for status, action, outcome in MOVES:
        if after != before or before.get("status") != status:
            before = of_status(api, status, **shared)
        events = told(before)
        name, body = ("cancel", {"at_period_end": True}) if action == "schedule" else (action, {})
        answer = r.change(api, before["id"], name, **body)
        after = r.subscription(api, before["id"])
        row = (status, action)
        if outcome is UNCHANGED:
            assert (r.ok(answer), after, told(before)) == (before, before, events), row
        elif outcome in SUBSCRIPTION_MACHINE.moves:
            assert (r.ok(answer)["status"], after["status"]) == (outcome, outcome), row
            last_event = "canceled" if outcome == "canceled" else "updated"
            assert told(before) == [*events, last_event], row
            last = SubscriptionChange.objects.filter(subscription_id=before["id"]).last()
            assert last is not None and last.to_status == outcome, row
        else:
            flat(answer, outcome)
            assert (after, told(before)) == (before, events), row


def test_a_canceled_one_is_never_changed(bakery: Shop) -> None:
    made = of_status(bakery.test, "canceled")
    flat(patch(bakery.test, made["id"], quantity=2), CANCELED)
    assert made["canceled_at"] is not None
    assert made["next_billing_at"] is None


def test_a_period_end_cancellation_is_scheduled_taken_back_and_carried_out(bakery: Shop) -> None:
    api = bakery.test
    made = r.subscribe(api, price_id=r.price(api, unit_amount_cents=0)["id"])
    refused(
        r.change(api, made["id"], "cancel", at_period_end="yes"),
        "at_period_end must be true or false",
    )
    planned = r.ok(r.change(api, made["id"], "cancel", at_period_end=True))
    assert (planned["status"], planned["cancel_at_period_end"], planned["cancel_at"]) == (
        "active",
        True,
        made["current_period_end"],
    )
    assert r.ok(r.change(api, made["id"], "cancel", at_period_end=True)) == planned
    cleared = r.ok(r.change(api, made["id"], "uncancel"))
    assert (cleared["cancel_at_period_end"], cleared["cancel_at"]) == (False, None)
    r.ok(r.change(api, made["id"], "cancel", at_period_end=True))
    make.advance(api, 32 * DAY)
    assert (r.subscription(api, made["id"])["status"], len(r.invoices_of(api, made["id"]))) == (
        "canceled",
        1,
    )
    assert told(made) == ["created", "updated", "updated", "updated", "canceled"]


def test_a_pause_bills_nothing_and_a_resume_begins_a_period_and_forgets_failures(
    bakery: Shop,
) -> None:
    api = bakery.test
    made = r.subscribe(api)
    r.ok(r.change(api, made["id"], "pause"))
    make.advance(api, 100 * DAY)
    paused = r.subscription(api, made["id"])
    assert (
        paused["status"],
        paused["failed_cycle_count"],
        len(r.invoices_of(api, made["id"])),
    ) == ("paused", 0, 1)
    resumed = r.ok(r.change(api, made["id"], "resume"))
    assert (resumed["status"], resumed["paused_at"], resumed["failed_cycle_count"]) == (
        "active",
        None,
        0,
    )
    assert resumed["next_billing_at"] == resumed["current_period_end"]
    assert (
        r.invoices_of(api, made["id"])[1]["period_key"]
        == f"{made['id']}:{resumed['current_period_start']}"
    )
    make.advance(api, 6 * DAY)
    assert r.subscription(api, made["id"])["status"] == "active"


def test_each_cycles_invoice_is_mailed_once_but_not_one_of_nothing(bakery: Shop) -> None:
    api = bakery.test
    made = r.subscribe(api)
    free = r.subscribe(api, price_id=r.price(api, unit_amount_cents=0)["id"])
    emails = OutgoingMail.objects.filter(template="invoice_open")
    assert [emails.filter(to=item["customer"]["email"]).count() for item in (made, free)] == [1, 0]


def test_the_list_shows_everything_and_is_filtered(bakery: Shop) -> None:
    api = bakery.test
    running = r.subscribe(api, quantity=2)
    trying = r.subscribe(api, trial_period_days=3)
    rows = r.ok(api.get("/billing/subscriptions"))
    assert rows == [trying, running]
    assert rows[1]["amount_cents"] == 2000
    for query, expected in (
        ("status=trialing", [trying]),
        ("status=x", rows),
        (f"customer_id={running['customer_id']}", [running]),
        ("customer_id=x", []),
        (f"customer_id={UNKNOWN}", []),
    ):
        assert r.ok(api.get(f"/billing/subscriptions?{query}")) == expected
