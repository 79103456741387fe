"""An account is closed while a payment is made for it: one of the two waits for the other, and then
says no. Real threads."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from apps.access.scopes import ALL
from apps.access.services import create_api_key
from apps.billing.invoices.payment_intents import InvoiceNotPayable, start_payment
from apps.payments.models import Payment
from apps.stores.models import Role, Store
from tests.billing import records as billing
from tests.cast import Api, Cast, join
from tests.dashboard.browse import Browser, text
from tests.platforms.conftest import platform_of
from tests.platforms.makers import Platform, Sub, refusal
from tests.stack import wait_for

WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


@pytest.fixture
def platform(committed: Cast) -> Platform:
    return platform_of(committed.bakery)


@contextmanager
def elsewhere(work: Callable[[], Any]) -> Iterator[list[Any]]:
    """The work in a thread and a connection of its own, once it has begun to wait for us; its
    answer when the block is over."""
    answers: list[Any] = []

    def run() -> None:
        try:
            answers.append(work())
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        yield answers
        thread.start()
        wait_for(_waiting, lambda number: number > 0)
        assert not answers
    thread.join(30)


def _waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return int(cursor.fetchone()[0])


def pay(merchant: Sub) -> Any:
    return merchant.test.post(
        "/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    )


def close(platform: Platform, merchant: Sub) -> Any:
    return platform.test.delete(f"/platform/accounts/{merchant.id}")


def test_a_payment_that_meets_the_closing_of_its_account_is_refused(platform: Platform) -> None:
    merchant = platform.sub()
    with elsewhere(lambda: pay(merchant)) as answers:
        assert close(platform, merchant).status_code == 204
    refusal(answers[0], 403, "account_not_found")
    assert not Payment.objects.filter(store_id=merchant.id).exists()


def test_a_closing_that_meets_a_payment_of_its_account_is_refused(platform: Platform) -> None:
    merchant = platform.sub()
    with elsewhere(lambda: close(platform, merchant)) as answers:
        assert pay(merchant).status_code == 201
    refusal(answers[0], 409, "account_has_active_funds")
    assert Store.objects.get(pk=merchant.id).deleted_at is None


def test_a_link_made_at_the_dashboard_says_that_the_account_is_closed(
    platform: Platform, committed: Cast
) -> None:
    merchant = platform.sub()
    join(merchant.store, committed.bob, Role.OWNER)
    browser = Browser(committed.bob)
    assert browser.post("store", store_id=str(merchant.id)).status_code == 303
    given = browser.get("payments/new").context["form"].values
    with elsewhere(
        lambda: browser.post("payments/new", **{**given, "amount": "10", "fee": ""})
    ) as answers:
        assert close(platform, merchant).status_code == 204
    assert answers[0].status_code == 403 and "This account is closed." in text(answers[0])


def test_an_invoice_whose_account_is_closed_cannot_be_paid(platform: Platform) -> None:
    merchant = platform.sub()
    made = billing.opened(Api(create_api_key(merchant.store, "test", scope_names=ALL)[1]))
    with elsewhere(lambda: Client().post(f"/invoice/{made['public_token']}/pay")) as answers:
        assert close(platform, merchant).status_code == 204
    assert answers[0].status_code == 422 and "This invoice is closed" in text(answers[0])
    with pytest.raises(InvoiceNotPayable):
        start_payment(made["public_token"])


def test_the_merchants_own_key_is_refused_like_the_revoked_one_that_it_is(
    platform: Platform,
) -> None:
    merchant = platform.sub()
    own = Sub(
        merchant.id,
        merchant.account,
        merchant.live,
        Api(create_api_key(merchant.store, "test", scope_names=ALL)[1]),
    )
    with elsewhere(lambda: pay(own)) as answers:
        assert close(platform, merchant).status_code == 204
    assert (answers[0].status_code, pay(own).content) == (401, answers[0].content)
