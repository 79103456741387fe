"""Passkeys without a browser: who may have them, what is refused, and that no answer a device
didn't give is taken."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail
from django_otp_webauthn.models import WebAuthnCredential

from apps.access.factors import passkeys, second_factor
from apps.access.factors.ceremonies import Ceremonies
from apps.access.models import SecondFactor
from apps.core import clock, mail
from tests.cast import PASSWORD, Cast
from tests.dashboard.browse import Browser, code_of, text
from tests.stage import empty_buckets

ANSWER = {
    "id": "AAAA",
    "rawId": "AAAA",
    "type": "public-key",
    "clientExtensionResults": {},
    "response": {
        "clientDataJSON": "e30",
        "authenticatorData": "AAAA",
        "signature": "AAAA",
        "userHandle": None,
        "attestationObject": "oA",
    },
}
BROKEN = [
    "",
    "{",
    "[]",
    "null",
    "1",
    "{}",
    json.dumps({**ANSWER, "rawId": "%%%"}),
    json.dumps({**ANSWER, "response": {}}),
    json.dumps({**ANSWER, "id": "a\x00"}),
    json.dumps(ANSWER),
    "[" * 5000,
    "x" * 60_000,
    '{"response": {"clientDataJSON": 5}}',
]


@pytest.fixture
def factor(cast: Cast) -> SecondFactor:
    return second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


@pytest.fixture
def alice(cast: Cast, factor: SecondFactor) -> Browser:
    """Signed in, with a fresh code."""
    return Browser(cast.alice, answers=True).prove()


def open_form(alice: Browser) -> None:
    """The form, for which a code was asked."""
    path = "security/passkeys/new"
    assert alice.confirm(alice.get(path), path).headers["Location"] == f"/dashboard/{path}"


def kept(user: Any, name: str = "Laptop") -> WebAuthnCredential:
    return WebAuthnCredential.objects.create(
        user=user, name=name, credential_id=b"\x00\x00\x00", public_key=b"k", aaguid=""
    )


def test_a_passkey_needs_an_authenticator_app_first(cast: Cast) -> None:
    browser = Browser(cast.bob)
    assert "Set up an authenticator app first" in text(browser.get("security/passkeys"))
    assert (
        browser.get("security/passkeys/new").headers["Location"] == "/dashboard/security/passkeys"
    )


def test_what_no_device_made_is_not_added(alice: Browser) -> None:
    open_form(alice)
    alice.get("security/passkeys/new")
    for answer in BROKEN:
        refused = alice.post("security/passkeys/new", passkey=answer, name="Laptop")
        assert refused.status_code == 422 and "could not be added" in text(refused), answer[:80]
        assert b"challenge&quot;" in refused.content, "the page that says so asks anew"
    assert not WebAuthnCredential.objects.exists()


def test_strangers_are_asked_what_the_library_would_ask() -> None:
    kept_by_us: dict[str, Any] = {}
    asked = json.loads(passkeys.begin_asking(kept_by_us, None, clock.real_now()))
    theirs, state = Ceremonies(None).authenticate_begin(None, require_user_verification=True)
    assert (
        len(asked["challenge"]) == len(theirs["challenge"])
        and asked["challenge"] != theirs["challenge"]
    )
    assert {**asked, "challenge": ""} == {**theirs, "challenge": ""}
    (ours,) = kept_by_us.values()
    assert ours["challenge"] == asked["challenge"] and state.keys() <= ours.keys()
    assert ours["require_user_verification"] is state["require_user_verification"] is True


def test_what_no_device_gave_signs_nobody_in(cast: Cast, factor: SecondFactor) -> None:
    kept(cast.alice)
    visitor = Browser()
    visitor.get("sign-in/passkey")
    for answer in BROKEN:
        empty_buckets()
        refused = visitor.post("sign-in/passkey", passkey=answer)
        assert refused.status_code == 422 and "was not taken" in text(refused), answer[:80]
        assert b"challenge&quot;" in refused.content, "the page that says so asks anew"
        assert visitor.get().status_code == 302, answer[:80]


def test_a_page_that_was_not_opened_or_is_old_is_no_good(cast: Cast, alice: Browser) -> None:
    assert Browser().post("sign-in/passkey", passkey=json.dumps(ANSWER)).status_code == 422
    open_form(alice)
    options = [
        text(alice.get("security/passkeys/new")).split("challenge&quot;: &quot;")[1][:20]
        for _ in range(2)
    ]
    assert options[0] != options[1]
    with time_machine.travel(clock.real_now() + timedelta(minutes=4), tick=True):
        assert alice.get("security/passkeys/new").status_code == 200


def test_a_passkey_has_a_name(cast: Cast, alice: Browser) -> None:
    open_form(alice)
    one = kept(cast.alice)
    for name in ("", " ", "x" * 61, "a\x00b"):
        refused = alice.post("security/passkeys/new", passkey="{}", name=name)
        assert "A name has 1 to 60 characters." in text(refused), name
        alice.post(f"security/passkeys/{one.pk}/rename", name=name)
        one.refresh_from_db()
        assert one.name == "Laptop", name


def test_a_passkey_is_renamed_and_removed_and_its_person_is_told(
    cast: Cast, alice: Browser
) -> None:
    one = kept(cast.alice)
    alice.post(f"security/passkeys/{one.pk}/rename", name=" My  phone ")
    assert "My phone" in text(alice.get("security/passkeys"))
    assert alice.get(f"security/passkeys/{one.pk}/remove").status_code == 200
    alice.post(f"security/passkeys/{one.pk}/remove")
    assert not WebAuthnCredential.objects.exists()
    mail.send_due()
    assert [message.subject for message in django_mail.outbox] == [
        "A passkey was removed: My phone"
    ]


def test_a_passkey_of_somebody_else_or_of_nobody_is_not_found(cast: Cast, alice: Browser) -> None:
    other = kept(cast.charlie)
    for id in (other.pk, "x", "９", "-1", "9" * 30, "00000000-0000-4000-8000-000000000000"):
        assert alice.post(f"security/passkeys/{id}/remove").status_code == 404, id
    assert WebAuthnCredential.objects.filter(pk=other.pk).exists()


def test_passkeys_go_with_the_app(cast: Cast, alice: Browser) -> None:
    kept(cast.alice)
    alice.post("security/authenticator/remove")
    assert not WebAuthnCredential.objects.exists()


def test_a_passkey_is_offered_where_a_code_is_asked_for(cast: Cast, factor: SecondFactor) -> None:
    browser = Browser()
    browser.post("sign-in", email=cast.alice.email, password=PASSWORD)
    assert "Use a passkey" not in text(browser.get("sign-in/code"))
    kept(cast.alice)
    assert "Use a passkey" in text(browser.get("sign-in/code"))
    refused = browser.post("sign-in/code", passkey=json.dumps(ANSWER))
    assert refused.status_code == 422
    assert browser.code(code_of(factor)).status_code == 302


def test_adding_and_removing_a_passkey_take_a_code_each(cast: Cast, factor: SecondFactor) -> None:
    browser = Browser(cast.alice).prove()
    one = kept(cast.alice)
    for path in ("security/passkeys/new", f"security/passkeys/{one.pk}/remove"):
        assert browser.post(path).context["asks_code"], path
    assert WebAuthnCredential.objects.filter(pk=one.pk).exists()
