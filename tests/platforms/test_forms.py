"""Forms of platforms and their sub-merchants: each error is at its input, is named there, and has
the focus."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from tests.cast import Cast
from tests.dashboard.browse import Browser
from tests.platforms.makers import BUSINESS, VERIFICATION, Platform

FEE = "platform_fee_percentage"
WALLET = "0x52908400098527886e0f7030069857d2e4169ee7"


@pytest.fixture
def owner(cast: Cast) -> Browser:
    """Alice, signed in with a code a moment ago."""
    return Browser(cast.alice, answers=True).prove()


def wrong(answer: Any, status: int = 422) -> tuple[str, str]:
    """The one input that is wrong and what is said of it, where the eye, a screen reader and the
    focus find it."""
    page = answer.content.decode()
    assert answer.status_code == status, page
    ((name, sentence),) = re.findall(
        r'<span class="error" id="(\w+)-error" role="alert">([^<]+)</span>', page
    )
    (control,) = re.findall(r'<(?:input|select|textarea)\s([^>]*\saria-invalid="true"[^>]*)>', page)
    attributes = control.split()
    assert f'id="{name}"' in attributes and "autofocus" in attributes
    assert f'{name}-error"' in control
    assert page.count("autofocus") == 1 and 'id="errors"' not in page
    return name, unescape(sentence)


BAD_ACCOUNTS: list[tuple[dict[str, str], str, str]] = [
    ({"name": ""}, "name", "Name is required."),
    ({"name": "x" * 101}, "name", "Name is too long (maximum is 100 characters)."),
    (
        {"external_id": "x" * 256},
        "external_id",
        "External ID is too long (maximum is 255 characters).",
    ),
    (
        {"platform_fee_percentage": "100"},
        "platform_fee_percentage",
        "Your fee must be a percentage below 100 with at most 6 places, such as 1.5.",
    ),
    (
        {"platform_fee_percentage": "a tenth"},
        "platform_fee_percentage",
        "Your fee must be a percentage below 100 with at most 6 places, such as 1.5.",
    ),
    (
        {"platform_fee_percentage": "99.99"},
        "platform_fee_percentage",
        "Your fee leaves nothing to the sub-merchant.",
    ),
    ({"country": "de"}, "country", "Country must be an ISO 3166-1 alpha-2 code."),
]


def test_a_new_account_is_refused_at_its_input(owner: Browser, platform: Platform) -> None:
    for fields, name, sentence in BAD_ACCOUNTS:
        sent = {"name": "Corner Shop", **fields}
        assert wrong(owner.post("platform/accounts/new", **sent)) == (name, sentence)


def test_an_account_that_is_changed_is_refused_at_its_input_with_what_was_typed(
    owner: Browser, platform: Platform
) -> None:
    first = platform.sub(external_id="one")
    second = platform.sub(external_id="two")
    page = f"platform/accounts/{second.id}"
    assert wrong(owner.post(page, name=" ", external_id="two")) == ("name", "Name can’t be blank.")
    taken = owner.post(page, name="New name", external_id="one")
    assert wrong(taken) == ("external_id", "External has already been taken.")
    assert 'value="New name"' in taken.content.decode()
    assert platform.account(second.id)["external_id"] == "two" and first.store.external_id == "one"


def test_a_deleted_account_is_told_at_the_id(owner: Browser, platform: Platform) -> None:
    merchant = platform.sub(external_id="one")
    assert platform.test.delete(f"/platform/accounts/{merchant.id}").status_code == 204
    name, sentence = wrong(
        owner.post("platform/accounts/new", name="Corner Shop", external_id="one"), 409
    )
    assert (name, "has been deleted" in sentence) == ("external_id", True)


def test_a_link_and_an_attestation_are_refused_at_their_inputs(
    owner: Browser, platform: Platform
) -> None:
    page = f"platform/accounts/{platform.sub(kyc=False).id}"
    sent = {"purpose": "kyb", "return_url": "ftp://shop.example", "expires_in": "86400"}
    assert wrong(owner.post(f"{page}/link", **sent)) == (
        "return_url",
        "The return URL must be a valid URL.",
    )
    unwell = {**VERIFICATION, "contact_email": "nobody"}
    assert wrong(owner.post(f"{page}/verification", **unwell)) == (
        "contact_email",
        "The email is not an email address.",
    )


BAD_DETAILS: list[tuple[dict[str, str], str, str]] = [
    ({"business_legal_name": " "}, "business_legal_name", "Legal business name is required."),
    ({"business_country": ""}, "business_country", "Business country is required."),
    ({"legal_form": " "}, "legal_form", "Legal form is required."),
    ({"street": ""}, "street", "Street and number is required."),
    (
        {"business_website": "my_shop"},
        "business_website",
        "Business website must be a valid URL.",
    ),
    ({"contact_email": "my_mail"}, "contact_email", "Contact email is not an email address."),
]


def test_business_details_are_refused_at_their_input(platform: Platform) -> None:
    token = platform.mint(platform.sub(kyc=False).id, purpose="kyb").json()["token"]
    for fields, name, sentence in BAD_DETAILS:
        answer = Client().post(f"/onboarding/{token}/business", {**BUSINESS, **fields})
        assert wrong(answer) == (name, sentence)


def test_in_live_mode_a_missing_contact_is_told_at_its_input_beside_the_hint(
    platform: Platform,
) -> None:
    merchant = platform.sub(kyc=False)
    minted = platform.live.post(
        f"/platform/accounts/{merchant.id}/onboarding_links", {"purpose": "kyb"}
    )
    answer = Client().post(
        f"/onboarding/{minted.json()['token']}/business", {**BUSINESS, "contact_email": ""}
    )
    assert wrong(answer) == ("contact_email", "Contact email is required.")
    assert b'aria-describedby="contact-hint contact_email-error"' in answer.content


BAD_DESTINATIONS: list[tuple[dict[str, str], str, str]] = [
    (
        {"kind": "wallet", "network": "nowhere", "address": WALLET},
        "network",
        "Network is not supported.",
    ),
    (
        {"kind": "bank", "currency": "XXX", "holder": "Corner Shop", "account": "1"},
        "currency",
        "Currency is not supported.",
    ),
    (
        {"kind": "bank", "currency": "EUR", "holder": "", "account": "1"},
        "holder",
        "Name the holder of the account.",
    ),
    (
        {"kind": "bank", "currency": "EUR", "holder": "Corner Shop", "account": "DE00"},
        "account",
        "That is not an account number.",
    ),
]


def test_a_destination_is_refused_at_its_input(platform: Platform) -> None:
    token = platform.mint(platform.sub(kyc=False).id, purpose="payout_destination").json()["token"]
    for sent, name, sentence in BAD_DESTINATIONS:
        answer = Client().post(f"/onboarding/{token}/payout", sent)
        assert wrong(answer) == (name, sentence)
