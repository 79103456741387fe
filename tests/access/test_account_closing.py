"""A person closes their account: with the password, not as the only owner of a store, and nothing
personal stays."""

from typing import Any

import pytest
from django.core import mail as django_mail

from apps.access.factors import second_factor
from apps.access.models import SecondFactor, SignIn
from apps.access.person.account_closing import close_account
from apps.core import clock, mail
from apps.stores.models import AuditEntry, Member, NotificationChoice, Role, Store, User
from apps.stores.notices import notifications
from tests.cast import PASSWORD, Cast
from tests.dashboard.browse import Browser, text

PAGE = "security/close"


def close(browser: Browser, password: str = PASSWORD) -> Any:
    return browser.post(PAGE, password=password)


def test_nothing_personal_stays_and_nothing_opens_any_more(cast: Cast) -> None:
    email = cast.bob.email
    browser = Browser(cast.bob).prove()
    other = Browser(cast.bob)
    other.get()
    notifications.choose(cast.bob, cast.bakery.store, {"payout_problem": "off"})
    assert "Your account is closed" in text(close(browser))
    found = User.objects.get(pk=cast.bob.pk)
    assert (found.name, found.is_active, found.has_usable_password()) == ("", False, False)
    assert found.email == f"closed-{found.pk.hex}@account.invalid"
    for rows in (SecondFactor, SignIn, NotificationChoice, Member):
        assert not rows.objects.filter(user=found).exists(), rows
    for item in (browser, other):
        assert item.get("security").status_code == 302
    assert Browser().post("sign-in", email=email, password=PASSWORD).status_code == 401
    entry = AuditEntry.objects.get(action="person.closed")
    assert (entry.actor_id, entry.actor_name, entry.target_name) == (str(found.pk), "", "")
    mail.send_due()
    assert [item.to for item in django_mail.outbox if "closed" in item.subject] == [[email]]


def test_the_address_can_be_used_again(cast: Cast) -> None:
    email = cast.bob.email
    close_account(cast.bob, PASSWORD, "127.0.0.1")
    assert User.objects.with_email(email) is None


def test_the_only_owner_of_a_store_stays(cast: Cast) -> None:
    browser = Browser(cast.alice).prove()
    shown = text(browser.get(PAGE))
    assert "Alice&#x27;s Bakery" in shown and "Close it or transfer its ownership first" in shown
    refused = close(browser)
    assert refused.status_code == 409 and User.objects.get(pk=cast.alice.pk).is_active
    Store.objects.filter(pk=cast.bakery.store.pk).update(deleted_at=clock.real_now())
    assert "Your account is closed" in text(close(browser))


def test_one_of_two_owners_goes(cast: Cast) -> None:
    Member.objects.filter(user=cast.bob).update(role=Role.OWNER)
    close_account(cast.alice, PASSWORD, "127.0.0.1")
    assert list(Member.objects.filter(store=cast.bakery.store).values_list("user", flat=True)) == [
        cast.bob.pk
    ]


@pytest.mark.parametrize("password", ["", "not it at all"])
def test_it_takes_the_password(cast: Cast, password: str) -> None:
    refused = close(Browser(cast.bob).prove(), password)
    assert refused.status_code == 422 and User.objects.get(pk=cast.bob.pk).is_active


def test_it_takes_a_fresh_code_of_who_has_an_app(cast: Cast) -> None:
    second_factor.switch_on(cast.bob, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    assert "/dashboard/confirm" in close(Browser(cast.bob)).headers["Location"]
    assert User.objects.get(pk=cast.bob.pk).is_active


def test_staff_are_closed_by_the_operator(cast: Cast) -> None:
    User.objects.filter(pk=cast.bob.pk).update(is_staff=True)
    cast.bob.refresh_from_db()
    assert close(Browser(cast.bob).prove()).status_code == 403
    assert User.objects.get(pk=cast.bob.pk).is_active
