"""Money that came late or in another coin: programs are notified from the first block on, and again
when the merchant accepts it, and it counts on a payment that is open."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.services import accept_all_active
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.chain.addresses import ZERO_ADDRESS
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.chain.simulated import put
from apps.core import clock
from apps.payments.models import HeldRefund, LateDeposit, Payment
from apps.payments.selectors import addresses_of
from apps.payments.services import unexpected
from apps.payments.services.late import DepositSentBack, accept_late_deposit
from apps.payments.services.reconcile import FINAL, reconcile
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.settle import settle_payment
from apps.payments.services.transaction_lookup import LookupResult, booked_transaction
from apps.payments.services.transfers import accept_transfer
from apps.stores.services import change_store
from apps.webhooks.models import Event
from tests import auditing, make
from tests.billing import records as r
from tests.cast import Api, Cast, Shop, signed_in
from tests.dashboard.attention.makers import arrives
from tests.links.makers import made_link, reference_of, send

pytestmark = pytest.mark.django_db
COIN = "USDC_SETH"


@pytest.fixture
def coins(bakery: Shop) -> None:
    """A store that takes two coins."""
    Asset.objects.filter(pk=COIN).update(contract_address="0x" + "01" * 20, is_active=True)
    accept_all_active(bakery.store)


def told(payment_id: str) -> list[tuple[str, str, bool, bool, bool]]:
    """The transaction events of a payment: kind, status, late, another coin, accepted."""
    rows = Event.objects.filter(type__startswith="transaction.").order_by("created_at", "id")
    return [
        (
            row.type.partition(".")[2],
            row.object["transaction"]["status"],
            row.object["transaction"]["late"],
            row.object["transaction"]["unexpected_asset"],
            row.object["transaction"]["accepted_at"] is not None,
        )
        for row in rows
        if row.object["payment_intent_id"] == payment_id
    ]


def owner(cast: Cast) -> Access:
    return signed_in(cast.alice, cast.bakery.store, "test")


def accept_late(payment_id: str) -> None:
    row = Payment.objects.select_related("store").get(pk=payment_id)
    late = LateDeposit.objects.get(payment=row)
    accept_late_deposit(row, str(late.deposit_id), clock.now(row.store, row.mode))


def late_on_open(payment_id: str, share: int = 1) -> Payment:
    """A payment that waits, with coins whose block is later than its deadline."""
    row = Payment.objects.select_related("store").get(pk=payment_id)
    entry = addresses_of(row)[0]
    with transaction.atomic():
        put(
            entry.address_id,
            entry.asset,
            "ahead",
            amount_atomic=entry.required_atomic // share,
            confirmations=entry.required_confirmations,
            status="confirmed",
            at=row.expires_at + timedelta(seconds=30),
        )
    return settle_payment(row.pk)


def swallowed(payment_id: str) -> int:
    """The amount that one address of a payment asks for, sent in the coin of the other."""
    row = Payment.objects.get(pk=payment_id)
    required = row.addresses.get(asset=COIN).required_atomic
    return make.stray_transfer(payment_id, COIN, required)


def test_a_late_deposit_is_told_as_late_and_again_when_it_is_accepted(bakery: Shop) -> None:
    made = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 301)
    make.late_deposit(made["id"])
    before = make.detail(bakery.test, made["id"])
    assert told(made["id"]) == [
        ("confirming", "confirmed", True, False, False),
        ("confirmed", "confirmed", True, False, False),
    ]
    assert [(row["late"], row["accepted_at"]) for row in before["transactions"]] == [(True, None)]
    assert (before["accepted_late_amount"], before["amount_paid"]) == ("0.00", "0.00")
    accept_late(made["id"])
    after = make.detail(bakery.test, made["id"])
    assert told(made["id"])[2:] == [("confirmed", "confirmed", True, False, True)]
    assert (after["status"], after["accepted_late_amount"]) == ("expired", "10.00")
    assert after["transactions"][0]["accepted_at"] == after["late_deposits"][0]["accepted_at"]
    assert after["transaction"]["accepted_at"] is not None
    assert auditing.breaches() == []


def test_a_late_deposit_that_goes_back_is_decided(bakery: Shop) -> None:
    """Every one that its sender's refund covers; what comes after the refund waits again."""
    made = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 301)
    make.late_deposit(made["id"])

    def undecided() -> list[bool]:
        shown = make.detail(bakery.test, made["id"])["transactions"]
        public = bakery.test.get(f"/checkout/{made['reference']}").json()["transactions"]
        assert [row["undecided"] for row in public] == [row["undecided"] for row in shown]
        return [row["undecided"] for row in shown]

    assert undecided() == [True]
    answer = bakery.test.post(f"/payments/{made['id']}/refunds", {"refund": {}}, key="late")
    assert answer.status_code in (200, 201), answer.content
    assert undecided() == [False]
    advance_refunds()
    row = Payment.objects.select_related("store").get(pk=made["id"])
    entry = addresses_of(row)[0]
    with transaction.atomic():
        put(
            entry.address_id,
            entry.asset,
            "again",
            amount_atomic=entry.required_atomic,
            confirmations=entry.required_confirmations,
            status="confirmed",
            at=clock.now(row.store, row.mode),
        )
    settle_payment(row.pk)
    assert undecided() == [False, True]


