"""In live mode an onboarding link proves nobody: what it names waits."""

from datetime import timedelta

import pytest
from django.test import Client

from apps.access.models import WaitingPeriodSettings
from apps.core import clock
from apps.payouts.models import Destination, Payout, Schedule
from apps.payouts.services import runs
from apps.platforms.models import DestinationConfirmation
from apps.stores.services import change_store
from tests.dashboard.browse import Browser, next_code
from tests.platforms.destinations.makers import (
    CONTACT,
    OTHER,
    WAITS,
    WALLET,
    code_in,
    emails,
    later,
    minted,
    named,
    pay,
    refused_for_now,
    saved,
    text,
    verified,
)
from tests.platforms.makers import Platform, Sub


def test_a_platform_that_opens_its_own_link_gains_nothing_before_the_contact_could_stop_it(
    platform: Platform,
    merchant: Sub,
) -> None:
    page = named(platform, merchant)
    (email,) = emails()
    assert email.to == [CONTACT] and WALLET in email.body and "Alice's Bakery" in email.body
    refused_for_now(merchant)
    seen = text(Client().get(page))
    assert "It becomes active on" in seen and "o•••@bakery.example" in seen
    assert code_in(email) not in seen and code_in(email).replace(" ", "") not in seen
    with later(hours=23):
        refused_for_now(merchant)
    with later(hours=25):
        assert pay(merchant, destination_address=WALLET).status_code == 201
        assert "The waiting period is over" in text(Client().get(page))


def test_a_schedule_that_a_platform_makes_to_it_pays_nothing_yet(
    platform: Platform, merchant: Sub
) -> None:
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


def test_a_platforms_people_who_act_for_it_gain_no_more(platform: Platform, merchant: Sub) -> None:
    """A session of the platform's owner, with a code for each act."""
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
    assert len(emails()) == 1


def test_a_platform_changes_no_waiting_time_of_its_account(
    platform: Platform, merchant: Sub
) -> None:
    for api in (merchant.live, platform.live):
        api.patch(
            f"/platform/accounts/{merchant.id}", {"account": {"cooling_hours": 0, "name": "Other"}}
        )
    assert WaitingPeriodSettings.of(merchant.store).cooling_hours == 24


def test_test_mode_waits_for_nothing_and_writes_to_nobody(
    platform: Platform, merchant: Sub
) -> None:
    token = platform.mint(merchant.id, purpose="payout_destination").json()["token"]
    answer = Client().post(
        f"/onboarding/{token}/payout", {"kind": "wallet", "network": "sepolia", "address": WALLET}
    )
    assert (answer.status_code, answer["Location"]) == (303, "https://shop.example/back")
    assert (
        saved(merchant).usable_from is None
        and not DestinationConfirmation.objects.exists()
        and not emails()
    )


def test_a_bank_account_waits_too(platform: Platform, merchant: Sub) -> None:
    sent = {
        "kind": "bank",
        "currency": "EUR",
        "holder": "Corner Shop",
        "account": "DE89 3704 0044 0532 0130 00",
    }
    assert (
        Client().post(f"/onboarding/{minted(platform, merchant)}/payout", sent).status_code == 303
    )
    (email,) = emails()
    assert "EUR account ending in 3000" in email.body and "DE89" not in email.body
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
