"""In live mode an onboarding link proves nobody: what it names waits, and the business's contact
alone can stop or hurry it."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core import mail as django_mail
from django.test import Client

from apps.core import buckets, clock, mail
from apps.payouts.models import Destination, Payout, Schedule
from apps.payouts.services import runs
from apps.platforms.models import DestinationConfirmation
from apps.platforms.services import confirmations
from apps.platforms.services.verifications import approve_verification, reject_verification
from apps.stores.models import AuditEntry, Member, Role, Store, Verification
from apps.stores.services import change_store
from tests import make
from tests.cast import person
from tests.dashboard.browse import Browser, next_code
from tests.platforms.makers import VERIFICATION, Platform, Sub, refusal

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
CONTACT = VERIFICATION["contact_email"]
WAITS = re.compile(r"This destination can be used from 20")


def approve(merchant: Sub) -> None:
    approve_verification(Verification.objects.get(store_id=merchant.id, status="pending"))


def verified(platform: Platform, **fields: Any) -> Sub:
    """A sub-merchant whose details, and contact, a person has approved; with live coins."""
    merchant = platform.sub(kyc=False)
    assert platform.attest(merchant.id, **fields).status_code == 201
    approve(merchant)
    make.store_coins(merchant.store, "ETH", 10**18)
    return merchant


def minted(
    platform: Platform, merchant: Sub, purpose: str = "payout_destination", **fields: Any
) -> str:
    body = {"purpose": purpose, "return_url": "https://shop.example/back", **fields}
    answer = platform.live.post(f"/platform/accounts/{merchant.id}/onboarding_links", body)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["token"])


def name(token: str, address: str = WALLET) -> Any:
    return Client().post(
        f"/onboarding/{token}/payout", {"kind": "wallet", "network": "ethereum", "address": address}
    )


def named(platform: Platform, merchant: Sub, address: str = WALLET) -> str:
    """A wallet named through a fresh link: the path of its page."""
    answer = name(minted(platform, merchant), address)
    assert answer.status_code == 303, answer.content
    return str(answer["Location"])


def letters() -> list[Any]:
    mail.send_due()
    return [one for one in django_mail.outbox if "payout destination" in one.subject]


def code_in(letter: Any) -> str:
    return re.search(r"^ +(\d{4} \d{4})$", letter.body, re.M).group(1)  # type: ignore[union-attr]


def stop_in(letter: Any) -> str:
    return re.search(r"/onboarding/stop/\S+", letter.body).group()  # type: ignore[union-attr]


def text(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def wrong(code: str) -> str:
    return f"{(int(code.replace(' ', '')) + 1) % 10**8:08d}"


def later(**span: float) -> Any:
    return time_machine.travel(clock.real_now() + timedelta(**span), tick=True)


def pay(merchant: Sub, key: str = "k", **to: str) -> Any:
    return merchant.live.post(
        "/payouts", {"asset_id": "ETH", "amount_atomic": str(10**17), **to}, key=key
    )


def saved(merchant: Sub) -> Destination:
    found: Destination = Destination.objects.get(store_id=merchant.id)
    return found


def refused_for_now(merchant: Sub) -> None:
    """Nothing goes there by any way that a platform has."""
    where = str(saved(merchant).pk)
    for to in ({"destination_address": WALLET}, {"crypto_payout_detail_id": where}):
        answer = pay(merchant, key=str(to), **to)
        assert (
            answer.status_code == 422 and "This destination can be used" in answer.content.decode()
        ), answer.content
    raw = {
        "payout_schedule": {"asset_id": "ETH", "frequency": "daily", "destination_address": WALLET}
    }
    answer = merchant.live.post("/payout_schedules", raw)
    assert (
        answer.status_code == 422 and "This destination can be used" in answer.content.decode()
    ), answer.content
    assert not Payout.objects.filter(store_id=merchant.id).exists()


# --- what waits ---


def test_a_platform_that_opens_its_own_link_gains_nothing_before_the_contact_could_stop_it(
    platform: Platform,
) -> None:
    merchant = verified(platform)
    page = named(platform, merchant)
    (letter,) = letters()
    assert letter.to == [CONTACT] and WALLET in letter.body and "Alice's Bakery" in letter.body
    refused_for_now(merchant)
    seen = text(Client().get(page))
    assert "It becomes active on" in seen and "o•••@bakery.example" in seen
    assert code_in(letter) not in seen and code_in(letter).replace(" ", "") not in seen
    with later(hours=23):
        refused_for_now(merchant)
    with later(hours=25):
        assert pay(merchant, destination_address=WALLET).status_code == 201
        assert "The waiting period is over" in text(Client().get(page))


def test_a_schedule_that_a_platform_makes_to_it_pays_nothing_yet(platform: Platform) -> None:
    merchant = verified(platform)
    named(platform, merchant)
    body = {
        "asset_id": "ETH",
        "frequency": "daily",
        "crypto_payout_detail_id": str(saved(merchant).pk),
    }
    schedule = merchant.live.post("/payout_schedules", {"payout_schedule": body}).json()
    Schedule.objects.update(next_payout_at=clock.real_now())
    assert runs.run_schedules() == 1
    assert not Payout.objects.filter(store_id=merchant.id).exists()
    assert WAITS.match(Schedule.objects.get().last_failure)
    answer = merchant.live.post(f"/payout_schedules/{schedule['id']}/run", {})
    assert answer.status_code == 422 and WAITS.search(answer.content.decode())


def test_a_platforms_people_who_act_for_it_gain_no_more(platform: Platform) -> None:
    """A session of the platform's owner, with a code for each act."""
    merchant = verified(platform)
    named(platform, merchant)
    owner = Browser(platform.shop.owner).prove()
    owner.switch("live")
    for address, statuses in ((WALLET, {422}), (OTHER, {403, 422})):
        raw = {"asset_id": "ETH", "destination_address": address}
        for path, body in (
            ("payouts", {**raw, "amount_atomic": "1" + "0" * 17}),
            ("payout_schedules", {"payout_schedule": {**raw, "frequency": "daily"}}),
        ):
            headers = {
                "X-Service-Account": merchant.id,
                "X-OTP-Code": next_code(platform.shop.owner),
                "Idempotency-Key": address,
            }
            answer = owner.client.post(
                f"/api/v2/{path}", body, content_type="application/json", headers=headers
            )
            assert answer.status_code in statuses, answer.content
    owner.post(
        "payouts/destinations/wallet",
        network="ethereum",
        address=OTHER,
        headers={"X-Service-Account": merchant.id},
    )
    assert saved(merchant).address == WALLET.lower(), "the page is about the platform's own store"
    assert not Payout.objects.exists() and not Schedule.objects.exists()