def test_a_late_deposit_that_is_accepted_while_the_payment_is_open_completes_it(
    bakery: Shop,
) -> None:
    made = make.payment(bakery.test)
    row = late_on_open(made["id"])
    asked = make.detail(bakery.test, made["id"])
    assert [entry["late"] for entry in asked["transactions"]] == [True]
    assert make.detail(bakery.test, made["id"])["status"] == "pending"
    accept_late(made["id"])
    after = make.detail(bakery.test, made["id"])
    assert (after["status"], after["state_reason"]) == ("completed", "completed_exact")
    assert (after["amount_paid"], after["accepted_late_amount"]) == ("10.00", "10.00")
    assert told(made["id"])[-1] == ("confirmed", "confirmed", True, False, True)
    assert reconcile(row.pk) == FINAL
    assert auditing.breaches() == []


def test_another_coin_is_told_from_the_first_block_and_completes_an_open_payment_once_accepted(
    cast: Cast, coins: None
) -> None:
    made = make.payment(cast.bakery.test)
    transfer = swallowed(made["id"])
    assert told(made["id"]) == [("confirming", "confirming", False, True, False)]
    seen = make.detail(cast.bakery.test, made["id"])
    assert [
        (entry["coin_symbol"], entry["unexpected_asset"]) for entry in seen["transactions"]
    ] == [("USDC", True)]
    assert (seen["status"], seen["late_deposits"]) == ("pending", [])
    assert unexpected.confirm_set_aside() == 1
    assert unexpected.confirm_set_aside() == 0
    assert told(made["id"])[1:] == [("confirmed", "confirmed", False, True, False)]

    accept_transfer(owner(cast), str(transfer), made["reference"])
    assert told(made["id"])[2:] == [("confirmed", "confirmed", False, True, True)]
    after = make.detail(cast.bakery.test, made["id"])
    assert (after["status"], after["state_reason"]) == ("completed", "completed_exact")
    assert (after["amount_paid"], after["accepted_late_amount"]) == ("10.00", "10.00")
    assert [entry["unexpected_asset"] for entry in after["late_deposits"]] == [True]
    completed = Event.objects.filter(type="payment_intent.completed")
    assert completed.count() == 1
    assert reconcile(Payment.objects.get(pk=made["id"]).pk) == FINAL
    assert auditing.breaches() == []


def test_a_part_in_another_coin_counts_at_its_own_rate_and_the_rest_can_be_paid(
    cast: Cast, coins: None
) -> None:
    made = make.payment(cast.bakery.test)
    row = Payment.objects.get(pk=made["id"])
    half = row.addresses.get(asset=COIN).required_atomic // 2
    transfer = make.stray_transfer(made["id"], COIN, half)
    accept_transfer(owner(cast), str(transfer), made["reference"])
    short = make.detail(cast.bakery.test, made["id"])
    assert (short["status"], short["state_reason"]) == ("processing", "processing_underpaid")
    assert short["amount_paid"] == short["accepted_late_amount"] == "5.00"
    checkout = cast.bakery.test.get(f"/checkout/{made['reference']}").json()
    rest = int(checkout["payment_addresses"][0]["outstanding_atomic"])
    make.simulated(cast.bakery.test, made["id"], None, amount_atomic=str(rest))
    after = make.detail(cast.bakery.test, made["id"])
    assert (after["status"], after["amount_paid"]) == ("completed", "10.00")
    assert reconcile(row.pk) == FINAL
    assert auditing.breaches() == []


