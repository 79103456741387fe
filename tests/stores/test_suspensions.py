"""Two members of staff suspend a store's new payments, payouts or sign-ins, each by itself; it
holds wherever money moves, the owners are notified, and deposits go on."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as outbox
from django.db import IntegrityError, transaction
from django.test import Client

from apps.assets.models import Chain
from apps.billing.models import Invoice, Subscription
from apps.billing.subscriptions.cycle import run_cycles
from apps.chain.models import Deposit, OutgoingTransaction
from apps.chain.sending import lanes
from apps.core import clock
from apps.dashboard.site.views import SIGNED_IN
from apps.dashboard.urls import PAGES
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services.transfers import send_transfer_back
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from apps.payouts.services.runs import run_schedules
from apps.stores.models import Notification, Store
from apps.stores.staff import four_eyes, suspensions
from apps.stores.staff.four_eyes import StaffRequestRefused
from apps.stores.staff.suspensions import (
    SUSPENSION,
    RefundsToPayers,
    Suspension,
)
from apps.stores.staff_roles import StaffForbidden
from tests import make
from tests.billing import records as billing
from tests.cast import Cast, signed_in
from tests.dashboard.browse import Browser, text
from tests.links.makers import made_link
from tests.platforms.conftest import platform_of

REASON = "Their customers report fraud"
ORDER = {"amount": "5.00", "currency": "EUR"}


def decide(store: Store, part: str, *, lifts: bool = False) -> Store:
    """One asks, another approves; the store as it is then."""
    at = clock.real_now()
    row = suspensions.request_suspension(
        Store.objects.get(pk=store.pk), part, REASON, make.clerk("admin"), at, lifts=lifts
    )
    four_eyes.approve(SUSPENSION, row.pk, make.clerk("finance"), at, digest=row.digest)
    store.refresh_from_db()
    return store


def test_one_alone_suspends_nothing(cast: Cast) -> None:
    store = cast.bakery.store
    clerk = make.clerk("admin")
    row = suspensions.request_suspension(store, "payments", REASON, clerk, clock.real_now())
    with pytest.raises(StaffRequestRefused):
        four_eyes.approve(SUSPENSION, row.pk, clerk, clock.real_now(), digest=row.digest)
    with pytest.raises(StaffForbidden):
        suspensions.request_suspension(
            store, "payouts", REASON, make.clerk("support"), clock.real_now()
        )
    store.refresh_from_db()
    assert suspensions.parts_of(store) == [] and make.payment(cast.bakery.test)


def test_each_is_suspended_and_lifted_by_itself_and_the_owners_are_told(cast: Cast) -> None:
    store = decide(cast.bakery.store, "payouts")
    assert suspensions.parts_of(store) == [Suspension.PAYOUTS]
    assert [notice.reason for notice in suspensions.notices_of(store)] == [REASON]
    make.mail_leaves()
    emails = [email for email in outbox.outbox if "are suspended" in email.subject]
    assert [email.to for email in emails] == [[cast.alice.email]]
    assert REASON in emails[0].body
    assert Notification.objects.filter(store=store, title__contains="are suspended").exists()
    decide(store, "sign_ins")
    decide(store, "payouts", lifts=True)
    assert suspensions.parts_of(store) == [Suspension.SIGN_INS]
    with pytest.raises(StaffRequestRefused, match="Nothing of it would change"):
        decide(store, "payouts", lifts=True)


@pytest.mark.parametrize("mode", ["test", "live"])
def test_the_api_says_why_no_payment_is_made_and_makes_them_again_once_it_is_lifted(
    cast: Cast, mode: str
) -> None:
    client = getattr(cast.bakery, mode)
    decide(cast.bakery.store, "payments")
    answer = client.post("/payments", {"payment_intent": ORDER})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "store_suspended"
    decide(cast.bakery.store, "payments", lifts=True)
    assert make.payment(client)


def refused(answer: Any) -> bool:
    return answer.status_code == 403 and "store_suspended" in answer.content.decode()


def test_a_payment_from_before_is_paid_in_and_refunded_only_to_who_paid(cast: Cast) -> None:
    payment = make.payment(cast.bakery.test)
    decide(cast.bakery.store, "payments")
    decide(cast.bakery.store, "payouts")
    assert make.simulated(cast.bakery.test, payment["id"])["status"] == "completed"
    path = f"/payments/{payment['id']}/refunds"
    elsewhere = {"refund": {"destination_address": make.fresh_address()}}
    answer = cast.bakery.test.post(path, elsewhere, key=uuid.uuid4().hex)
    assert refused(answer), answer.content
    address = PaymentAddress.objects.filter(payment=payment["id"]).values("address")
    payer = Deposit.objects.get(address__in=address).from_address
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    back = {"refund": {"destination_address": payer}}
    answer = cast.bakery.test.post(path, back, key=uuid.uuid4().hex)
    assert answer.status_code == 201, answer.content


def test_who_paid_a_little_on_top_is_not_refunded_what_others_paid(cast: Cast) -> None:
    payment = make.payment(cast.bakery.test)
    for part in ("6.00", "4.00"):
        make.simulated(cast.bakery.test, payment["id"], None, settlement_amount=part)
    address = PaymentAddress.objects.filter(payment=payment["id"]).values("address")
    payers = set(Deposit.objects.filter(address__in=address).values_list("from_address", flat=True))
    assert len(payers) == 2
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    decide(cast.bakery.store, "payouts")
    path = f"/payments/{payment['id']}/refunds"
    for payer in payers:
        body = {"refund": {"destination_address": payer}}
        assert refused(cast.bakery.test.post(path, body, key=uuid.uuid4().hex))
    answer = cast.bakery.test.post(path, {"refund": {}}, key=uuid.uuid4().hex)
    assert answer.status_code == 201, answer.content
    sent = {row["destination_address"].lower() for row in answer.json()}
    assert sent and sent <= payers


def test_an_invoice_that_is_open_gets_no_payment_and_its_customer_reads_why(cast: Cast) -> None:
    made = billing.opened(cast.bakery.test)
    decide(cast.bakery.store, "payments")
    assert refused(billing.start_payment(made["hosted_url"].rpartition("/")[2]))
    assert not Payment.objects.exists()


def test_nobody_is_billed_for_a_subscription_that_they_could_not_pay(cast: Cast) -> None:
    api = cast.bakery.test
    subscription = billing.subscribe(api)
    billing.change(api, subscription["id"], "pause")
    price, customer = billing.price(api)["id"], billing.customer(api)["id"]
    decide(cast.bakery.store, "payments")
    before = Invoice.objects.count()
    assert refused(billing.ask_subscription(api, price_id=price, customer_id=customer))
    make.advance(api, 40 * 24 * 3600)
    assert refused(api.post(f"/billing/subscriptions/{subscription['id']}/resume"))
    assert Invoice.objects.count() == before
    decide(cast.bakery.store, "payments", lifts=True)
    billing.change(api, subscription["id"], "resume")
    assert Invoice.objects.count() == before + 1


def test_what_was_due_while_nobody_could_pay_is_judged_once_they_could(cast: Cast) -> None:
    made = billing.subscribe(cast.bakery.live, grace_cycles=0)
    row = Subscription.objects.get(pk=made["id"])
    invoice = Invoice.objects.get(subscription=row)
    assert invoice.due_at is not None
    left = timedelta(hours=5)
    with time_machine.travel(invoice.due_at - left, tick=False):
        decide(cast.bakery.store, "payments")
    lifted = invoice.due_at + timedelta(days=2)
    with time_machine.travel(lifted, tick=False):
        run_cycles()
        decide(cast.bakery.store, "payments", lifts=True)
        run_cycles()
    row.refresh_from_db()
    assert (row.status, row.failed_cycle_count) == ("active", 0)
    with time_machine.travel(lifted + left + timedelta(minutes=1), tick=False):
        run_cycles()
    row.refresh_from_db()
    assert (row.status, row.failed_cycle_count) == ("canceled", 1)


def test_a_payment_of_a_suspended_platforms_sub_merchant_is_refused(cast: Cast) -> None:
    platform = platform_of(cast.bakery)
    sub = platform.sub()
    order = {"payment_intent": ORDER}
    made = sub.test.post("/payments", order, key="one").json()
    decide(platform.store, "payments")
    assert refused(sub.test.post("/payments", order, key="another"))
    assert sub.test.post("/payments", order, key="one").json()["id"] == made["id"]
    [notice] = suspensions.notices_of(sub.store)
    assert notice.by_platform


def test_the_database_refuses_whoever_writes(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    payout = Payout.objects.get(pk=make.payout(cast.bakery.test, 10**16)["id"])
    decide(cast.bakery.store, "payouts")
    payout.pk = uuid.uuid4()
    payout.idempotency_key = "another"
    with pytest.raises(IntegrityError, match="are suspended"), transaction.atomic():
        payout.save(force_insert=True)


def test_a_payout_that_waits_goes_out_once_the_suspension_is_lifted(cast: Cast) -> None:
    shop = cast.bakery
    make.funded(shop.test)
    body = make.payout(shop.test, 10**16)
    decide(shop.store, "payouts")
    advance_payouts()
    advance_payouts()
    row = Payout.objects.get(pk=body["id"])
    assert row.status == "pending"
    assert refused(make.ask_payout(shop.test, str(10**16)))
    decide(shop.store, "payouts", lifts=True)
    advance_payouts()
    row.refresh_from_db()
    assert row.status == "submitted"


def test_what_a_replayed_key_made_is_still_answered(cast: Cast) -> None:
    make.funded(cast.bakery.test)
    address = make.fresh_address()
    first = make.payout(cast.bakery.test, 10**16, key="once", destination_address=address)
    order = {"payment_intent": ORDER}
    payment = cast.bakery.test.post("/payments", order, key="one payment").json()
    decide(cast.bakery.store, "payouts")
    decide(cast.bakery.store, "payments")
    answer = cast.bakery.test.post("/payments", order, key="one payment")
    assert answer.status_code == 201 and answer.json()["id"] == payment["id"]
    assert refused(cast.bakery.test.post("/payments", order, key="another payment"))
    again = make.ask_payout(cast.bakery.test, str(10**16), key="once", destination_address=address)
    assert again.json()["id"] == first["id"]


def test_schedules_swaps_and_mass_payouts_wait(cast: Cast) -> None:
    shop = cast.bakery
    make.funded(shop.test)
    decide(shop.store, "payouts")
    swap = {"source_asset_id": "SETH", "buy_asset_id": "USDC_SETH", "sell_amount_atomic": "1000"}
    answer = shop.test.post("/balance_swaps", swap, key=uuid.uuid4().hex)
    assert refused(answer), answer.content
    assert run_schedules() == 0


def test_customers_read_that_the_store_takes_no_payments_and_no_button_makes_one(
    cast: Cast,
) -> None:
    link = made_link(cast.bakery)
    decide(cast.bakery.store, "payments")
    page = Client().get(f"/pay/{link.token}")
    assert "This store can’t take new payments at the moment" in text(page)
    assert "<form" not in text(page).split("<footer")[0].split("<main")[1]
    answer = Client().post(f"/pay/{link.token}", {"form_key": uuid.uuid4().hex})
    assert "This store can’t take new payments at the moment" in text(answer)
    assert not Payment.objects.filter(store=cast.bakery.store).exists()


def test_nobody_opens_a_store_whose_sign_ins_are_suspended_and_keys_keep_working(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    assert browser.get("/dashboard/").status_code == 200
    decide(cast.bakery.store, "sign_ins")
    page = browser.get("/dashboard/payments")
    assert page.status_code == 403 and "are suspended" in text(page)
    assert browser.get("/dashboard/account").status_code in (200, 404)
    assert make.payment(cast.bakery.test)
    decide(cast.bakery.store, "sign_ins", lifts=True)
    assert browser.get("/dashboard/").status_code == 200


def test_the_dashboard_says_what_is_suspended_and_why(cast: Cast) -> None:
    decide(cast.bakery.store, "payments")
    page = text(Browser(cast.alice).get("/dashboard/"))
    assert "New payments are suspended" in page and REASON in page
    page = text(Browser(cast.bob).get("/dashboard/"))
    assert "New payments are suspended" in page and REASON not in page  # it is for owners


def test_what_waits_to_be_signed_waits_and_refunds_are_signed(cast: Cast) -> None:
    store = cast.bakery.store
    at = clock.real_now()
    for purpose in ("payout", "settlement", "refund"):
        OutgoingTransaction.objects.create(
            mode="test",
            store=store,
            chain_id="sepolia",
            asset_id="SETH",
            purpose=purpose,
            reference=uuid.uuid4().hex,
            to_address=make.fresh_address(),
            amount_atomic=1,
            requested_at=at,
        )
    chain = Chain.objects.get(pk="sepolia")
    before = lanes.due(chain, at)
    assert {row.purpose for row in before} == {"payout", "settlement", "refund"}
    decide(store, "payouts")
    assert {row.purpose for row in lanes.due(chain, at)} == {"refund"}
    assert {row.purpose for row in lanes.still_going(before)} == {"refund"}
    decide(store, "payouts", lifts=True)
    assert len(lanes.due(chain, at)) == 3


def test_stray_coins_go_back_to_their_sender_and_nowhere_else(cast: Cast) -> None:
    payment = make.payment(cast.bakery.test)
    transfer = str(make.stray_transfer(payment["id"], "USDC_SETH"))
    decide(cast.bakery.store, "payouts")
    owner = signed_in(cast.alice, cast.bakery.store)
    with pytest.raises(RefundsToPayers), transaction.atomic():
        send_transfer_back(owner, transfer, make.fresh_address())
    assert not send_transfer_back(owner, transfer).is_elsewhere


def test_every_page_of_a_person_whose_only_store_is_shut_answers(cast: Cast) -> None:
    browser = Browser(cast.alice)
    decide(cast.bakery.store, "sign_ins")
    for page in PAGES:
        if page.permission != SIGNED_IN or "<" in page.path:
            continue
        for method in page.methods:
            answer = browser.get(page.path) if method == "GET" else browser.post(page.path)
            assert answer.status_code < 500, page.path
