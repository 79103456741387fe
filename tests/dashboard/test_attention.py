"""What needs a person: each kind comes about, is told to who may see it, is resolved where its
button leads, and is gone."""

import threading
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from redis.exceptions import ConnectionError as RedisConnectionError

from apps.access import second_factor
from apps.access.models import ApiKey
from apps.assets.models import AcceptedAsset, Asset
from apps.audit.grants import WEB
from apps.billing.invoices.payment_intents import settle_invoices
from apps.chain.addresses import ZERO_ADDRESS
from apps.chain.models import Deposit, OutgoingTransaction
from apps.chain.simulated import put
from apps.core import clock, kept
from apps.core.db import tenancy
from apps.core.machine import Step
from apps.core.money import cents_from_text
from apps.dashboard.inbox import KIND_MAX, KINDS, Inbox
from apps.ledger.models import Movement
from apps.payments.models import LateDeposit, Payment, PaymentEvent, Refund
from apps.payments.selectors import addresses_of
from apps.payments.services import hold
from apps.payments.services.settle import settle_payment
from apps.payments.states import REFUND_MACHINE
from apps.payouts.services.destinations import add_bank, set_verified
from apps.payouts.services.review import approve_payout
from apps.platforms.requests import VerificationRequest
from apps.platforms.services.verifications import (
    approve_verification,
    reject_verification,
    submit_verification,
)
from apps.stores.models import AuditEntry, Role
from apps.stores.services import change_store
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.billing import records as billing
from tests.cast import Cast, signed_in
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_pages import waiting_approval
from tests.dashboard.test_refunds import confirmed, reviewed
from tests.dashboard.test_search import copies, joined
from tests.payouts.conftest import _django_db_helper, committed
from tests.roles import acting_as

__all__ = ["_django_db_helper", "committed"]

pytestmark = pytest.mark.django_db
DAY = 86_400


def told(browser: Browser) -> list[str]:
    return [line.notice.title for line in browser.get("attention").context["lines"]]


def only(browser: Browser) -> Any:
    (line,) = browser.get("attention").context["lines"]
    return line


def books_are_right() -> None:
    out = StringIO()
    try:
        call_command("verify_ledger", stdout=out)
    except SystemExit:
        raise AssertionError(out.getvalue()) from None


def late(cast: Cast) -> tuple[str, str]:
    made = make.payment(cast.bakery.test, expires_in=300, title="Rye")
    make.advance(cast.bakery.test, 400)
    return made["id"], make.late_deposit(made["id"])


def arrives(
    payment: dict[str, Any], asset_id: str = "", *, sender: str = "", share: int = 1
) -> Deposit:
    """A confirmed deposit at the payment's first address, of its coin or another."""
    row = Payment.objects.select_related("store").get(pk=payment["id"])
    entry = addresses_of(row)[0]
    asset = Asset.objects.get(pk=asset_id) if asset_id else entry.asset
    amount = entry.required_atomic * share
    needed = entry.required_confirmations
    at = clock.now(row.store, row.mode)
    with transaction.atomic():
        deposit, _ = put(
            entry.address,
            asset,
            "arrived",
            amount_atomic=amount,
            confirmations=needed,
            status="confirmed",
            at=at,
        )
        if sender:
            Deposit.objects.filter(pk=deposit.pk).update(from_address=sender)
    settle_payment(row.pk)
    return deposit


def endpoint_in_error(cast: Cast) -> Endpoint:
    asked = EndpointRequest(
        url="https://1.1.1.1/hook", subscribed_events=["payment_intent.completed"]
    )
    made = register_endpoint(cast.bakery.access(), asked).endpoint
    Endpoint.objects.filter(pk=made.pk).update(status="error", disabled_at=clock.real_now())
    return made


