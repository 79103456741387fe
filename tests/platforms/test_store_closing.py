"""An owner closes a store: when nothing is left, with a code and its name; from then on it is only
read."""

from typing import Any

import pytest
from django.core import mail as django_mail

from apps.access.factors import second_factor
from apps.core import clock, mail
from apps.payments.models import Payment
from apps.stores.models import AuditEntry, Member, Role, Store
from tests import make
from tests.billing import records as billing
from tests.cast import Cast, join
from tests.dashboard.browse import Browser, text

PAGE = "settings/store/close"


def owner(cast: Cast) -> Browser:
    return Browser(cast.alice).prove()


def close(cast: Cast, browser: Browser | None = None) -> Any:
    return (browser or owner(cast)).post(PAGE, name="Alice's Bakery")


def store(cast: Cast) -> Store:
    return Store.objects.get(pk=cast.bakery.store.pk)


def test_a_store_is_closed_and_only_read_from_then_on(cast: Cast) -> None:
    shop = cast.bakery
    browser = owner(cast)
    bob = Browser(cast.bob)
    live = shop.live
    publishable = shop.secrets["live_publishable"]
    made = make.paid(shop.test, title="Rye bread")
    assert close(cast, browser).headers["Location"] == "/dashboard/"
    assert store(cast).deleted_at is not None
    assert live.get("/payments").status_code == 401
    assert shop.test.post("/payments", {}).status_code == 401 and publishable
    home = text(browser.get())
    assert "This store was closed on" in home
    for person in (browser, bob):
        assert "Rye bread" in text(person.get("payments"))
        assert "Rye bread" in text(person.get(f"payments/{made['id']}"))
        assert person.get("payments.csv").status_code == 200
        assert person.get("statement").status_code == 200
        for path in ("payments/new", "team/invite", "api-keys/new", "settings/store", "settings"):
            assert person.post(path, name="x").status_code == 403, path
    assert store(cast).name == "Alice's Bakery"
    assert Member.objects.get(store=shop.store, user=cast.alice).role == Role.OWNER
    assert AuditEntry.objects.get(action="store.closed").store_id == shop.store.pk
    mail.send_due()
    assert any("The store was closed" in item.subject for item in django_mail.outbox)


def test_the_session_at_the_api_reads_and_writes_nothing_more(cast: Cast) -> None:
    browser = owner(cast)
    close(cast, browser)
    asked = {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    answer = browser.client.post("/api/v2/payments", asked, content_type="application/json")
    assert answer.status_code in (401, 403) and not Payment.objects.exists()


def test_its_name_is_typed_exactly(cast: Cast) -> None:
    refused = owner(cast).post(PAGE, name="alice's bakery")
    assert refused.status_code == 422 and store(cast).deleted_at is None


def test_who_has_no_second_factor_does_not_close_a_store(cast: Cast) -> None:
    assert second_factor.confirmed(cast.alice) is None
    refused = close(cast, Browser(cast.alice))
    assert refused.status_code == 403 and store(cast).deleted_at is None


@pytest.mark.parametrize("role", [Role.ADMIN, Role.DEVELOPER, Role.ACCOUNTANT])
def test_only_owners_close_it(cast: Cast, role: str) -> None:
    Member.objects.filter(user=cast.alice).update(role=role)
    assert close(cast).status_code == 403 and store(cast).deleted_at is None


def test_live_money_and_what_is_under_way_stand_against_it(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "ETH", 10**15)
    make.payment(cast.bakery.live)
    browser = owner(cast)
    shown = text(browser.get(PAGE))
    assert "Coins in the balance" in shown and "Payments that can still be paid" in shown
    refused = close(cast, browser)
    assert refused.status_code == 409 and "can’t be closed yet" in text(refused)
    assert "You can’t close this store yet" in text(refused)
    links = {
        item.title: (item.mode, item.switches_to, item.url) for item in refused.context["obstacles"]
    }
    assert links["Coins in the balance"] == ("live", "live", "/dashboard/balances")
    assert store(cast).deleted_at is None


def test_an_open_account_stands_against_it_and_is_named(cast: Cast) -> None:
    Store.objects.create(name="Stall", platform=cast.bakery.store, created_at=clock.real_now())
    browser = owner(cast)
    shown = text(browser.get(PAGE))
    assert "Sub-merchants not closed" in shown and "Refunds in progress" not in shown
    assert close(cast, browser).status_code == 409


def test_a_subscription_stands_against_it_and_test_coins_do_not(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**15)
    made = billing.subscribe(cast.bakery.test)
    refused = close(cast)
    assert refused.status_code == 409
    (obstacle,) = refused.context["obstacles"]
    assert (obstacle.mode, obstacle.count, obstacle.switches_to) == ("test", 1, "")
    billing.change(cast.bakery.test, made["id"], "cancel")
    assert close(cast).status_code == 303


def test_who_has_another_store_begins_in_that(cast: Cast) -> None:
    other = Store.objects.create(name="Second", created_at=clock.real_now())
    join(other, cast.alice, Role.OWNER)
    close(cast)
    assert "This store was closed" not in text(Browser(cast.alice).get())
    browser = Browser(cast.alice)
    browser.post("store", store_id=str(cast.bakery.store.pk))
    assert "This store was closed" in text(browser.get())
