"""The list of a person's sessions, and that signing one out from elsewhere ends it immediately."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session

from apps.access.models import SignIn
from apps.access.person import sessions
from apps.core import clock
from apps.dashboard.account.sessions import device_of
from tests.cast import Cast
from tests.dashboard.browse import Browser, text

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0 Safari/537.36"
)


def signed_in(user: object, agent: str = FIREFOX, address: str = "203.0.113.7") -> Browser:
    browser = Browser(user)  # type: ignore[arg-type]
    browser.client.defaults |= {"HTTP_USER_AGENT": agent, "REMOTE_ADDR": address}
    assert browser.get("team").status_code == 200
    return browser


def row_of(browser: Browser) -> SignIn:
    return SignIn.objects.get(pk=browser.client.session[sessions.SIGN_IN_KEY])


def test_each_browser_stands_in_the_list_with_its_address_and_the_current_is_marked(
    cast: Cast,
) -> None:
    here = signed_in(cast.alice)
    signed_in(cast.alice, CHROME, "198.51.100.9")
    signed_in(cast.bob, CHROME, "192.0.2.1")
    shown = text(here.get("security/sessions"))
    assert 'Firefox on Linux</strong> <span class="badge good">This session' in shown
    assert "Chrome on Windows" in shown and "198.51.100.9" in shown and "192.0.2.1" not in shown
    assert "signed in on 2 browsers" in text(here.get("security"))


def test_one_session_is_signed_out_from_elsewhere_at_once(cast: Cast) -> None:
    here, there, third = (signed_in(cast.alice) for _ in range(3))
    assert here.post(f"security/sessions/{row_of(there).pk}/end").status_code == 303
    assert there.get().status_code == 302
    assert there.client.get("/api/v2/payments").status_code == 401
    assert (here.get().status_code, third.get().status_code) == (200, 200)


def test_all_others_are_signed_out_and_this_one_stays(cast: Cast) -> None:
    here = signed_in(cast.alice)
    there = signed_in(cast.alice)
    assert here.post("security/sessions/end-others").status_code == 303
    assert (here.get().status_code, there.get().status_code) == (200, 302)
    assert [row.pk for row in sessions.open_of(row_of(here).user, clock.real_now())] == [
        row_of(here).pk
    ]


def test_nobody_signs_out_somebody_else_or_the_session_they_are_in(cast: Cast) -> None:
    here = signed_in(cast.alice)
    charlie = signed_in(cast.charlie)
    assert charlie.post(f"security/sessions/{row_of(here).pk}/end").status_code == 404
    here.post(f"security/sessions/{row_of(here).pk}/end")
    assert "Sign out instead." in text(here.get("security/sessions"))


def test_a_session_leaves_the_list_when_it_is_signed_out_idle_or_old(cast: Cast) -> None:
    here = signed_in(cast.alice)
    there = signed_in(cast.alice)
    there.post("sign-out")
    assert sessions.open_of(cast.alice, clock.real_now()).count() == 1
    with time_machine.travel(clock.real_now() + timedelta(minutes=31), tick=True):
        assert sessions.open_of(cast.alice, clock.real_now()).count() == 0
    with time_machine.travel(clock.real_now() + timedelta(minutes=20), tick=True):
        here.get()
        assert row_of(here).seen_at > clock.real_now() - timedelta(minutes=1)


def test_what_ended_long_ago_is_forgotten(cast: Cast) -> None:
    signed_in(cast.alice)
    sessions.tidy(clock.real_now())
    assert SignIn.objects.count() == 1 and Session.objects.count() == 1
    sessions.tidy(clock.real_now() + timedelta(days=31))
    assert SignIn.objects.count() == 0 and Session.objects.count() == 0


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        (FIREFOX, "Firefox on Linux"),
        (CHROME, "Chrome on Windows"),
        (
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile/15E148"
                " Safari/604.1"
            ),
            "Safari on iPhone",
        ),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("curl/8.5.0", "curl"),
        ("", "Unknown browser"),
        ("<script>" * 100, "<script><script><script><script><script>"),
    ],
)
def test_browsers_are_named_as_people_know_them(agent: str, shown: str) -> None:
    assert device_of(agent) == shown