def test_all_clear_is_one_statement_and_says_so(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert "All clear" in text(browser.get("attention")) and "All clear" in text(browser.get(""))
    access = signed_in(cast.alice, cast.bakery.store)
    with (
        acting_as(WEB),
        tenancy.within(tenancy.of([cast.bakery.store], ["test"])),
        CaptureQueriesContext(connection) as seen,
    ):
        mine = Inbox(access)
        assert (mine.count, mine.lines(25)) == (0, [])
    assert [one["sql"].count("UNION ALL") for one in seen if "kind_name" in one["sql"]] == [
        len(KINDS) - 1
    ]
    assert len(seen) == 1


def test_a_late_deposit_is_accepted_by_its_button(cast: Cast) -> None:
    payment, deposit = late(cast)
    browser = Browser(cast.alice).prove()
    line = only(browser)
    assert (line.notice.title, line.notice.action) == (
        "Deposit arrived after the payment ended",
        "Accept deposit",
    )
    assert line.notice.detail.startswith("Rye · ") and line.notice.amount == "€10.00"
    assert (
        browser.get("").context["inbox"].count == 1
        and "1<span" in browser.get("payments").content.decode()
    )
    assert browser.get(line.notice.url).status_code == 200
    assert browser.post(line.notice.url).status_code == 303
    assert told(browser) == []
    assert (
        PaymentEvent.objects.filter(payment=payment, event_type="late_deposit.accepted").count()
        == 1
    )
    assert Movement.objects.filter(kind="late_deposit_accepted").count() == 1
    assert AuditEntry.objects.filter(action="late_deposit.accepted").count() == 1
    assert LateDeposit.objects.get(deposit=deposit).store_id == cast.bakery.store.pk
    books_are_right()


def test_a_late_deposit_that_is_sent_back_is_gone_too(cast: Cast) -> None:
    payment, _ = late(cast)
    answer = cast.bakery.test.post(
        f"/payments/{payment}/refunds",
        {"refund": {"destination_address": make.fresh_address()}},
        key="back",
    )
    assert answer.status_code == 201, answer.content
    assert Refund.objects.get().is_from_held
    assert told(Browser(cast.alice)) == []
    books_are_right()


def test_an_overpayment_is_refunded_from_its_button(cast: Cast) -> None:
    made = make.simulated(
        cast.bakery.test, make.payment(cast.bakery.test, title="Rye")["id"], "overpaid"
    )
    assert made["state_reason"] == "completed_overpaid"
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.action) == ("Customer overpaid", "Refund difference")
    excess = cents_from_text(line.notice.amount.removeprefix("€"))
    assert 0 < excess < 1000
    assert line.notice.detail == f"Rye · €{(1000 + excess) / 100:.2f} received, €10.00 due"
    assert line.notice.url.startswith(f"/dashboard/payments/{made['id']}/refund?")
    assert (
        f'value="{line.notice.amount.removeprefix("€")}"'
        in browser.get(line.notice.url).content.decode()
    )
    confirmed(browser, made, reviewed(browser, made, amount="0.0001"))
    assert Refund.objects.count() == 1 and told(browser) == []
    books_are_right()
    make.advance(cast.bakery.test, 61)
    assert told(browser) == []


def test_an_overpayment_that_is_left_alone_is_shown_for_a_month(cast: Cast) -> None:
    make.simulated(cast.bakery.test, make.payment(cast.bakery.test)["id"], "overpaid")
    assert told(Browser(cast.alice)) == ["Customer overpaid"]
    make.advance(cast.bakery.test, 31 * DAY)
    assert told(Browser(cast.alice)) == []


def test_a_rejected_payment_of_an_unknown_sender_is_refunded_to_an_address_that_is_named(
    cast: Cast,
) -> None:
    change_store(cast.bakery.store, accept_overpayments=False)
    made = make.payment(cast.bakery.test, title="Rye")
    arrives(made, sender=ZERO_ADDRESS, share=2)
    browser = Browser(cast.alice)
    line = only(browser)
    assert "unknown sender" in line.notice.title and line.notice.action == "Issue refund"
    review = reviewed(browser, made, destination_address=make.fresh_address())
    confirmed(browser, made, review)
    assert Refund.objects.count() == 1 and told(browser) == []
    books_are_right()


def test_a_rejected_card_payment_waits_for_the_merchants_address(cast: Cast) -> None:
    change_store(cast.bakery.store, accept_overpayments=False)
    made = make.payment(cast.bakery.test, title="Rye")
    arrives(made, sender=ZERO_ADDRESS, share=2)
    hold.flag_card_refund(Payment.objects.get(pk=made["id"]))
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.action) == (
        "Card payment needs a refund",
        "Issue refund",
    )
    confirmed(browser, made, reviewed(browser, made, destination_address=make.fresh_address()))
    assert told(browser) == []


