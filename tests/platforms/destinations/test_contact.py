"""The contact of a business, and how they stop a destination or make it usable immediately."""

from typing import Any

import pytest
from django.test import Client

from apps.core import clock
from apps.core.redis import buckets
from apps.payouts.models import Destination
from apps.platforms.models import DestinationConfirmation
from apps.platforms.services import confirmations
from apps.platforms.services.verifications import reject_verification
from apps.stores.models import AuditEntry, Role, Store, Verification
from apps.stores.services import change_store
from tests import make
from tests.cast import join, person
from tests.platforms.destinations.makers import (
    CONTACT,
    OTHER,
    WALLET,
    approve,
    code_in,
    emails,
    later,
    minted,
    name,
    named,
    pay,
    refused_for_now,
    saved,
    stop_in,
    text,
    verified,
    wrong,
)
from tests.platforms.makers import BUSINESS, Platform, Sub, refusal


def test_the_contact_stops_it_once_without_signing_in(platform: Platform, merchant: Sub) -> None:
    page = named(platform, merchant)
    (message,) = emails()
    path = stop_in(message)
    assert (
        "Remove this destination?" in text(Client().get(path))
        and saved(merchant).removed_at is None
    )
    assert "No payouts are sent to it anymore" in text(Client().post(path))
    assert saved(merchant).removed_at is not None
    assert "There’s nothing to remove" in text(Client().get(path))
    assert "There’s nothing to remove" in text(Client().post(path))
    assert "Destination removed" in text(Client().get(page))
    assert Client().post(page, {"code": code_in(message)}).status_code == 303
    with later(hours=25):
        refusal(
            pay(merchant, destination_address=WALLET),
            403,
            "platform_cannot_change_payout_destination",
        )
    told = AuditEntry.objects.filter(
        action="payout_destination.stopped", store_id=merchant.id
    ).get()
    assert told.actor_name == f"contact {CONTACT}"


def test_with_a_shard_its_pages_stand_behind_it_and_those_without_open_the_same(
    platform: Platform, merchant: Sub, settings: Any
) -> None:
    settings.SHARD = "1Z"
    page = named(platform, merchant)
    stop = stop_in(emails()[-1])

    assert page.startswith("/onboarding/destination/1Z~")
    assert stop.startswith("/onboarding/stop/1Z~")
    for path in (page, stop):
        answer = Client().get(path)
        assert answer.status_code == 200
        assert text(answer) == text(Client().get(path.replace("1Z~", "")))


def test_what_a_code_hurried_can_still_be_stopped_until_it_would_have_been_usable(
    platform: Platform,
    merchant: Sub,
) -> None:
    page = named(platform, merchant)
    (message,) = emails()
    Client().post(page, {"code": code_in(message)})
    assert "No payouts are sent to it anymore" in text(Client().post(stop_in(message)))
    refusal(
        pay(merchant, destination_address=WALLET), 403, "platform_cannot_change_payout_destination"
    )


def test_a_link_stops_nothing_later_and_none_can_be_made_up(
    platform: Platform, merchant: Sub
) -> None:
    page = named(platform, merchant)
    path = stop_in(emails()[0])
    with later(hours=25):
        assert "There’s nothing to remove" in text(Client().post(path))
    assert saved(merchant).removed_at is None
    assert Client().post(path[:-1] + ("a" if path[-1] != "a" else "b")).status_code == 404
    assert Client().post(f"/onboarding/stop/{page.rpartition('/')[2]}").status_code == 404, (
        "the page's token is none"
    )


# --- the code ---


def test_the_contacts_code_makes_it_usable_at_once(platform: Platform, merchant: Sub) -> None:
    page = named(platform, merchant)
    (message,) = emails()
    answer = Client().post(page, {"code": code_in(message)})
    assert (answer.status_code, answer["Location"]) == (303, page)
    seen = Client().get(page)
    assert (
        "Payouts can be sent there now" in text(seen)
        and b'href="https://shop.example/back"' in seen.content
    )
    assert pay(merchant, destination_address=WALLET).status_code == 201
    actions = (
        AuditEntry.objects.filter(store_id=merchant.id, target_type="destination")
        .order_by("id")
        .values_list("action", flat=True)
    )
    assert list(actions) == [
        "payout_destination.added",
        "payout_destination.contact_told",
        "payout_destination.confirmed",
    ]


def test_a_code_is_tried_five_times_lives_half_an_hour_and_is_kept_as_a_hash(
    platform: Platform,
    merchant: Sub,
) -> None:
    page = named(platform, merchant)
    code = code_in(emails()[0])
    row = DestinationConfirmation.objects.get()
    assert (
        code.replace(" ", "").encode() not in bytes(row.code_hash or b"")
        and len(bytes(row.code_hash or b"")) == 32
    )
    for _ in range(confirmations.TRIES_MAX):
        answer = Client().post(page, {"code": wrong(code)})
        assert answer.status_code == 422
    assert "Too many wrong codes" in text(answer)
    assert Client().post(page, {"code": code}).status_code == 422
    refused_for_now(merchant)
    with later(minutes=2):
        assert Client().post(f"{page}/send").status_code == 303
    code = code_in(emails()[-1])
    with later(minutes=33):
        assert Client().post(page, {"code": code}).status_code == 422