@pytest.mark.parametrize(("hours", "waits"), [(48, 48), (1, 1), (0, 24)])
def test_it_waits_as_long_as_the_accounts_setting_says_and_never_not_at_all(
    platform: Platform, hours: int, waits: int
) -> None:
    change_store(platform.store, cooling_hours=0)
    merchant = verified(platform)
    change_store(merchant.store, cooling_hours=hours)
    named(platform, merchant)
    until = saved(merchant).usable_from
    assert until is not None and abs(until - clock.real_now() - timedelta(hours=waits)) < timedelta(
        minutes=1
    )
    assert len(letters()) == 1


def test_a_platform_changes_no_waiting_time_of_its_account(platform: Platform) -> None:
    merchant = verified(platform)
    for api in (merchant.live, platform.live):
        api.patch(
            f"/platform/accounts/{merchant.id}", {"account": {"cooling_hours": 0, "name": "Other"}}
        )
    assert merchant.store.cooling_hours == 24


def test_test_mode_waits_for_nothing_and_writes_to_nobody(platform: Platform) -> None:
    merchant = verified(platform)
    token = platform.mint(merchant.id, purpose="payout_destination").json()["token"]
    answer = Client().post(
        f"/onboarding/{token}/payout", {"kind": "wallet", "network": "sepolia", "address": WALLET}
    )
    assert (answer.status_code, answer["Location"]) == (303, "https://shop.example/back")
    assert (
        saved(merchant).usable_from is None
        and not DestinationConfirmation.objects.exists()
        and not letters()
    )