def test_a_refund_that_failed_is_made_again(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    made = make.paid(cast.bakery.test, title="Rye")
    browser = Browser(cast.alice)
    confirmed(browser, made, reviewed(browser, made))
    row = Refund.objects.get()
    assert told(browser) == []
    REFUND_MACHINE.change_status(row, Step("failed"), at=clock.real_now())
    line = only(browser)
    assert (line.notice.title, line.notice.url) == (
        "Refund failed",
        f"/dashboard/payments/{made['id']}/refund",
    )
    Refund.objects.filter(pk=row.pk).update(status="submitted")
    assert told(browser) == []


def test_coins_that_an_address_was_not_made_for_are_told(cast: Cast) -> None:
    made = make.payment(cast.bakery.test, title="Rye")
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    arrives(made, "USDC_SETH")
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.action) == (
        "Unexpected coins arrived",
        "Review transfer",
    )
    assert "USDC" in line.notice.detail and "Rye" in text(browser.get(line.notice.url))
    assert told(Browser(cast.charlie)) == []
    make.advance(cast.bakery.test, 31 * DAY)
    assert told(browser) != [], "it is somebody's money"


def test_a_refund_whose_outcome_is_unclear_is_told(cast: Cast) -> None:
    made = make.paid(cast.bakery.test)
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    confirmed(Browser(cast.alice), made, reviewed(Browser(cast.alice), made))
    refund = Refund.objects.select_related("asset").get()
    sending = OutgoingTransaction.objects.create(
        store=cast.bakery.store,
        mode="test",
        chain_id=refund.asset.chain_id,
        asset=refund.asset,
        purpose="refund",
        reference=str(refund.pk),
        to_address=refund.destination_address,
        amount_atomic=refund.amount_atomic,
        status="review",
        requested_at=clock.real_now(),
    )
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, browser.get(line.notice.url).headers["Location"]) == (
        "Refund is under review",
        f"/dashboard/payments/{made['id']}",
    )
    OutgoingTransaction.objects.filter(pk=sending.pk).update(status="failed")
    assert told(browser) == []


def test_who_asked_for_a_payout_isnt_asked_to_approve_it(cast: Cast) -> None:
    # Lazily made on first use: its maker has to be known before it asks.
    assert cast.bakery.secrets["test"]
    ApiKey.objects.filter(store=cast.bakery.store).update(user=cast.alice)
    held = waiting_approval(cast)
    admin = joined(cast, Role.ADMIN)
    assert told(Browser(cast.alice)) == []
    line = only(admin)
    assert (line.notice.title, line.notice.url) == (
        "Payout needs your approval",
        f"/dashboard/approvals/{held['id']}",
    )
    assert line.may_resolve and not only(joined(cast, Role.ACCOUNTANT)).may_resolve
    assert admin.post(f"approvals/{held['id']}/reject", reason="No").status_code == 303
    assert told(admin) == []
    books_are_right()


def test_a_payout_in_review_is_told_until_staff_have_decided(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    change_store(cast.bakery.store, payout_review_threshold_cents=0)
    made = make.payout(cast.bakery.test, 10**16)
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.url) == (
        "Payout is under review",
        f"/dashboard/payouts/{made['id']}",
    )
    from apps.payouts.models import Payout

    approve_payout(Payout.objects.select_related("store").get(pk=made["id"]))
    assert told(browser) == []
    books_are_right()


def test_a_bank_account_waits_for_verification_and_a_rejected_one_is_told(cast: Cast) -> None:
    account = add_bank(
        cast.bakery.store, "test", currency="EUR", holder="Alice", account="DE89370400440532013000"
    )
    browser = Browser(cast.alice)
    assert told(browser) == ["Business isn't verified"]
    asked = submit_verification(
        cast.bakery.store, VerificationRequest(business_legal_name="Bakery", business_country="DE")
    )
    reject_verification(asked, "The register says otherwise.")
    assert sorted(told(browser)) == ["Business isn't verified", "Verification was rejected"]
    assert "The register says otherwise." in text(browser.get("attention"))
    again = submit_verification(
        cast.bakery.store, VerificationRequest(business_legal_name="Bakery", business_country="DE")
    )
    assert told(browser) == ["Business isn't verified"]
    approve_verification(again)
    assert told(browser) == []
    set_verified(account, True)


