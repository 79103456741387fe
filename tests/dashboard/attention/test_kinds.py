"""Other kinds of what needs a person: each comes about, is shown to those who may see it, is
resolved where its button leads, and is gone."""

from apps.access.models import ApiKey
from apps.assets.models import AcceptedAsset
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.core import clock
from apps.dashboard.tables.cells import ends_of
from apps.payouts.services.bank_reviews import verify_bank
from apps.payouts.services.destinations import add_bank
from apps.payouts.services.review import approve_payout
from apps.payouts.states import ABOVE_THRESHOLD, REASON_WORDS
from apps.platforms.requests import VerificationRequest
from apps.platforms.services.verifications import (
    approve_verification,
    reject_verification,
    submit_verification,
)
from apps.stores.auditing import audit
from apps.stores.models import AuditEntry, Role
from apps.stores.services import change_store
from apps.webhooks.models import Delivery, Endpoint, Event
from tests import make
from tests.billing import records as billing
from tests.cast import Cast
from tests.dashboard.attention.makers import DAY, books_are_right, endpoint_in_error, only, told
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_pages import waiting_approval
from tests.dashboard.test_search import joined


def test_who_asked_for_a_payout_isnt_asked_to_approve_it(cast: Cast) -> None:
    # Lazily made on first use: its maker has to be known before it asks.
    assert cast.bakery.secrets["test"]
    ApiKey.objects.filter(store=cast.bakery.store).update(user=cast.alice)
    for key in ApiKey.objects.filter(store=cast.bakery.store):
        audit.record("api_key.taken_over", target=key, details={"user": cast.alice.pk})
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
    assert line.notice.detail == f"0.01 ETH to {ends_of(made['destination_address'])}"
    assert browser.get("").context["inbox"].badge == "", "there is nothing for them to do"
    steps = browser.get(f"payouts/{made['id']}").context["steps"]
    assert [(step.to, step.note) for step in steps] == [
        ("pending", ""),
        ("requires_review", REASON_WORDS[ABOVE_THRESHOLD]),
    ]
    from apps.payouts.models import Payout

    approve_payout(Payout.objects.select_related("store").get(pk=made["id"]))
    assert told(browser) == []
    books_are_right()


def test_a_bank_account_waits_for_verification_and_a_rejected_one_is_told(cast: Cast) -> None:
    account = add_bank(
        cast.bakery.store, "test", currency="EUR", holder="Alice", account="DE89370400440532013000"
    )
    browser = Browser(cast.alice)
    assert told(browser) == ["Business isn’t verified"]
    asked = submit_verification(
        cast.bakery.store, VerificationRequest(business_legal_name="Bakery", business_country="DE")
    )
    assert told(browser) == ["Business verification is under review"]
    assert "Payouts to Alice start once your business is verified." in text(
        browser.get("attention")
    )
    reject_verification(asked, "The register says otherwise.")
    assert sorted(told(browser)) == ["Business isn’t verified", "Verification was rejected"]
    assert "The register says otherwise." in text(browser.get("attention"))
    again = submit_verification(
        cast.bakery.store, VerificationRequest(business_legal_name="Bakery", business_country="DE")
    )
    assert told(browser) == ["Business verification is under review"]
    approve_verification(again)
    assert told(browser) == []
    verify_bank(account)


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
    update_paid_amounts()
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.amount) == ("Invoice was written off and paid", "€10.00")
    assert browser.get(line.notice.url).status_code == 200
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    answer = cast.bakery.test.post(f"/payments/{made['payment_intent_id']}/refunds", {}, key="back")
    assert answer.status_code == 201, answer.content
    make.advance(cast.bakery.test, 61)
    make.advance(cast.bakery.test, 61)
    update_paid_amounts()
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


def test_an_endpoint_that_one_order_is_about_to_turn_off_names_the_order(cast: Cast) -> None:
    made = endpoint_in_error(cast)
    Endpoint.objects.filter(pk=made.pk).update(status="active")
    for order_id in ("1041", "1042", "1043"):
        make.paid(cast.bakery.test, order_id=order_id)
    rows = Delivery.objects.filter(endpoint=made)
    rows.filter(event__object__order_id="1043").update(attempts=3)
    rows.filter(event__object__order_id="1042").update(attempts=7)
    rows.filter(event__object__order_id="1041").update(attempts=9, status="delivered")
    detail = only(Browser(cast.alice)).notice.detail
    event = rows.filter(event__object__order_id="1042").values_list("event__type", flat=True)[0]
    assert detail == (
        f"{made.url} · {event} of 1042 failed 7 of 10 times. After the last one the endpoint is"
        " turned off."
    )
    Event.objects.filter(object__order_id="1042").update(object={})  # as events of no order
    assert f"· {event} failed 7 of 10 times." in only(Browser(cast.alice)).notice.detail
    rows.update(status="delivered")
    assert told(Browser(cast.alice)) == []
