"""Signing in, the second factor, and what ends a session."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import mail as django_mail

from apps.access.factors import second_factor
from apps.access.models import SecondFactor
from apps.core import clock, mail
from apps.core.redis import buckets
from apps.dashboard.site.acts import ACTS
from apps.dashboard.urls import PAGES
from tests.cast import PASSWORD, Cast, shop_of
from tests.dashboard.browse import Browser, code_of, text


@pytest.fixture
def factor(cast: Cast) -> SecondFactor:
    """Alice's authenticator app."""
    return second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


@pytest.fixture
def no_redis(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing listens where the counters are looked for."""
    nowhere = "redis://127.0.0.1:1"
    monkeypatch.setattr(settings, "REDIS_URL", nowhere)
    buckets.client.cache_clear()
    buckets._bucket.cache_clear()
    yield
    monkeypatch.undo()
    buckets.client.cache_clear()
    buckets._bucket.cache_clear()


def test_a_person_signs_in_with_e_mail_address_and_password(cast: Cast) -> None:
    browser = Browser()
    assert (
        browser.post("sign-in", email=cast.alice.email, password=PASSWORD).headers["Location"]
        == "/dashboard/"
    )
    assert browser.get().status_code == 200


def test_the_address_is_compared_without_regard_to_case(cast: Cast) -> None:
    assert (
        Browser()
        .post("sign-in", email=f" {cast.alice.email.upper()} ", password=PASSWORD)
        .status_code
        == 302
    )


def test_an_unknown_person_and_a_wrong_password_get_the_same_answer(cast: Cast) -> None:
    answers = [
        Browser().post("sign-in", email=email, password="wrong")
        for email in ("nobody@example.com", cast.alice.email)
    ]
    assert [answer.status_code for answer in answers] == [401, 401]
    shown = [answer.content.decode().split("<h1>")[1].split("<form")[0] for answer in answers]
    assert shown[0] == shown[1]


def test_text_that_cannot_be_stored_is_a_wrong_password(cast: Cast) -> None:
    assert (
        Browser().post("sign-in", email="a\x00@example.com", password=PASSWORD).status_code == 401
    )


def test_a_person_who_is_not_active_is_an_unknown_one(cast: Cast) -> None:
    cast.alice.is_active = False
    cast.alice.save()
    assert Browser().post("sign-in", email=cast.alice.email, password=PASSWORD).status_code == 401


def test_after_five_quick_attempts_on_an_account_the_next_must_wait(cast: Cast) -> None:
    browser = Browser()
    answers = [browser.post("sign-in", email=cast.alice.email, password="wrong") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    assert int(answers[-1]["Retry-After"]) >= 1


def test_without_the_counter_nobody_signs_in(cast: Cast, no_redis: None) -> None:
    answer = Browser().post("sign-in", email=cast.alice.email, password=PASSWORD)
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) >= 1


def test_with_an_authenticator_app_the_password_alone_opens_nothing(
    cast: Cast, factor: SecondFactor
) -> None:
    browser = Browser()
    answer = browser.post("sign-in", email=cast.alice.email, password=PASSWORD)
    assert answer.headers["Location"].startswith("/dashboard/sign-in/code")
    assert browser.get().headers["Location"].startswith("/dashboard/sign-in")
    assert browser.code(code_of(factor)).status_code == 302
    assert browser.get().status_code == 200


def test_a_code_works_once(cast: Cast, factor: SecondFactor) -> None:
    first = Browser()
    second = Browser()
    for browser in (first, second):
        browser.post("sign-in", email=cast.alice.email, password=PASSWORD)
    code = code_of(factor)
    assert first.code(code).status_code == 302
    assert second.code(code).status_code == 422
    assert second.get().status_code == 302


def test_a_code_counts_in_the_wide_digits_of_a_japanese_keyboard(
    cast: Cast, factor: SecondFactor
) -> None:
    browser = Browser()
    browser.post("sign-in", email=cast.alice.email, password=PASSWORD)
    wide = "".join(chr(ord(digit) + ord("０") - ord("0")) for digit in code_of(factor))
    assert browser.code(f"{wide[:3]}\u3000{wide[3:]}").status_code == 302


def test_a_wrong_code_makes_the_next_one_wait(cast: Cast, factor: SecondFactor) -> None:
    browser = Browser()
    browser.post("sign-in", email=cast.alice.email, password=PASSWORD)
    assert browser.code("000000").status_code == 422
    assert browser.code(code_of(factor)).status_code == 422
    with time_machine.travel(clock.real_now() + timedelta(seconds=3), tick=True):
        assert browser.code(code_of(factor)).status_code == 302


def test_the_code_page_is_closed_to_who_gave_no_password(cast: Cast, factor: SecondFactor) -> None:
    assert Browser().code(code_of(factor)).headers["Location"] == "/dashboard/sign-in"


def test_the_password_step_is_forgotten_after_ten_minutes(cast: Cast, factor: SecondFactor) -> None:
    browser = Browser()
    browser.post("sign-in", email=cast.alice.email, password=PASSWORD)
    with time_machine.travel(clock.real_now() + timedelta(minutes=11), tick=True):
        assert browser.code(code_of(factor)).headers["Location"] == "/dashboard/sign-in"


def test_a_backup_code_signs_in_once(cast: Cast) -> None:
    factor = second_factor.pending(cast.alice)
    codes = second_factor.confirm(cast.alice, code_of(factor))
    assert len(set(codes)) == 10
    browser = Browser()
    again = Browser()
    for item in (browser, again):
        item.post("sign-in", email=cast.alice.email, password=PASSWORD)
    assert browser.code(codes[3].lower()).status_code == 302
    assert again.code(codes[3]).status_code == 422


def test_the_key_of_the_app_and_the_backup_codes_are_not_stored_in_clear(cast: Cast) -> None:
    factor = second_factor.pending(cast.alice)
    codes = second_factor.confirm(cast.alice, code_of(factor))
    row = SecondFactor.objects.filter(user=cast.alice).values().get()
    stored = " ".join(str(value) for value in row.values())
    assert factor.key not in stored
    assert not any(code in stored or code.replace("-", "") in stored for code in codes)


def test_the_session_id_is_a_new_one_after_signing_in(cast: Cast) -> None:
    browser = Browser()
    browser.client.session.save()
    browser.get("sign-in")
    before = browser.client.session.session_key
    browser.post("sign-in", email=cast.alice.email, password=PASSWORD)
    assert browser.client.session.session_key != before


def test_signing_out_ends_the_session_on_the_server(cast: Cast) -> None:
    browser = Browser(cast.alice)
    key = browser.client.session.session_key
    assert browser.post("sign-out").headers["Location"] == "/dashboard/sign-in"
    assert not Session.objects.filter(session_key=key).exists()
    assert browser.get().status_code == 302


def test_a_session_ends_after_thirty_idle_minutes(cast: Cast) -> None:
    browser = Browser(cast.alice)
    with time_machine.travel(clock.real_now() + timedelta(minutes=31), tick=True):
        assert browser.get().headers["Location"] == "/dashboard/sign-in?next=%2Fdashboard%2F"


def test_a_session_in_use_ends_after_twelve_hours(cast: Cast) -> None:
    browser = Browser(cast.alice)
    began = clock.real_now()
    for half_hours in range(1, 25):
        with time_machine.travel(began + timedelta(minutes=29 * half_hours), tick=True):
            assert browser.get("team.csv").status_code == 200
    with time_machine.travel(began + timedelta(hours=12, minutes=1), tick=True):
        assert browser.get("team.csv").status_code == 302


def test_after_signing_in_one_is_where_one_wanted_to_be_and_never_on_another_site(
    cast: Cast,
) -> None:
    browser = Browser()
    assert (
        browser.get("payments?status=completed")
        .headers["Location"]
        .endswith("next=%2Fdashboard%2Fpayments%3Fstatus%3Dcompleted")
    )
    for wanted, reached in (
        ("/dashboard/payments?status=completed", "/dashboard/payments?status=completed"),
        ("https://evil.example/dashboard/", "/dashboard/"),
        ("//evil.example", "/dashboard/"),
        ("/dashboard/\\evil.example", "/dashboard/\\evil.example"),
        ("/pay/ABC", "/dashboard/"),
    ):
        answer = Browser().post("sign-in", email=cast.bob.email, password=PASSWORD, next=wanted)
        assert answer.headers["Location"].replace("%5C", "\\") == reached
        buckets.client().flushdb()


def test_forms_without_the_token_of_the_site_are_refused(cast: Cast) -> None:
    browser = Browser(cast.alice)
    browser.client.handler.enforce_csrf_checks = True
    assert browser.post("mode", mode="live").status_code == 403


def test_a_new_password_ends_every_other_session(cast: Cast) -> None:
    here = Browser(cast.alice)
    elsewhere = Browser(cast.alice)
    answer = here.post("security/password", old=PASSWORD, new="a longer sentence than before")
    assert answer.headers["Location"] == "/dashboard/security"
    assert here.get().status_code == 200
    assert elsewhere.get().status_code == 302
    assert Browser().post("sign-in", email=cast.alice.email, password=PASSWORD).status_code == 401


def test_a_new_password_needs_the_current_one_and_must_be_a_good_one(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert "Your current password is incorrect." in text(
        browser.post("security/password", old="wrong", new="a longer sentence")
    )
    assert "too short" in text(browser.post("security/password", old=PASSWORD, new="short"))


def test_setting_up_the_app_ends_every_other_session_and_shows_backup_codes_once(
    cast: Cast,
) -> None:
    here = Browser(cast.alice)
    elsewhere = Browser(cast.alice)
    assert "otpauth" not in text(here.get("security"))
    assert here.get("security/authenticator").status_code == 200
    assert second_factor.confirmed(cast.alice) is None
    answer = here.post(
        "security/authenticator", code=code_of(second_factor.pending(cast.alice)), password=PASSWORD
    )
    assert answer.content.decode().count("<li>") >= 10
    assert here.get().status_code == 200
    assert elsewhere.get().status_code == 302
    assert here.get("security/authenticator").headers["Location"] == "/dashboard/security"


def test_a_reload_of_the_set_up_page_keeps_the_same_key(cast: Cast) -> None:
    browser = Browser(cast.alice)
    browser.get("security/authenticator")
    key = second_factor.pending(cast.alice).key
    browser.get("security/authenticator")
    assert second_factor.pending(cast.alice).key == key


def test_a_wrong_first_code_does_not_turn_the_app_on(cast: Cast) -> None:
    browser = Browser(cast.alice)
    browser.get("security/authenticator")
    assert (
        browser.post("security/authenticator", code="000000", password=PASSWORD).status_code == 422
    )
    assert second_factor.confirmed(cast.alice) is None


def test_who_finds_somebody_signed_in_sets_up_no_app_of_their_own(cast: Cast) -> None:
    thief = Browser(cast.alice)
    thief.get("security/authenticator")
    code = code_of(second_factor.pending(cast.alice))
    for guess in ("", "wrong"):
        refused = thief.post("security/authenticator", code=code, password=guess)
        assert refused.status_code == 422 and "Your current password is incorrect." in text(refused)
    assert second_factor.confirmed(cast.alice) is None
    thief.post("security/authenticator", code=code, password=PASSWORD)
    mail.send_due()
    assert "An authenticator app was set up" in django_mail.outbox[
        -1
    ].subject and django_mail.outbox[-1].to == [cast.alice.email]


def test_taking_the_app_off_takes_a_code_of_its_own(cast: Cast, factor: SecondFactor) -> None:
    browser = Browser(cast.alice)
    browser.post("sign-in", email=cast.alice.email, password=PASSWORD)
    browser.code(code_of(factor))
    path = "security/authenticator/remove"
    asked = browser.post(path)
    assert asked.context["asks_code"], "the code of the sign-in was for that"
    assert second_factor.confirmed(cast.alice) is not None
    assert browser.confirm(asked, path).headers["Location"] == "/dashboard/security"
    assert second_factor.confirmed(cast.alice) is None


def test_a_fresh_code_holds_for_five_minutes_in_its_own_session_only(
    cast: Cast, factor: SecondFactor
) -> None:
    browser = Browser()
    other = Browser()
    browser.post("sign-in", email=cast.alice.email, password=PASSWORD)
    browser.code(code_of(factor))
    began = clock.real_now()
    assert browser.get("webhooks/new").status_code == 200
    with time_machine.travel(began + timedelta(minutes=3), tick=True):
        other.post("sign-in", email=cast.alice.email, password=PASSWORD)
        other.code(code_of(factor))
    with time_machine.travel(began + timedelta(minutes=6), tick=True):
        assert browser.get("webhooks/new").headers["Location"].startswith("/dashboard/confirm")
        assert other.get("webhooks/new").status_code == 200


def test_the_page_that_asks_for_a_code_says_what_for_and_where(
    cast: Cast, factor: SecondFactor
) -> None:
    browser = Browser(cast.alice)
    asked = browser.get("webhooks/new")
    shown = text(browser.get(asked.headers["Location"]))
    assert (
        "Add a webhook endpoint" in shown
        and "Alice&#x27;s Bakery" in shown
        and "test mode" in shown
    )
    own = text(browser.get("confirm?next=/dashboard/security/password"))
    assert "Change your password" in own and "Bakery" not in own
    assert "Verify it’s you" in text(browser.get("confirm?next=//evil.example"))


def test_every_page_that_asks_for_a_code_has_a_name_for_its_act() -> None:
    assert {page.name for page in PAGES if page.stepup} <= set(ACTS)


def test_a_code_holds_for_the_store_in_which_it_was_given(cast: Cast, factor: SecondFactor) -> None:
    other = shop_of(cast.alice, "Second shop")
    browser = Browser(cast.alice)
    browser.post("confirm", code=code_of(factor))
    assert browser.get("webhooks/new").status_code == 200
    browser.post("store", store_id=other.store.pk)
    assert browser.get("webhooks/new").headers["Location"].startswith("/dashboard/confirm")