def test_what_was_accepted_can_be_refunded(cast: Cast, coins: None) -> None:
    made = make.payment(cast.bakery.test)
    transfer = swallowed(made["id"])
    accept_transfer(owner(cast), str(transfer), made["reference"])
    make.paid(cast.bakery.test)
    make.store_coins(cast.bakery.store, COIN, 10**8)
    answer = cast.bakery.test.post(f"/payments/{made['id']}/refunds", {}, key="back")
    assert answer.status_code == 201, answer.content
    make.advance(cast.bakery.test, 200)
    after = make.detail(cast.bakery.test, made["id"])
    assert (after["status"], after["refund_state"]) == ("refunded", "full")
    assert auditing.breaches() == []


def test_on_a_closed_payment_another_coin_is_told_and_changes_no_status(
    cast: Cast, coins: None
) -> None:
    made = make.payment(cast.bakery.test, expires_in=300)
    make.advance(cast.bakery.test, 301)
    transfer = swallowed(made["id"])
    accept_transfer(owner(cast), str(transfer), made["reference"])
    after = make.detail(cast.bakery.test, made["id"])
    assert (after["status"], after["amount_paid"]) == ("expired", "0.00")
    assert after["accepted_late_amount"] == "10.00"
    assert told(made["id"]) == [
        ("confirming", "confirming", True, True, False),
        ("confirmed", "confirmed", True, True, True),
    ]
    assert auditing.breaches() == []


