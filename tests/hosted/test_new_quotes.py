"""A customer who comes too late gets a new quote for the same order: once, and only while nothing
has come for the old one."""

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.access.access import Access
from apps.assets.models import AcceptedAsset, Rate
from apps.billing.documents.invoices import hosted_url
from apps.billing.selectors import by_token
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.payments.models import Payment, Renewal
from apps.payments.services.cancel import cancel_for_merchant
from apps.payments.services.renew import OFFERED_FOR, is_renewable, renew_payment
from apps.stores.services import change_store
from apps.webhooks.models import Event
from tests import make
from tests.billing import records
from tests.billing.test_at_once import together
from tests.cast import Cast, Shop, assemble
from tests.dashboard.browse import Browser, text
from tests.links.makers import made_link, reference_of, send
from tests.links.sales import sold
from tests.payouts.conftest import _django_db_helper, committed
from tests.stage import standing

__all__ = ["_django_db_helper", "committed"]

pytestmark = pytest.mark.django_db
HOUR = 3601
ORDER: dict[str, Any] = {
    "amount": "24.90",
    "order_id": "1042",
    "title": "Coffee",
    "description": "Two bags",
    "metadata": {"cart": "c-7"},
    "line_items": [{"description": "Guji", "quantity": 2, "unit_amount_cents": 1245}],
    "success_url": "https://shop.example/thanks",
    "failed_url": "https://shop.example/cart",
    "expires_in": 1800,
    "customer_pays_fee": True,
}
SAME = (
    "settlement_amount_cents",
    "settlement_currency",
    "order_id",
    "title",
    "description",
    "metadata",
    "line_items",
)
ALSO = ("success_url", "failed_url", "customer_pays_fee", "store_id", "mode", "image_url")


def press(reference: str, query: str = "", client: Client | None = None) -> Any:
    return (client or Client(enforce_csrf_checks=True)).post(f"/pay/{reference}/quote{query}")


def page(reference: str) -> str:
    return Client().get(f"/pay/{reference}").content.decode()


def expired(shop: Shop, **fields: Any) -> Payment:
    made = make.payment(shop.test, **{**ORDER, **fields})
    make.advance(shop.test, HOUR)
    shop.store.refresh_from_db()
    row = Payment.objects.select_related("store").get(pk=made["id"])
    assert row.status == "expired"
    return row


@dataclass
class World:
    """Alice's store, and a payment of it that nobody paid in time."""

    cast: Cast
    payment_id: uuid.UUID


def too_late() -> World:
    cast = assemble()
    return World(cast, expired(cast.bakery).pk)


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    yield from standing(django_db_blocker, too_late)


@pytest.fixture
def cast(made: World, db: None) -> Cast:
    return made.cast.again()


@pytest.fixture
def old(made: World, db: None) -> Payment:
    return Payment.objects.select_related("store").get(pk=made.payment_id)


def newest(shop: Shop) -> Payment:
    found = Payment.objects.filter(store=shop.store).order_by("-created_at", "-expires_at").first()
    assert found is not None
    return found


def test_one_press_makes_a_payment_of_the_same_order_and_leads_to_it(
    bakery: Shop, old: Payment
) -> None:
    assert "Get a new quote" in page(old.reference)
    answer = press(old.reference)
    new = Payment.objects.get(pk=Renewal.objects.get(earlier=old).later_id)
    assert answer.status_code == 303 and answer["Location"] == f"/pay/{new.reference}"
    assert {name: getattr(new, name) for name in (*SAME, *ALSO)} == {
        name: getattr(old, name) for name in (*SAME, *ALSO)
    }
    assert new.status == "pending" and new.expires_at - new.created_at == timedelta(seconds=1800)
    assert "Pay with crypto" in page(new.reference)
    told = Event.objects.filter(store_id=bakery.store.pk, type="payment_intent.created")
    assert told.filter(object__payment_intent_id=str(new.pk), object__order_id="1042").count() == 1


def test_programs_find_each_payment_of_an_order_from_any_other(bakery: Shop, old: Payment) -> None:
    assert renewals(bakery, old) == (None, None)
    press(old.reference)
    second = Payment.objects.select_related("store").get(pk=newest(bakery).pk)
    make.advance(bakery.test, HOUR)
    press(second.reference)
    third = newest(bakery)
    assert renewals(bakery, old) == (None, str(second.pk))
    assert renewals(bakery, second) == (str(old.pk), str(third.pk))
    assert renewals(bakery, third) == (str(second.pk), None)