def test_a_coin_that_was_stopped_is_told(cast: Cast) -> None:
    rows = AcceptedAsset.objects.filter(store=cast.bakery.store, mode="test", asset="SETH")
    rows.update(suspended_at=clock.real_now())
    assert told(Browser(cast.alice)) == ["ETH on Ethereum Sepolia is stopped for review"]
    rows.update(suspended_at=None)
    assert told(Browser(cast.alice)) == []


def test_an_invoice_that_was_written_off_and_paid_is_told_until_it_is_refunded(cast: Cast) -> None:
    sent = billing.opened(cast.bakery.test)
    made = billing.start_payment(sent["public_token"]).json()["payment"]
    billing.ok(billing.act(cast.bakery.test, sent["id"], "mark_uncollectible"))
    make.simulated(cast.bakery.test, made["payment_intent_id"])
    settle_invoices()
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.amount) == ("Invoice was written off and paid", "€10.00")
    assert browser.get(line.notice.url).status_code == 200
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    answer = cast.bakery.test.post(f"/payments/{made['payment_intent_id']}/refunds", {}, key="back")
    assert answer.status_code == 201, answer.content
    make.advance(cast.bakery.test, 61)
    make.advance(cast.bakery.test, 61)
    settle_invoices()
    assert told(browser) == []


def test_a_subscription_that_is_past_due_is_told_until_it_is_paid(cast: Cast) -> None:
    made = billing.subscribe(cast.bakery.test)
    make.advance(cast.bakery.test, 7 * DAY + 60)
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.url) == (
        "Subscription is past due",
        f"/dashboard/subscriptions/{made['id']}",
    )
    (bill,) = billing.invoices_of(cast.bakery.test, made["id"])
    billing.pay(cast.bakery.test, bill)
    assert told(browser) == []


def test_an_endpoint_that_was_turned_off_is_turned_on_by_its_button(cast: Cast) -> None:
    made = endpoint_in_error(cast)
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.posts) == (
        "Webhook endpoint was disabled after failures",
        ("to", "active"),
    )
    answer = browser.post(line.notice.url, to="active", next="/dashboard/attention")
    assert answer.headers["Location"] == "/dashboard/attention"
    made.refresh_from_db()
    assert made.status == "active" and told(browser) == []
    assert AuditEntry.objects.filter(action="webhook_endpoint.enabled").count() == 1
    assert told(joined(cast, Role.ACCOUNTANT)) == []


def test_an_endpoint_whose_deliveries_keep_failing_is_told(cast: Cast) -> None:
    made = endpoint_in_error(cast)
    Endpoint.objects.filter(pk=made.pk).update(status="active")
    make.paid(cast.bakery.test)
    rows = Delivery.objects.filter(endpoint=made)
    assert rows.exists() and told(Browser(cast.alice)) == []
    rows.update(attempts=3)
    assert told(Browser(cast.alice)) == ["Webhook endpoint is failing"]
    rows.update(status="delivered")
    assert told(Browser(cast.alice)) == []


def test_who_may_not_resolve_reads_without_a_button(cast: Cast) -> None:
    late(cast)
    shown = text(joined(cast, Role.VIEWER).get("attention"))
    assert "Deposit arrived after the payment ended" in shown and "Accept deposit" not in shown
    assert "Accept deposit" in text(joined(cast, Role.ADMIN).get("attention"))


def test_nothing_of_another_store_or_mode_is_told(cast: Cast) -> None:
    late(cast)
    browser = Browser(cast.alice)
    browser.switch("live")
    assert told(browser) == told(Browser(cast.charlie)) == []


def test_the_number_beside_home_is_counted_once_a_minute_and_after_ones_own_press(
    cast: Cast,
) -> None:
    payment, deposit = late(cast)
    browser = Browser(cast.alice).prove()

    def counted() -> int:
        with CaptureQueriesContext(connection) as seen:
            shown = browser.get("products")
        assert ("need attention" in shown.content.decode()) is bool(shown.context["inbox"].badge)
        return sum("kind_name" in one["sql"] for one in seen)

    assert [counted() for _ in range(3)] == [1, 0, 0]
    assert browser.get("products").context["inbox"].badge == "1"
    browser.post(f"payments/{payment}/late-deposits/{deposit}")
    assert browser.get("products").context["inbox"].badge == ""
    late(cast)
    assert browser.get("products").context["inbox"].badge == ""
    assert (
        browser.get("").context["inbox"].badge
        == browser.get("products").context["inbox"].badge
        == "1"
    )