def test_a_coin_without_a_locked_rate_is_taken_and_counts_for_nothing(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    transfer = make.stray_transfer(made["id"], COIN)
    accept_transfer(owner(cast), str(transfer), made["reference"])
    after = make.detail(cast.bakery.test, made["id"])
    assert (after["status"], after["accepted_late_amount"]) == ("pending", "0.00")
    assert [entry["accepted_at"] is None for entry in after["late_deposits"]] == [False]
    assert told(made["id"])[-1] == ("confirmed", "confirmed", False, True, True)
    assert auditing.breaches() == []


def test_accepted_for_another_payment_it_is_told_and_counted_there(cast: Cast, coins: None) -> None:
    made = make.payment(cast.bakery.test)
    other = make.payment(cast.bakery.test)
    transfer = swallowed(made["id"])
    accept_transfer(owner(cast), str(transfer), other["reference"])
    assert told(other["id"]) == [("confirmed", "confirmed", False, True, True)]
    there = make.detail(cast.bakery.test, other["id"])
    assert (there["status"], there["accepted_late_amount"]) == ("completed", "10.00")
    assert [entry["unexpected_asset"] for entry in there["transactions"]] == [True]
    assert make.detail(cast.bakery.test, made["id"])["status"] == "pending"
    assert reconcile(Payment.objects.get(pk=other["id"]).pk) == FINAL
    assert auditing.breaches() == []


def test_more_than_is_due_is_taken_by_a_store_that_takes_no_overpayments(
    cast: Cast, coins: None
) -> None:
    store = cast.bakery.store
    store.accept_overpayments = False
    store.save(update_fields=["accept_overpayments"])
    made = make.payment(cast.bakery.test)
    required = Payment.objects.get(pk=made["id"]).addresses.get(asset=COIN).required_atomic
    transfer = make.stray_transfer(made["id"], COIN, required * 2)
    accept_transfer(owner(cast), str(transfer), made["reference"])
    after = make.detail(cast.bakery.test, made["id"])
    assert (after["status"], after["state_reason"]) == ("completed", "completed_overpaid")
    assert after["overpayment"]["excess_atomic"] == str(required)


def test_an_invoice_counts_what_was_accepted_in_another_coin(cast: Cast, coins: None) -> None:
    for is_open in (True, False):
        bill = r.opened(cast.bakery.test)
        made = r.ok(r.start_payment(bill["public_token"]), 201)["payment"]
        row = Payment.objects.get(reference=made["token"])
        if not is_open:
            make.advance(cast.bakery.test, 3601)
        transfer = swallowed(str(row.pk))
        accept_transfer(owner(cast), str(transfer), row.reference)
        update_paid_amounts([row.pk])
        after = r.invoice(cast.bakery.test, bill["id"])
        assert (after["status"], after["amount_paid_cents"]) == ("paid", 1000)
    assert auditing.breaches() == []


def test_a_transfer_that_leaves_the_chain_is_told_as_failed(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    make.stray_transfer(made["id"], COIN)
    Deposit.objects.update(status="failed")
    settle_payment(made["id"])
    settle_payment(made["id"])
    assert [kind for kind, *_ in told(made["id"])] == ["confirming", "failed"]
    assert UnmatchedTransfer.objects.count() == 1
    seen = make.detail(cast.bakery.test, made["id"])
    assert seen["transactions"][0]["status"] == "failed"


def test_a_late_deposit_that_goes_back_is_offered_to_nobody(bakery: Shop) -> None:
    """It isn't offered to the merchant any more, nor said to wait for them on the checkout."""
    made = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 301)
    make.late_deposit(made["id"])
    assert [row["undecided"] for row in make.detail(bakery.test, made["id"])["transactions"]] == [
        True
    ]
    answer = bakery.test.post(f"/payments/{made['id']}/refunds", {}, key="back")
    assert answer.status_code == 201, answer.content
    for status in ("expired", "refunded"):
        after = make.detail(bakery.test, made["id"])
        assert (after["status"], after["transactions"][0]["undecided"]) == (status, False)
        checkout = bakery.test.get(f"/checkout/{made['reference']}").json()
        assert [row["undecided"] for row in checkout["transactions"]] == [False]
        make.advance(bakery.test, 200)
    assert auditing.breaches() == []


def test_late_coins_are_accepted_beside_coins_that_are_held_for_another_payment(
    cast: Cast,
) -> None:
    """Each payment has its own, however much lies in the store's account."""
    api = cast.bakery.test
    change_store(cast.bakery.store, accept_overpayments=False)
    other = make.payment(api)
    arrives(other, sender=ZERO_ADDRESS, share=2)
    held = HeldRefund.objects.get(payment_id=other["id"])
    late = make.payment(api, expires_in=300)
    make.advance(api, 301)
    make.late_deposit(late["id"])
    accept_late(late["id"])
    held.refresh_from_db()
    assert (held.status, held.amount_atomic) == ("waiting", 2 * amount_of(other))
    again = make.payment(api, expires_in=300)
    make.advance(api, 301)
    make.late_deposit(again["id"])
    sent = api.post(f"/payments/{again['id']}/refunds", {}, key="back")
    assert sent.status_code == 201, sent.content
    (back,) = make.detail(api, again["id"])["transactions"]
    answer = booked_transaction(Payment.objects.get(pk=again["id"]), back["tx_hash"])
    assert answer is not None and answer.result == LookupResult.RETURNED
    with pytest.raises(DepositSentBack):  # though as much is held for the other one
        accept_late(again["id"])
    assert auditing.breaches() == []


def amount_of(made: dict[str, Any]) -> int:
    return int(made["payment_addresses"][0]["crypto_amount_atomic"])


@pytest.mark.parametrize("is_open", [True, False])
def test_a_link_and_an_agent_learn_what_was_accepted(
    cast: Cast, coins: None, is_open: bool
) -> None:
    link = made_link(cast.bakery, stock=1)
    bought_at = Payment.objects.get(reference=reference_of(send(link)))
    agent = Api(cast.bakery.secrets["test_agent"])
    asked = {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    of_agent = agent.post("/agentic/payments", asked, key="pay").json()
    if not is_open:
        make.advance(cast.bakery.test, 3601)
    for payment_id in (str(bought_at.pk), str(of_agent["id"])):
        reference = Payment.objects.get(pk=payment_id).reference
        accept_transfer(owner(cast), str(swallowed(payment_id)), reference)
    shown = agent.get(f"/agentic/payments/{of_agent['id']}").json()
    worth = shown["amount_paid"] if is_open else shown["accepted_late_amount"]
    assert (shown["status"], worth) == ("completed" if is_open else "expired", "10.00")
    bought_at.refresh_from_db()
    assert bought_at.status == ("completed" if is_open else "expired")
    assert auditing.breaches() == []


def test_a_subscription_goes_on_with_what_was_accepted(cast: Cast, coins: None) -> None:
    subscription = r.subscribe(cast.bakery.test)
    [bill] = r.invoices_of(cast.bakery.test, subscription["id"])
    made = r.ok(r.start_payment(bill["public_token"]), 201)["payment"]
    row = Payment.objects.get(reference=made["token"])
    make.advance(cast.bakery.test, 3601)
    accept_transfer(owner(cast), str(swallowed(str(row.pk))), row.reference)
    update_paid_amounts([row.pk])
    assert r.invoice(cast.bakery.test, bill["id"])["status"] == "paid"
    make.advance(cast.bakery.test, 10 * 24 * 3600)
    after = r.subscription(cast.bakery.test, subscription["id"])
    assert after["status"] == "active"
    assert auditing.breaches() == []