def test_a_bank_account_waits_too(platform: Platform) -> None:
    merchant = verified(platform)
    sent = {
        "kind": "bank",
        "currency": "EUR",
        "holder": "Corner Shop",
        "account": "DE89 3704 0044 0532 0130 00",
    }
    assert (
        Client().post(f"/onboarding/{minted(platform, merchant)}/payout", sent).status_code == 303
    )
    (letter,) = letters()
    assert "EUR account ending in 3000" in letter.body and "DE89" not in letter.body
    Destination.objects.update(verified_at=clock.real_now())
    answer = merchant.live.post(
        "/payouts",
        {
            "asset_id": "ETH_USDC",
            "amount_atomic": "1",
            "fiat_payout_detail_id": str(saved(merchant).pk),
        },
        key="k",
    )
    assert answer.status_code == 422 and WAITS.search(answer.content.decode()), answer.content


# --- the contact stops it ---


def test_the_contact_stops_it_once_without_signing_in(platform: Platform) -> None:
    merchant = verified(platform)
    page = named(platform, merchant)
    (letter,) = letters()
    path = stop_in(letter)
    assert (
        "Remove this destination?" in text(Client().get(path))
        and saved(merchant).removed_at is None
    )
    assert "No payouts are sent to it anymore" in text(Client().post(path))
    assert saved(merchant).removed_at is not None
    assert "There's nothing to remove" in text(Client().get(path))
    assert "There's nothing to remove" in text(Client().post(path))
    assert "Destination removed" in text(Client().get(page))
    assert Client().post(page, {"code": code_in(letter)}).status_code == 303
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


def test_what_a_code_hurried_can_still_be_stopped_until_it_would_have_been_usable(
    platform: Platform,
) -> None:
    merchant = verified(platform)
    page = named(platform, merchant)
    (letter,) = letters()
    Client().post(page, {"code": code_in(letter)})
    assert "No payouts are sent to it anymore" in text(Client().post(stop_in(letter)))
    refusal(
        pay(merchant, destination_address=WALLET), 403, "platform_cannot_change_payout_destination"
    )


def test_a_link_stops_nothing_later_and_none_can_be_made_up(platform: Platform) -> None:
    merchant = verified(platform)
    page = named(platform, merchant)
    path = stop_in(letters()[0])
    with later(hours=25):
        assert "There's nothing to remove" in text(Client().post(path))
    assert saved(merchant).removed_at is None
    assert Client().post(path[:-1] + ("a" if path[-1] != "a" else "b")).status_code == 404
    assert Client().post(f"/onboarding/stop/{page.rpartition('/')[2]}").status_code == 404, (
        "the page's token is none"
    )


# --- the code ---


def test_the_contacts_code_makes_it_usable_at_once(platform: Platform) -> None:
    merchant = verified(platform)
    page = named(platform, merchant)
    (letter,) = letters()
    answer = Client().post(page, {"code": code_in(letter)})
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
) -> None:
    merchant = verified(platform)
    page = named(platform, merchant)
    code = code_in(letters()[0])
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
    code = code_in(letters()[-1])
    with later(minutes=33):
        assert Client().post(page, {"code": code}).status_code == 422


def test_a_code_confirms_nothing_but_what_it_was_sent_for(platform: Platform) -> None:
    merchant = verified(platform)
    first = named(platform, merchant)
    second = named(platform, merchant, OTHER)
    code, _ = (code_in(one) for one in letters())
    assert Client().post(second, {"code": code}).status_code == 422
    Destination.objects.filter(address=WALLET.lower()).update(address="0x" + "ab" * 20)
    assert Client().post(first, {"code": code}).status_code == 422, (
        "another address was put in its place"
    )


