"""How an invoice is paid: one intent at a time for what is left, counted once, whatever became of
the invoice meanwhile."""

from typing import Any

from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import InvoiceChange, InvoicePayment
from apps.payments.models import Payment
from apps.payments.services.late import accept_late_deposit
from apps.stores.services import change_store
from apps.webhooks.models import Event
from config.celery import app
from tests import make
from tests.billing import records as r
from tests.billing.test_catalog import UNKNOWN, flat
from tests.cast import Api, Shop


def start(record: dict[str, Any], status: int = 201) -> dict[str, Any]:
    payment: dict[str, Any] = r.ok(r.start_payment(record["public_token"]), status)["payment"]
    return payment


def test_a_draft_and_an_unknown_token_are_not_found(bakery: Shop) -> None:
    for token in (
        "nosuchtoken",
        UNKNOWN,
        r.draft(bakery.test)["id"],
        r.opened(bakery.test)["id"],
        "%00",
        "é",
    ):
        flat(Api().get(f"/billing/invoice/{token}"), "Invoice not found", 404)
        flat(r.start_payment(token), "Invoice not found", 404)


def test_the_hosted_view_shows_no_more_than_a_customer_may_see(bakery: Shop) -> None:
    sent = r.opened(bakery.test, metadata={"secret": "x"}, notes="N", po_number="PO")
    shown = r.view(sent["public_token"])
    same = (
        "public_token",
        "number",
        "formatted_number",
        "po_number",
        "status",
        "currency",
        "total_cents",
        "due_at",
        "notes",
        "footer",
    )
    assert {name: shown[name] for name in same} == {name: sent[name] for name in same}
    assert (shown["payment"], shown["merchant_name"]) == (None, bakery.store.name)
    assert shown["customer"] == {"name": "Ann", "email": sent["customer"]["email"]}
    assert not {"id", "metadata", "customer_id", "subscription_id", "period_key"} & set(shown)
    assert "id" not in shown["line_items"][0]


def test_a_credential_makes_no_difference_and_any_origin_may_ask(bakery: Shop) -> None:
    token = r.opened(bakery.test)["public_token"]
    for credential in ("nonsense", bakery.secrets["live"]):
        assert r.ok(Api(credential).get(f"/billing/invoice/{token}"))["public_token"] == token
    answer = Api().get(f"/billing/invoice/{token}", Origin="https://shop.example")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_the_intent_is_made_once_and_expires_into_a_new_one_for_what_is_left(bakery: Shop) -> None:
    sent = r.opened(bakery.test)
    first = start(sent)
    assert (first["status"], first["settlement_amount_cents"], first["settlement_currency"]) == (
        "pending",
        1000,
        "EUR",
    )
    assert first["success_url"] == first["failed_url"] == sent["hosted_url"]
    assert start(sent, 200)["token"] == first["token"]
    make.advance(bakery.test, 3601)
    second = start(sent)
    assert second["token"] != first["token"]
    assert r.view(sent["public_token"])["payment"]["token"] == second["token"]
    assert InvoicePayment.objects.filter(invoice_id=sent["id"]).count() == 2


def test_a_full_payment_pays_it_and_is_told(bakery: Shop) -> None:
    sent = r.opened(bakery.test, tax_rate_bps=1900)
    paid = r.pay(bakery.test, sent)
    assert (paid["status"], paid["amount_paid_cents"], paid["needs_attention"]) == (
        "paid",
        1190,
        None,
    )
    assert paid["paid_at"] is not None
    event = Event.objects.get(store=bakery.store, type="invoice.paid")
    assert (event.object["id"], event.object["amount_paid_cents"]) == (sent["id"], 1190)
    flat(r.start_payment(sent["public_token"]), "Invoice can't be paid")


def test_the_sweep_counts_a_payment_once_however_often_it_runs(bakery: Shop) -> None:
    sent = r.opened(bakery.test)
    make.simulated(bakery.test, start(sent)["payment_intent_id"])
    assert [update_paid_amounts(), update_paid_amounts(), update_paid_amounts()] == [1, 0, 0]
    assert r.invoice(bakery.test, sent["id"])["amount_paid_cents"] == 1000
    assert (
        InvoiceChange.objects.filter(invoice_id=sent["id"], change="payment_counted").count() == 1
    )


def test_a_message_of_the_release_before_counts_a_payment(bakery: Shop) -> None:
    sent = r.opened(bakery.test)
    make.simulated(bakery.test, start(sent)["payment_intent_id"])
    link = InvoicePayment.objects.get(invoice_id=sent["id"])
    app.loader.import_default_modules()
    app.tasks["billing.settle_invoices"]([str(link.payment_id)])
    assert r.invoice(bakery.test, sent["id"])["amount_paid_cents"] == 1000


def test_what_came_short_within_the_tolerance_counts_in_full(bakery: Shop) -> None:
    sent = r.opened(bakery.test)
    make.simulated(bakery.test, start(sent)["payment_intent_id"], None, settlement_amount="9.96")
    update_paid_amounts()
    assert r.invoice(bakery.test, sent["id"])["amount_paid_cents"] == 1000


def test_several_intents_pay_an_invoice_in_parts(bakery: Shop) -> None:
    change_store(bakery.store, accept_underpayments=True)
    sent = r.opened(bakery.test)
    make.simulated(bakery.test, start(sent)["payment_intent_id"], None, settlement_amount="4.00")
    make.advance(bakery.test, 3601)
    update_paid_amounts()
    part = r.invoice(bakery.test, sent["id"])
    assert (part["status"], part["amount_paid_cents"]) == ("open", 400)
    second = start(sent)
    assert second["settlement_amount_cents"] == 600
    make.simulated(bakery.test, second["payment_intent_id"])
    update_paid_amounts()
    assert r.invoice(bakery.test, sent["id"])["status"] == "paid"


