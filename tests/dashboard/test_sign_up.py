"""Creating an account: a code proves the address, the store is there at once, and who may is the
operator's choice."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail

from apps.access.person import sign_up
from apps.assets.models import AcceptedAsset
from apps.assets.opening import open_store
from apps.assets.selectors import listed_assets
from apps.core import clock, mail
from apps.core.redis import buckets
from apps.stores.models import AuditEntry, Member, Role, Store, User
from apps.stores.requests import StoreRequest
from tests.cast import Cast, join, person
from tests.console.test_commands import run
from tests.dashboard.browse import Browser, text

NEW = "carol@example.com"
FORM = {
    "name": "Kiosk of Carol",
    "person_name": "Carol",
    "password": "a sentence to remember",
    "settlement_currency": "EUR",
    "country": "DE",
}


@pytest.fixture(autouse=True)
def _is_open(settings: Any) -> None:
    settings.SIGN_UP = sign_up.OPEN


def message(to: str = NEW) -> Any:
    mail.send_due()
    return [item for item in django_mail.outbox if item.to == [to]][-1]


def code(to: str = NEW) -> str:
    found = re.search(r"^\s+(\d{6})$", message(to).body, re.MULTILINE)
    assert found is not None
    return found.group(1)


def asked(email: str = NEW) -> Browser:
    browser = Browser()
    assert browser.post("sign-up", email=email).headers["Location"] == "/dashboard/sign-up/code"
    return browser


def proved() -> Browser:
    browser = asked()
    assert (
        browser.post("sign-up/code", code=code()).headers["Location"] == "/dashboard/sign-up/store"
    )
    return browser


def test_a_stranger_has_a_store_in_test_mode_after_three_screens(db: None) -> None:
    browser = proved()
    assert NEW in text(browser.get("sign-up/store"))
    assert browser.post("sign-up/store", **FORM).headers["Location"] == "/dashboard/"
    home = text(browser.get())
    assert "Kiosk of Carol" in home and "test mode" in home
    store = Store.objects.get(name="Kiosk of Carol")
    member = Member.objects.get(store=store)
    assert (member.user.email, member.role, member.user.name, store.country) == (
        NEW,
        Role.OWNER,
        "Carol",
        "DE",
    )
    assert store.kyc_confirmed_at is None and not store.is_platform
    accepted = {(row.mode, row.asset_id) for row in AcceptedAsset.objects.filter(store=store)}
    assert accepted == {
        (mode, asset.pk) for mode in ("live", "test") for asset in listed_assets(mode)
    }
    assert AuditEntry.objects.get(action="store.opened", store_id=store.pk).actor_id == str(
        member.user.pk
    )
    assert Browser().post("sign-in", email=NEW, password=FORM["password"]).status_code == 302


def test_the_code_is_of_this_browser_and_works_once(db: None) -> None:
    browser = asked()
    sent = code()
    assert Browser().post("sign-up/code", code=sent).headers["Location"] == "/dashboard/sign-up"
    assert Browser().get("sign-up/store").headers["Location"] == "/dashboard/sign-up"
    wide = "".join(chr(ord(digit) + ord("０") - ord("0")) for digit in sent[3:])
    assert browser.post("sign-up/code", code=f" {sent[:3]} {wide} ").status_code == 303
    assert browser.post("sign-up/code", code=sent).headers["Location"] == "/dashboard/sign-up"


def test_a_code_is_guessed_five_times_and_no_more(db: None) -> None:
    browser = asked()
    sent = code()
    wrong = f"{(int(sent) + 1) % 10**6:06d}"
    for _ in range(5):
        buckets.client().flushdb()
        refused = browser.post("sign-up/code", code=wrong)
        assert refused.status_code == 422 and "wrong or has expired" in text(refused)
        assert b'aria-describedby="code-error"' in refused.content
    buckets.client().flushdb()
    assert browser.post("sign-up/code", code=sent).status_code == 422


def test_guessing_is_counted_for_the_address_too(db: None) -> None:
    browser = asked()
    statuses = {browser.post("sign-up/code", code="000000").status_code for _ in range(12)}
    assert 429 in statuses


def test_a_code_expires_after_fifteen_minutes_and_its_proof_after_an_hour(db: None) -> None:
    late = asked()
    slow = proved()
    sent = code()
    with time_machine.travel(clock.real_now() + timedelta(minutes=16), tick=True):
        assert late.post("sign-up/code", code=sent).status_code == 422
    with time_machine.travel(clock.real_now() + timedelta(minutes=61), tick=True):
        assert slow.post("sign-up/store", **FORM).headers["Location"] == "/dashboard/sign-up"
    assert not User.objects.filter(email=NEW).exists()


def test_a_stranger_hears_the_same_of_an_address_that_has_an_account(cast: Cast) -> None:
    known = asked(cast.alice.email)
    unknown = asked()
    seen = [
        text(known.get("sign-up/code")).replace(cast.alice.email, ""),
        text(unknown.get("sign-up/code")).replace(NEW, ""),
    ]
    same, other = (re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]+"', "", item) for item in seen)
    assert same == other
    told = message(cast.alice.email)
    assert "already have" in told.subject and not re.search(r"\b\d{6}\b", told.body)
    assert [
        known.post("sign-up/code", code=f"{number:06d}").status_code for number in range(3)
    ] == [422] * 3


def test_two_browsers_with_one_address_make_one_account(db: None) -> None:
    first = proved()
    second = proved()
    buckets.client().flushdb()
    assert first.post("sign-up/store", **FORM).status_code == 302
    refused = second.post("sign-up/store", **FORM)
    assert refused.status_code == 422 and "already exists" in text(refused)
    assert (
        User.objects.filter(email=NEW).count()
        == Store.objects.filter(name=FORM["name"]).count()
        == 1
    )


def test_what_is_wrong_is_told_at_its_field_and_nothing_is_made(db: None) -> None:
    browser = proved()
    for field, value, said in (
        ("name", " ", "The store name is required."),
        ("name", "x" * 101, "The store name is too long"),
        ("person_name", "", "Your name is required."),
        ("password", "short", "too short"),
        ("password", "", "The password is required."),
        ("country", "Germany", "ISO 3166"),
        ("settlement_currency", "XXX", "The currency must be one of"),
    ):
        buckets.client().flushdb()
        refused = browser.post("sign-up/store", **{**FORM, field: value})
        assert refused.status_code == 422 and said in text(refused), (field, value)
        assert re.search(
            rf'id="{field}"[^>]*aria-describedby="[^"]*{field}-error"[^>]* autofocus'.encode(),
            refused.content,
        ), (field, value)
        assert str(FORM["password"]).encode() not in refused.content, (field, value)
    assert not User.objects.filter(email=NEW).exists()
    assert not Store.objects.filter(name__startswith="Kiosk").exists()


def test_an_address_that_is_none_is_told_at_its_field(db: None) -> None:
    for typed in ("", "nobody", "a@b", "x" * 260 + "@example.com", "cäröl@example.com"):
        refused = Browser().post("sign-up", email=typed)
        assert refused.status_code == 422 and b'id="email-error"' in refused.content, typed


def test_an_address_gets_ten_emails_a_day(db: None) -> None:
    for _ in range(10):
        buckets.client().flushdb()
        asked()
    buckets.client().flushdb()
    refused = Browser().post("sign-up", email=NEW)
    assert refused.status_code == 429 and "too many emails" in text(refused)


# --- who may --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [sign_up.INVITATION, sign_up.CLOSED])
def test_where_it_is_not_open_no_code_is_sent(db: None, settings: Any, policy: str) -> None:
    settings.SIGN_UP = policy
    sentence = "by invitation only" if policy == sign_up.INVITATION else "closed"
    assert f"Sign-up is {sentence}" in text(Browser().get("sign-up"))
    assert "Create an account" not in text(Browser().get("sign-in"))
    assert Browser().post("sign-up", email=NEW).status_code == 403
    mail.send_due()
    assert not django_mail.outbox


@pytest.mark.parametrize("policy", [sign_up.INVITATION, sign_up.CLOSED])
def test_what_was_proved_counts_for_nothing_once_it_is_not_open(
    db: None, settings: Any, policy: str
) -> None:
    begun = asked("dan@example.com")
    done = proved()
    sent = code("dan@example.com")
    settings.SIGN_UP = policy
    assert begun.get("sign-up/code").headers["Location"] == "/dashboard/sign-up"
    assert begun.post("sign-up/code", code=sent).headers["Location"] == "/dashboard/sign-up"
    assert done.get("sign-up/store").headers["Location"] == "/dashboard/sign-up"
    assert done.post("sign-up/store", **FORM).headers["Location"] == "/dashboard/sign-up"
    assert not User.objects.filter(email=NEW).exists()


def test_an_account_is_linked_to_where_anybody_may_make_one(db: None) -> None:
    assert "Create an account" in text(Browser().get("sign-in"))


def test_passwords_of_a_proved_address_are_counted(db: None) -> None:
    browser = proved()
    buckets.client().flushdb()
    wrong = {**FORM, "password": "password12"}
    answers = [browser.post("sign-up/store", **wrong) for _ in range(12)]
    assert [answer.status_code for answer in answers[:5]] == [422] * 5
    assert answers[-1].status_code == 429 and answers[-1].headers["Retry-After"]
    assert "Too many attempts" in text(answers[-1])


def test_passwords_of_an_invitation_are_counted(db: None, settings: Any) -> None:
    settings.SIGN_UP = sign_up.INVITATION
    sign_up.invite(NEW)
    found = re.search(r"/dashboard/sign-up/invited/\S+", message().body)
    assert found is not None
    statuses = [
        Browser().post(found.group(), **{**FORM, "password": "password12"}).status_code
        for _ in range(12)
    ]
    assert statuses[0] == 422 and statuses[-1] == 429
    assert not User.objects.filter(email=NEW).exists()


def test_whom_the_operator_invites_signs_up_by_the_link_once(
    db: None, settings: Any, capsys: Any
) -> None:
    settings.SIGN_UP = sign_up.INVITATION
    assert run("invite", NEW) == {"invited": NEW}
    found = re.search(r"/dashboard/sign-up/invited/\S+", message().body)
    assert found is not None
    path = found.group()
    browser = Browser()
    assert NEW in text(browser.get(path))
    assert browser.post(path, **FORM).headers["Location"] == "/dashboard/"
    assert Store.objects.get(name=FORM["name"]).members.get().user.email == NEW
    assert Browser().get(path).status_code == 404
    with pytest.raises(SystemExit):
        run("invite", NEW.upper())
    assert "has an account" in capsys.readouterr().err


def test_an_invitation_ends_after_a_week_and_when_the_operator_closes(
    db: None, settings: Any, capsys: Any
) -> None:
    settings.SIGN_UP = sign_up.INVITATION
    sign_up.invite(NEW)
    found = re.search(r"/dashboard/sign-up/invited/\S+", message().body)
    assert found is not None
    path = found.group()
    assert Browser().get(path).status_code == 200
    assert Browser().get(path[:-1] + ("a" if path[-1] != "a" else "b")).status_code == 404
    with time_machine.travel(clock.real_now() + timedelta(days=7, minutes=1), tick=True):
        assert Browser().get(path).status_code == 404
    settings.SIGN_UP = sign_up.CLOSED
    assert Browser().post(path, **FORM).status_code == 404
    with pytest.raises(SystemExit):
        run("invite", "dan@example.com")
    assert "closed" in capsys.readouterr().err


# --- one more store ---


def test_an_owner_opens_another_store_and_is_in_it(cast: Cast) -> None:
    browser = Browser(cast.alice)
    answer = browser.post("stores/new", name="Second", settlement_currency="USD")
    assert answer.headers["Location"] == "/dashboard/"
    assert "Second is open" in text(browser.get())
    assert Member.objects.get(store__name="Second").user == cast.alice
    refused = browser.post("stores/new", name="", settlement_currency="USD")
    assert refused.status_code == 422 and "The store name is required." in text(refused)


@pytest.mark.parametrize(
    ("policy", "owner", "member"),
    [("open", 303, 303), ("invitation", 303, 403), ("closed", 403, 403)],
)
def test_who_may_open_another_store_is_the_operators_choice(
    cast: Cast, settings: Any, policy: str, owner: int, member: int
) -> None:
    settings.SIGN_UP = policy
    bob = person("bob")
    join(cast.bakery.store, bob, Role.ADMIN)
    form = {"name": "Second", "settlement_currency": "EUR"}
    assert Browser(cast.alice).post("stores/new", **form).status_code == owner
    assert Browser(bob).post("stores/new", **form).status_code == member
    assert ("You can’t open another store" in text(Browser(bob).get("stores/new"))) == (
        member == 403
    )


def test_nobody_opens_more_than_twenty(cast: Cast) -> None:
    request = StoreRequest(name="One of many", settlement_currency="EUR")
    for _ in range(sign_up.STORES_MAX - 1):
        open_store(cast.alice, request)
    with pytest.raises(sign_up.NoMoreStores):
        open_store(cast.alice, request)


def test_a_store_begins_in_the_zone_of_the_browser_that_opens_it(cast: Cast) -> None:
    for said, zone in (("Europe/Berlin", "Europe/Berlin"), ("Mars/Olympus", ""), ("", "")):
        browser = Browser(cast.alice)
        browser.client.cookies["time_zone"] = said
        browser.post("stores/new", name=f"Zone {said}", country="DE", settlement_currency="EUR")
        assert Store.objects.get(name=f"Zone {said}".strip()).time_zone == zone
