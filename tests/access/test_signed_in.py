"""A session and its person, as each page looks them up."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.http import SimpleCookie
from django.utils import timezone

from apps.stores.models import User
from tests.cast import Cast
from tests.dashboard.browse import Browser

HOME = "/dashboard/"


@pytest.fixture
def alice(cast: Cast) -> Browser:
    return Browser(cast.alice)


def status(browser: Browser) -> int:
    return int(browser.client.get(HOME).status_code)


def test_a_session_opens_pages_as_long_as_it_and_its_person_last(alice: Browser) -> None:
    assert status(alice) == 200
    assert alice.user is not None
    User.objects.filter(pk=alice.user.pk).update(is_active=False)
    assert status(alice) == 302
    User.objects.filter(pk=alice.user.pk).update(is_active=True)
    assert status(alice) == 200
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert status(alice) == 302


def test_the_person_has_what_the_row_has(cast: Cast, alice: Browser) -> None:
    User.objects.filter(pk=cast.alice.pk).update(staff_roles=["finance"], is_staff=True)
    cast.alice.refresh_from_db()
    answer = alice.client.get(HOME)
    person = answer.wsgi_request.user
    columns = [field.attname for field in User._meta.concrete_fields]
    assert {name: getattr(person, name) for name in columns} == {
        name: getattr(cast.alice, name) for name in columns
    }


@pytest.mark.parametrize("key", ["", "short", "x" * 5_000, "long-enough\\000", "'; --aaaaaaaa"])
def test_a_cookie_that_is_no_session_is_signed_out(cast: Cast, key: str) -> None:
    visitor = Browser()
    visitor.client.cookies = SimpleCookie(f'session="{key}"')
    assert status(visitor) == 302