def test_what_is_left_in_yen_is_asked_for_in_whole_yen(bakery: Shop) -> None:
    sent = r.opened(bakery.test, currency="JPY", line_items=[r.line(100_000)])
    assert start(sent)["settlement_amount_cents"] == 100_000


def test_voiding_expires_the_waiting_intent_and_refuses_while_money_is_coming(bakery: Shop) -> None:
    waiting = r.opened(bakery.test)
    coming = r.opened(bakery.test)
    first = start(waiting)
    second = start(coming)
    r.ok(r.act(bakery.test, waiting["id"], "void"))
    ended = make.detail(bakery.test, first["payment_intent_id"])
    assert (ended["status"], ended["state_reason"]) == ("expired", "expired_timeout")
    assert (
        Event.objects.filter(
            store=bakery.store, type="payment_intent.expired", object__reference=first["token"]
        ).count()
        == 1
    )
    flat(r.start_payment(waiting["public_token"]), "Invoice can't be paid")
    make.simulated(bakery.test, second["payment_intent_id"], "unconfirmed")
    flat(r.act(bakery.test, coming["id"], "void"), "Invoice has a payment in progress")
    assert r.invoice(bakery.test, coming["id"])["status"] == "open"


def test_a_payment_that_has_just_completed_is_seen_by_void(bakery: Shop) -> None:
    sent = r.opened(bakery.test)
    make.simulated(bakery.test, start(sent)["payment_intent_id"])
    flat(r.act(bakery.test, sent["id"], "void"), "Cannot void a paid invoice")


def test_what_completes_on_an_uncollectible_invoice_asks_for_attention(bakery: Shop) -> None:
    sent = r.opened(bakery.test)
    made = start(sent)
    r.ok(r.act(bakery.test, sent["id"], "mark_uncollectible"))
    make.simulated(bakery.test, made["payment_intent_id"])
    update_paid_amounts()
    now = r.invoice(bakery.test, sent["id"])
    assert (now["status"], now["amount_paid_cents"], now["needs_attention"]) == (
        "uncollectible",
        1000,
        "paid_uncollectible",
    )


def accept(shop: Shop, payment_id: str, deposit_id: str) -> None:
    accept_late_deposit(Payment.objects.get(pk=payment_id), deposit_id, shop.access().now())


def test_refunds_leave_an_invoice_as_it_was_and_are_told_in_cents(bakery: Shop) -> None:
    """In full and in part, of late money that was accepted, and of such that never was."""
    api = bakery.test
    whole, part, late, unaccepted = (r.opened(api) for _ in range(4))
    payments = {item["id"]: str(start(item)["payment_intent_id"]) for item in (late, unaccepted)}
    make.advance(api, 3601)
    accept(bakery, payments[late["id"]], make.late_deposit(payments[late["id"]]))
    make.late_deposit(payments[unaccepted["id"]])
    for item in (whole, part):
        assert r.pay(api, item)["status"] == "paid"
        payments[item["id"]] = r.view(item["public_token"])["payment"]["payment_intent_id"]
    update_paid_amounts()
    make.paid(api, amount="100.00")

    for record, amount in ((whole, None), (part, "0.001"), (late, None), (unaccepted, None)):
        body = {
            "destination_address": make.fresh_address(),
            **({"amount": amount} if amount else {}),
        }
        path = f"/payments/{payments[record['id']]}/refunds"
        r.ok(api.post(path, {"refund": body}, key=record["id"]), 201)
    for _ in range(2):
        make.advance(api, 61)
    update_paid_amounts()

    figures = ("status", "amount_paid_cents", "refunded_cents")
    expected = (
        (whole, ("paid", 1000, 1000)),
        (part, ("paid", 1000, 180)),
        (late, ("paid", 1000, 1000)),
        (unaccepted, ("open", 0, 0)),
    )
    for record, told in expected:
        now = r.invoice(api, record["id"])
        assert tuple(now[name] for name in figures) == told, told
    assert update_paid_amounts() == 0
    assert start(unaccepted)["settlement_amount_cents"] == 1000


LATE = {400: ("open", 400), 996: ("paid", 1000), 1000: ("paid", 1000), 5000: ("paid", 1000)}


def test_a_late_deposit_counts_as_a_payment_of_its_amount_once_accepted(bakery: Shop) -> None:
    api = bakery.test
    made = {cents: r.opened(api) for cents in LATE}
    payments = {cents: str(start(item)["payment_intent_id"]) for cents, item in made.items()}
    make.advance(api, 3601)
    for cents, payment_id in payments.items():
        amount = f"{cents // 100}.{cents % 100:02d}"
        make.simulated(api, payment_id, None, settlement_amount=amount, late=True)
        (deposit,) = make.detail(api, payment_id)["late_deposits"]
        accept(bakery, payment_id, deposit["id"])
    update_paid_amounts()

    for cents, (status, paid_cents) in LATE.items():
        id = made[cents]["id"]
        now = r.invoice(api, id)
        told = (now["status"], now["amount_paid_cents"], now["needs_attention"])
        assert told == (status, paid_cents, None), cents
        changes = InvoiceChange.objects.filter(invoice_id=id, change="late_payment_counted")
        assert changes.count() == 1, cents
    assert start(made[400])["settlement_amount_cents"] == 600