def test_a_code_confirms_nothing_but_what_it_was_sent_for(
    platform: Platform, merchant: Sub
) -> None:
    first = named(platform, merchant)
    second = named(platform, merchant, OTHER)
    code, _ = (code_in(message) for message in emails())
    assert Client().post(second, {"code": code}).status_code == 422
    Destination.objects.filter(address=WALLET.lower()).update(address="0x" + "ab" * 20)
    assert Client().post(first, {"code": code}).status_code == 422, (
        "another address was put in its place"
    )


def test_a_new_code_ends_the_one_before_and_few_are_sent(platform: Platform, merchant: Sub) -> None:
    page = named(platform, merchant)
    until = saved(merchant).usable_from
    assert Client().post(f"{page}/send").status_code == 422, "a minute has not passed"
    for number in range(1, confirmations.EMAILS_MAX):
        with later(minutes=2 * number):
            assert Client().post(f"{page}/send")["Location"] == f"{page}?sent=1"
    with later(minutes=20):
        answer = Client().post(f"{page}/send")
        assert answer.status_code == 422 and "many of these emails" in text(answer)
        first, *_, last = emails()
        assert len(emails()) == confirmations.EMAILS_MAX and saved(merchant).usable_from == until
        assert Client().post(page, {"code": code_in(first)}).status_code == 422
        assert Client().post(page, {"code": code_in(last)}).status_code == 303
    assert saved(merchant).usable_from is None


def test_what_the_contact_could_not_be_told_of_is_not_saved(
    platform: Platform, merchant: Sub, settings: Any
) -> None:
    few = settings.EMAIL_LIMITS["destination_named"]._replace(by_store=2, in_all=2)
    settings.EMAIL_LIMITS = {**settings.EMAIL_LIMITS, "destination_named": few}
    for _ in range(2):
        named(platform, merchant, make.fresh_address())
    answer = name(minted(platform, merchant))
    assert answer.status_code == 422 and "many of these emails" in text(answer)
    assert not Destination.objects.filter(address=WALLET.lower()).exists()


# --- who the contact is ---


def test_before_a_person_approved_the_details_nothing_counts(platform: Platform) -> None:
    """The platform fills in everything itself, its own address as the contact: nobody is written
    to, nothing begins."""
    merchant = platform.sub(kyc=False)
    token = minted(platform, merchant, "onboarding")
    assert (
        Client()
        .post(
            f"/onboarding/{token}/business",
            {**BUSINESS, "contact_email": "me@platform.example"},
        )
        .status_code
        == 303
    )
    page = name(token)["Location"]
    assert "review the business details first" in text(Client().get(page))
    assert Client().post(f"{page}/send")["Location"] == page and not emails()
    make.store_coins(merchant.store, "ETH", 10**18)
    with later(days=30):
        refused_for_now(merchant)
        reject_verification(
            Verification.objects.get(store_id=merchant.id), "This is not its address"
        )
        assert platform.attest(merchant.id).status_code == 201
        approve(merchant)
        (message,) = emails()
        assert message.to == [CONTACT]
        refused_for_now(merchant)
        assert Client().post(page, {"code": code_in(message)}).status_code == 303
        assert pay(merchant, destination_address=WALLET).status_code == 201


def test_details_sent_later_change_no_contact_before_they_are_approved(
    platform: Platform, merchant: Sub
) -> None:
    assert platform.attest(merchant.id, contact_email="me@platform.example").status_code == 201
    page = named(platform, merchant)
    with later(minutes=2):
        Client().post(f"{page}/send")
        assert [message.to for message in emails()] == [[CONTACT], [CONTACT]]


def test_an_account_without_a_contact_on_record_is_paid_nowhere_new(platform: Platform) -> None:
    merchant = platform.sub(kyc=True)
    make.store_coins(merchant.store, "ETH", 10**18)
    assert platform.attest(merchant.id, contact_email="me@platform.example").status_code == 201
    named(platform, merchant)
    with later(days=30):
        refused_for_now(merchant)
    assert not emails()


@pytest.mark.parametrize("own", ["member", "support"])
def test_an_address_of_the_platforms_own_people_is_no_contact(platform: Platform, own: str) -> None:
    if own == "member":
        olga = person("olga")
        join(platform.store, olga, Role.VIEWER)
        email = olga.email.upper().replace("@", "+shop@")
    else:
        email = "help@platform.example"
        change_store(platform.store, support_email=email)
    merchant = verified(platform, contact_email=email)
    named(platform, merchant)
    with later(days=30):
        refused_for_now(merchant)
    assert not emails()


def test_live_business_details_name_a_contact(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    token = minted(platform, merchant, "onboarding")
    answer = Client().post(f"/onboarding/{token}/business", {**BUSINESS, "contact_email": ""})
    assert answer.status_code == 422 and "Contact email is required" in text(answer)


# --- the page ---


def test_pages_are_private_and_wrong_tokens_are_limited(platform: Platform, merchant: Sub) -> None:
    page = named(platform, merchant)
    buckets.client().flushdb()
    answer = Client().get(page)
    assert (answer["Cache-Control"], answer["X-Robots-Tag"], answer["Referrer-Policy"]) == (
        "no-store",
        "noindex",
        "same-origin",
    )
    assert [Client().get("/onboarding/destination/no:such").status_code for _ in range(7)][
        -1
    ] == 429
    assert Client().get(page).status_code == 200


def test_a_closed_account_has_no_pages(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    assert platform.attest(merchant.id).status_code == 201
    approve(merchant)
    page = named(platform, merchant)
    Store.objects.filter(pk=merchant.id).update(deleted_at=clock.real_now())
    assert Client().get(page).status_code == 404