def test_a_new_code_ends_the_one_before_and_few_are_sent(platform: Platform) -> None:
    merchant = verified(platform)
    page = named(platform, merchant)
    until = saved(merchant).usable_from
    assert Client().post(f"{page}/send").status_code == 422, "a minute has not passed"
    for number in range(1, confirmations.LETTERS_MAX):
        with later(minutes=2 * number):
            assert Client().post(f"{page}/send")["Location"] == f"{page}?sent=1"
    with later(minutes=20):
        answer = Client().post(f"{page}/send")
        assert answer.status_code == 422 and "many of these emails" in text(answer)
        first, *_, last = letters()
        assert len(letters()) == confirmations.LETTERS_MAX and saved(merchant).usable_from == until
        assert Client().post(page, {"code": code_in(first)}).status_code == 422
        assert Client().post(page, {"code": code_in(last)}).status_code == 303
    assert saved(merchant).usable_from is None


def test_what_the_contact_could_not_be_told_of_is_not_saved(platform: Platform) -> None:
    merchant = verified(platform)
    for _ in range(settings.LETTER_LIMITS["destination_named"].in_all):
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
            {**VERIFICATION, "contact_email": "me@platform.example"},
        )
        .status_code
        == 303
    )
    page = name(token)["Location"]
    assert "review the business details first" in text(Client().get(page))
    assert Client().post(f"{page}/send")["Location"] == page and not letters()
    make.store_coins(merchant.store, "ETH", 10**18)
    with later(days=30):
        refused_for_now(merchant)
        reject_verification(
            Verification.objects.get(store_id=merchant.id), "This is not its address"
        )
        assert platform.attest(merchant.id).status_code == 201
        approve(merchant)
        (letter,) = letters()
        assert letter.to == [CONTACT]
        refused_for_now(merchant)
        assert Client().post(page, {"code": code_in(letter)}).status_code == 303
        assert pay(merchant, destination_address=WALLET).status_code == 201


def test_details_sent_later_change_no_contact_before_they_are_approved(platform: Platform) -> None:
    merchant = verified(platform)
    assert platform.attest(merchant.id, contact_email="me@platform.example").status_code == 201
    page = named(platform, merchant)
    with later(minutes=2):
        Client().post(f"{page}/send")
        assert [one.to for one in letters()] == [[CONTACT], [CONTACT]]


def test_an_account_without_a_contact_on_record_is_paid_nowhere_new(platform: Platform) -> None:
    merchant = platform.sub(kyc=True)
    make.store_coins(merchant.store, "ETH", 10**18)
    assert platform.attest(merchant.id, contact_email="me@platform.example").status_code == 201
    named(platform, merchant)
    with later(days=30):
        refused_for_now(merchant)
    assert not letters()


@pytest.mark.parametrize("own", ["member", "support"])
def test_an_address_of_the_platforms_own_people_is_no_contact(platform: Platform, own: str) -> None:
    if own == "member":
        olga = person("olga")
        Member.objects.create(
            store=platform.store, user=olga, role=Role.VIEWER, created_at=clock.real_now()
        )
        email = olga.email.upper().replace("@", "+shop@")
    else:
        email = "help@platform.example"
        change_store(platform.store, support_email=email)
    merchant = verified(platform, contact_email=email)
    named(platform, merchant)
    with later(days=30):
        refused_for_now(merchant)
    assert not letters()


def test_live_business_details_name_a_contact(platform: Platform) -> None:
    merchant = platform.sub(kyc=False)
    token = minted(platform, merchant, "onboarding")
    answer = Client().post(f"/onboarding/{token}/business", {**VERIFICATION, "contact_email": ""})
    assert answer.status_code == 422 and "Contact email is required" in text(answer)


# --- the page ---


def test_pages_are_private_and_wrong_tokens_are_limited(platform: Platform) -> None:
    page = named(platform, verified(platform))
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