def renewals(shop: Shop, payment: Payment) -> tuple[str | None, str | None]:
    found = make.detail(shop.test, str(payment.pk))
    return found["renewal_of"], found["renewed_as"]


def test_the_new_quote_has_an_address_of_its_own(bakery: Shop, old: Payment) -> None:
    press(old.reference)
    before = old.addresses.get(asset_id="SETH")
    after = newest(bakery).addresses.get(asset_id="SETH")
    assert after.address_id != before.address_id and after.created_at > before.created_at


def test_whoever_presses_again_is_led_to_the_same_payment(old: Payment) -> None:
    first = press(old.reference)
    second = press(old.reference)
    assert first["Location"] == second["Location"] and Renewal.objects.count() == 1
    assert "View new quote" in page(old.reference) and first["Location"] in page(old.reference)


def test_many_presses_at_once_make_one_payment(committed: Cast) -> None:
    old = expired(committed.bakery)
    before = Payment.objects.count()
    found = together(lambda _: renew_payment(old).pk, 12)
    assert len(set(found)) == 1 and Payment.objects.count() == before + 1


def test_the_database_keeps_a_second_one_out(bakery: Shop, old: Payment) -> None:
    other = Payment.objects.get(pk=make.payment(bakery.test)["id"])
    press(old.reference)
    with pytest.raises(IntegrityError), transaction.atomic():
        Renewal.objects.create(earlier=old, later=other, created_at=other.created_at)
    with pytest.raises(IntegrityError), transaction.atomic():
        Renewal.objects.create(earlier=other, later=other, created_at=other.created_at)


def test_a_new_quote_that_expires_can_be_renewed_itself(bakery: Shop, old: Payment) -> None:
    press(old.reference)
    second = newest(bakery)
    make.advance(bakery.test, HOUR)
    assert (
        press(second.reference).status_code == 303
        and Renewal.objects.filter(earlier=second).exists()
    )


def refuses(payment: Payment) -> bool:
    shown = page(payment.reference)
    answer = press(payment.reference)
    assert answer.status_code == 422 and "get a new quote" in answer.content.decode()
    return "Get a new quote" not in shown and not Renewal.objects.exists()


def test_nothing_is_renewed_once_something_has_arrived(old: Payment) -> None:
    make.late_deposit(str(old.pk))
    assert refuses(old)


def test_coins_that_nobody_expected_stop_it_too(old: Payment) -> None:
    entry = old.addresses.get(asset_id="SETH")
    UnmatchedTransfer.objects.create(
        chain_id="sepolia",
        address_id=entry.address_id,
        tx_hash="0x" + "ab" * 32,
        log_index=0,
        from_address="0x" + "cd" * 20,
        amount_atomic=1,
        block_number=1,
        reason="another coin",
        detected_at=old.expires_at,
    )
    assert refuses(old)


