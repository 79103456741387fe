"""Destinations and credentials of live mode have a waiting period: owners are notified and can stop
it without signing in; keys and the operator wait for nothing."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail

from apps.access import waiting_period
from apps.access.access import Access
from apps.access.models import WaitingPeriodSettings
from apps.assets.models import Asset
from apps.core import clock, mail
from apps.core.errors import Failure
from apps.payouts.models import Destination, PayoutBatchLine, Schedule
from apps.payouts.requests import PayoutRequest, RawAddress, ScheduleRequest, WalletTarget
from apps.payouts.services import batches, runs, schedules
from apps.payouts.services.create import create_payout
from apps.payouts.services.destinations import add_wallet
from apps.payouts.services.known_addresses import NotSaved
from apps.stores.models import Role
from apps.swaps.models import AutoSwap
from apps.swaps.services.auto import set_auto_swap
from tests import make
from tests.cast import Cast, join, person
from tests.dashboard.browse import Browser, text

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"


@pytest.fixture
def owner(cast: Cast) -> Access:
    return cast.bakery.owner_access("live")


def wallet(cast: Cast, by: Access | None) -> Destination:
    return add_wallet(cast.bakery.store, "live", "ethereum", ADDRESS, by=by)


def to(destination: Destination | str) -> PayoutRequest:
    target = (
        RawAddress(destination)
        if isinstance(destination, str)
        else WalletTarget(str(destination.pk))
    )
    return PayoutRequest("ETH", 10**18, target)


def later(hours: float) -> Any:
    return time_machine.travel(clock.real_now() + timedelta(hours=hours), tick=True)


def links() -> list[tuple[str, str]]:
    """To whom, and the path that stops it."""
    mail.send_due()
    found = [
        (item.to[0], re.search(r"/dashboard/stop/\S+", item.body)) for item in django_mail.outbox
    ]
    return [(whom, match.group()) for whom, match in found if match is not None]


def weekly(destination: str) -> ScheduleRequest:
    return ScheduleRequest(asset_id="ETH", frequency="weekly", destination_address=destination)


# --- what waits, and what doesn't -----------------------------------------------------------------


def test_a_wallet_that_a_person_saves_is_paid_a_day_later(cast: Cast, owner: Access) -> None:
    saved = wallet(cast, owner)
    assert saved.usable_from is not None and timedelta(
        hours=23
    ) < saved.usable_from - clock.real_now() <= timedelta(hours=24)
    for access in (owner, cast.bakery.access("live")):
        with pytest.raises(waiting_period.StillWaiting, match="This destination can be used from"):
            create_payout(access, to(saved), "one", caller=access.caller)
    with later(25), pytest.raises(Failure, match="Insufficient available balance"):
        create_payout(owner, to(saved), "one", caller=owner.caller)


def test_keys_the_operator_and_test_mode_wait_for_nothing(cast: Cast, owner: Access) -> None:
    assert wallet(cast, None).usable_from is None
    assert (
        add_wallet(
            cast.bakery.store, "test", "sepolia", ADDRESS, by=cast.bakery.owner_access()
        ).usable_from
        is None
    )
    key = cast.bakery.access("live")
    with pytest.raises(Failure, match="Insufficient available balance"):
        create_payout(key, to(OTHER), "one", caller=key.caller)
    assert schedules.create_schedule(key, weekly(OTHER)).usable_from is None


def test_a_person_pays_no_new_address_at_once(cast: Cast, owner: Access) -> None:
    with pytest.raises(NotSaved):
        create_payout(owner, to(ADDRESS), "one", caller=owner.caller)
    wallet(cast, owner)
    with pytest.raises(waiting_period.StillWaiting, match="This wallet can be used from") as waits:
        create_payout(owner, to(ADDRESS), "one", caller=owner.caller)
    assert waits.value.field == "destination_address"
    with later(25), pytest.raises(Failure, match="Insufficient available balance"):
        create_payout(owner, to(ADDRESS), "one", caller=owner.caller)


def test_a_schedule_that_a_person_makes_or_sends_elsewhere_does_not_run_yet(
    cast: Cast, owner: Access
) -> None:
    made = schedules.create_schedule(owner, weekly(OTHER))
    Schedule.objects.update(next_payout_at=clock.real_now())
    assert runs.run_schedules() == 0
    with pytest.raises(runs.RunRefused, match="This schedule can be used from"):
        runs.run_by_hand(owner, made)
    with later(25):
        assert runs.run_schedules() == 1
        other = schedules.update_schedule(owner, made, ScheduleRequest(destination_address=ADDRESS))
        assert other.usable_from is not None and other.usable_from > clock.real_now()
        same = schedules.update_schedule(owner, made, ScheduleRequest(frequency="daily"))
        assert same.usable_from == other.usable_from
        key = schedules.update_schedule(
            cast.bakery.access("live"), made, ScheduleRequest(destination_address=OTHER)
        )
        assert key.usable_from is None


def test_automatic_swaps_begin_after_the_waiting_period(cast: Cast, owner: Access) -> None:
    Asset.objects.filter(pk="ETH_USDC").update(contract_address="0x" + "01" * 20, is_active=True)
    setting = set_auto_swap(owner, "ETH_USDC")
    assert setting.since > clock.real_now() + timedelta(hours=23)
    assert set_auto_swap(owner, None).target_asset_id is None, "nothing waits to be stopped"


def test_a_list_with_new_addresses_is_sent_a_day_later(cast: Cast, owner: Access) -> None:
    make.store_coins(cast.bakery.store, "ETH", 10**18)
    raw = f"asset_id,amount,destination\nETH,0.1,{ADDRESS}\n".encode()
    batch = batches.open_batch(
        owner, cast.bakery.store, cast.alice, filename="a.csv", raw=raw, form_key="a" * 32
    )
    batches.release_batch(owner, batch, cast.alice, batch.digest)
    assert batches.release_lines() == 0
    with later(25):
        assert batches.release_lines() == 1
    assert PayoutBatchLine.objects.get().status == "created"


# --- stopping -------------------------------------------------------------------------------------


def test_every_owner_gets_a_link_that_stops_it_once_without_signing_in(
    cast: Cast, owner: Access
) -> None:
    second = person("olga")
    join(cast.bakery.store, second, Role.OWNER)
    saved = wallet(cast, owner)
    sent = dict(links())
    assert set(sent) == {cast.alice.email, second.email}
    path = sent[second.email]
    visitor = Browser()
    assert (
        "A payout destination was added" in text(visitor.get(path))
        and Destination.objects.get().removed_at is None
    )
    assert "Nothing can be sent to it." in text(visitor.post(path))
    saved.refresh_from_db()
    assert saved.removed_at is not None
    assert "Nothing to stop" in text(visitor.post(sent[cast.alice.email]))


def test_a_link_stops_nothing_that_has_taken_effect_and_none_can_be_made_up(
    cast: Cast, owner: Access
) -> None:
    wallet(cast, owner)
    ((_, path),) = links()
    with later(25):
        assert "Nothing to stop" in text(Browser().post(path))
    assert Destination.objects.get().removed_at is None
    made_up = Browser().post(path[:-1] + ("a" if path[-1] != "a" else "b"))
    assert made_up.status_code == 404 and "This link no longer works" in text(made_up)


@pytest.mark.parametrize("what", ["schedule", "swaps", "list"])
def test_each_waiting_period_is_stopped(cast: Cast, owner: Access, what: str) -> None:
    make.store_coins(cast.bakery.store, "ETH", 10**18)
    Asset.objects.filter(pk="ETH_USDC").update(contract_address="0x" + "01" * 20, is_active=True)
    if what == "schedule":
        schedules.create_schedule(owner, weekly(OTHER))
    elif what == "swaps":
        set_auto_swap(owner, "ETH_USDC")
    else:
        raw = f"asset_id,amount,destination\nETH,0.1,{ADDRESS}\n".encode()
        batch = batches.open_batch(
            owner, cast.bakery.store, cast.alice, filename="a.csv", raw=raw, form_key="a" * 32
        )
        batches.release_batch(owner, batch, cast.alice, batch.digest)
    ((_, path),) = links()
    assert "Stopped" in text(Browser().post(path))
    with later(25):
        assert runs.run_schedules() == 0 and batches.release_lines() == 0
    assert not Schedule.objects.filter(deleted_at=None).exists()
    assert not AutoSwap.objects.exclude(target_asset=None).exists()
    assert "Nothing to stop" in text(Browser().post(path))


def test_the_dashboard_says_from_when_and_offers_to_stop(cast: Cast, owner: Access) -> None:
    wallet(cast, owner)
    schedules.create_schedule(owner, weekly(OTHER))
    browser = Browser(cast.alice)
    forms = (
        "payouts/destinations/wallet",
        "payouts/destinations/bank",
        "payouts/schedules/new",
        "settings/auto-swap",
    )
    for form in forms:
        assert "owner is emailed" not in text(browser.get(form)), form
    browser.switch("live")
    for form in forms:
        assert "takes effect 24 hours after you save it" in text(browser.get(form)), form
    for room in (
        "payouts/destinations",
        "payouts/schedules",
        f"payouts/schedules/{Schedule.objects.get().pk}",
    ):
        assert "Usable from" in text(browser.get(room)), room
    assert "Stop" in text(browser.get("payouts/destinations"))


# --- the time itself ------------------------------------------------------------------------------


def hours(cast: Cast) -> int:
    return waiting_period.hours_of(WaitingPeriodSettings.of(cast.bakery.store), clock.real_now())


def test_a_longer_time_counts_at_once_and_a_shorter_one_after_the_present_one(
    cast: Cast, owner: Access
) -> None:
    waiting_period.change_hours(owner, 48)
    assert hours(cast) == 48
    waiting_period.change_hours(owner, 0)
    with later(47):
        assert hours(cast) == 48
    with later(49):
        assert hours(cast) == 0
        assert wallet(cast, owner).usable_from is None


def test_a_shorter_time_is_told_and_can_be_stopped(cast: Cast, owner: Access) -> None:
    waiting_period.change_hours(owner, 1)
    ((whom, path),) = links()
    assert whom == cast.alice.email
    assert "Change canceled. The waiting period stays the same." in text(Browser().post(path))
    with later(25):
        assert hours(cast) == 24


@pytest.mark.parametrize("wrong", [-1, 73])
def test_a_time_is_from_0_to_72_hours(cast: Cast, owner: Access, wrong: int) -> None:
    with pytest.raises(waiting_period.NotHours):
        waiting_period.change_hours(owner, wrong)
    assert hours(cast) == 24