def test_pages_are_shown_while_nothing_can_be_kept(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    late(cast)
    browser = Browser(cast.alice)

    def away(*_: Any) -> None:
        raise RedisConnectionError

    for name in ("get", "set", "delete"):
        monkeypatch.setattr(kept.cache, name, away)
    assert browser.get("products").context["inbox"].badge == "1"
    assert browser.post("mode", mode="live").status_code == 302


# --- many -----------------------------------------------------------------------------------------


def test_a_month_of_payments_costs_one_statement_by_indexes(cast: Cast) -> None:
    from tests.dashboard.test_search import month_of_payments

    month_of_payments(cast)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_refund, payments_latedeposit, chain_unmatchedtransfer")
    with acting_as(WEB), tenancy.within(tenancy.of([cast.bakery.store], ["test"])):
        with CaptureQueriesContext(connection) as seen:
            assert Inbox(signed_in(cast.alice, cast.bakery.store)).count == 0
        (asked,) = [one["sql"] for one in seen if "UNION ALL" in one["sql"]]
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS OFF) {asked}")
            plan = "\n".join(line for (line,) in cursor.fetchall())
    for table in ("payments_payment", "chain_deposit", "payments_paymentaddress"):
        assert f"Seq Scan on {table}" not in plan, plan
    took = plan.rsplit("Execution Time: ", 1)[1]
    assert float(took.split(" ")[0]) < 20, plan


def test_many_cost_the_statements_of_few_and_are_paged(cast: Cast) -> None:
    made = make.simulated(cast.bakery.test, make.payment(cast.bakery.test)["id"], "overpaid")
    browser = Browser(cast.alice)

    def asked() -> int:
        browser.get("attention")
        with CaptureQueriesContext(connection) as seen:
            browser.get("attention")
        return len(seen)

    few = asked()
    new = {
        "id": "gen_random_uuid()",
        "reference": "upper(substr(md5(n::text), 1, 16))",
        "idempotency_key": "NULL",
    }
    copies(
        Payment,
        new,
        f"(SELECT * FROM payments_payment WHERE id = '{made['id']}') s, generate_series(1,"
        f" {KIND_MAX + 20}) n",
    )
    assert asked() == few
    first = browser.get("attention")
    last = browser.get("attention", data={"page": "4"})
    assert len(first.context["lines"]) == len(last.context["lines"]) == 25
    assert 'href="?page=2"' in first.content.decode() and 'href="?page=3"' in last.content.decode()
    assert "100+" in text(browser.get(""))
    assert len(browser.get("").context["attention"]) == 5
    for odd in ("0", "-1", "x", "99999", "²"):
        assert browser.get("attention", data={"page": odd}).status_code == 200


def test_each_kind_has_a_name_of_its_own() -> None:
    assert len({one.name for one in KINDS}) == len(KINDS)


# --- at once --------------------------------------------------------------------------------------


def together(*acts: Callable[[], Any]) -> None:
    start = threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> None:
        start.wait()
        try:
            act()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def test_two_people_who_press_turn_on_turn_it_on_once(committed: Cast) -> None:
    made = endpoint_in_error(committed)
    browsers = [Browser(committed.alice) for _ in range(4)]
    answers: list[int] = []
    path = f"webhooks/{made.pk}/switch"
    together(
        *[
            lambda one=one: answers.append(one.post(path, to="active").status_code)
            for one in browsers
        ]
    )
    assert answers == [303] * 4
    assert (
        AuditEntry.objects.filter(target_id=str(made.pk), action="webhook_endpoint.enabled").count()
        == 1
    )


def test_two_people_who_accept_a_late_deposit_accept_it_once(committed: Cast) -> None:
    payment, deposit = late(committed)
    second_factor.switch_on(committed.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    browsers = [Browser(committed.alice).prove(), Browser(committed.alice).prove()]
    answers: list[int] = []
    path = f"payments/{payment}/late-deposits/{deposit}"
    together(*[lambda one=one: answers.append(one.post(path).status_code) for one in browsers])
    assert sorted(answers) == [303, 422]
    assert Movement.objects.filter(kind="late_deposit_accepted").count() == 1
    assert (
        PaymentEvent.objects.filter(payment=payment, event_type="late_deposit.accepted").count()
        == 1
    )