def test_a_deposit_that_failed_is_nothing(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    make.simulated(bakery.test, made["id"], "failed")
    make.advance(bakery.test, HOUR)
    assert Deposit.objects.filter(status="failed").exists()
    assert press(made["reference"]).status_code == 303


def test_a_payment_that_can_still_be_paid_or_is_paid_has_none(bakery: Shop) -> None:
    for made in (make.payment(bakery.test), make.paid(bakery.test)):
        assert "Get a new quote" not in page(made["reference"])
        assert (
            press(made["reference"])["Location"] == f"/pay/{made['reference']}"
            and not Renewal.objects.exists()
        )


def test_what_the_merchant_canceled_stays_canceled(bakery: Shop) -> None:
    made = Payment.objects.select_related("store").get(pk=make.payment(bakery.test, **ORDER)["id"])
    cancel_for_merchant(made)
    assert refuses(made)
    make.advance(bakery.test, HOUR)
    assert refuses(made)


def test_a_store_may_switch_it_off(bakery: Shop, old: Payment) -> None:
    change_store(bakery.store, offers_new_quotes=False)
    assert refuses(old)


def test_an_order_of_long_ago_is_the_merchants_to_price(bakery: Shop, old: Payment) -> None:
    make.advance(bakery.test, int(OFFERED_FOR.total_seconds()))
    assert refuses(old)


def test_what_an_agent_asked_for_is_the_agents(old: Payment) -> None:
    Payment.objects.filter(pk=old.pk).update(agent_credential_id=uuid.uuid4())
    assert refuses(old)


def test_a_closed_store_is_not_paid(old: Payment) -> None:
    old.store.deleted_at = old.expires_at
    assert not is_renewable(old)


def test_without_a_price_the_customer_tries_later(old: Payment) -> None:
    Rate.objects.all().delete()
    answer = press(old.reference)
    assert answer.status_code == 503 and "There is no price right now" in answer.content.decode()
    assert not Renewal.objects.exists()


def test_a_store_that_accepts_no_coin_any_more_is_gone_back_to(bakery: Shop, old: Payment) -> None:
    AcceptedAsset.objects.filter(store=bakery.store).delete()
    answer = press(old.reference)
    assert (
        answer.status_code == 422
        and "Go back to the store to start again." in answer.content.decode()
    )
    assert not Renewal.objects.exists()


def test_a_payment_of_a_link_leads_back_to_the_link(bakery: Shop) -> None:
    link = made_link(bakery)
    reference = reference_of(send(link))
    make.advance(bakery.test, HOUR)
    shown = page(reference)
    assert (
        f'href="/pay/{link.token}"' in shown
        and "Pay again" in shown
        and "Get a new quote" not in shown
    )
    assert press(reference).status_code == 422


def test_a_payment_of_an_invoice_leads_back_to_the_invoice(bakery: Shop) -> None:
    bill = records.opened(bakery.test)
    payment_id = records.start_payment(bill["public_token"]).json()["payment"]["payment_intent_id"]
    make.advance(bakery.test, HOUR)
    payment = Payment.objects.get(pk=payment_id)
    invoice = by_token(bill["public_token"])
    assert invoice is not None
    assert f'href="{hosted_url(invoice)}"' in page(payment.reference)
    assert press(payment.reference).status_code == 422


def test_a_sale_at_the_till_is_made_anew_there(bakery: Shop) -> None:
    access = Access.for_session(bakery.owner, bakery.store, "test")
    payment = sold(access).payment
    assert payment is not None
    make.advance(bakery.test, HOUR)
    assert refuses(payment)


def test_the_frame_stays_the_frame(old: Payment) -> None:
    query = "?embed=1&origin=https%3A%2F%2Fshop.example"
    shown = Client().get(f"/pay/{old.reference}{query}").content.decode()
    assert (
        f'action="/pay/{old.reference}/quote?embed=1&amp;origin=https%3A%2F%2Fshop.example"'
        in shown
    )
    assert press(old.reference, query)["Location"].endswith(query)


def test_presses_are_limited_per_payment_and_address(bakery: Shop) -> None:
    reference = make.payment(bakery.test)["reference"]
    answers = [press(reference).status_code for _ in range(8)]
    assert answers[0] == 303 and answers[-1] == 429


def test_only_a_post_makes_one(old: Payment) -> None:
    assert Client().get(f"/pay/{old.reference}/quote").status_code == 405
    assert Client().post("/pay/ABCDEFGHIJKLMNOP/quote").status_code == 404


def test_the_dashboard_links_both_payments(cast: Cast, old: Payment) -> None:
    press(old.reference)
    new = newest(cast.bakery)
    browser = Browser(cast.alice)
    shown = text(browser.get(f"payments/{old.pk}"))
    assert "Customer requested a new quote" in shown and f"/dashboard/payments/{new.pk}" in shown
    shown = text(browser.get(f"payments/{new.pk}"))
    assert "New quote for an expired payment" in shown and f"/dashboard/payments/{old.pk}" in shown


def test_the_setting_is_a_switch_of_the_checkout(cast: Cast) -> None:
    browser = Browser(cast.alice)
    shown = browser.get("settings").content.decode()
    assert re.search(r'name="offers_new_quotes"\s+checked', shown)
    browser.post("settings", settlement_currency="EUR", support_email="", accept_overpayments="on")
    cast.bakery.store.refresh_from_db()
    assert cast.bakery.store.offers_new_quotes is False


def test_an_expired_page_asks_no_more_for_more_items(bakery: Shop) -> None:
    counts = []
    for number in (1, 20):
        row = expired(bakery, line_items=[ORDER["line_items"][0]] * number)
        with CaptureQueriesContext(connection) as queries:
            page(row.reference)
        counts.append(len(queries))
    assert counts[0] == counts[1]
