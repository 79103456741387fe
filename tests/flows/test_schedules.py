"""Stories of payout schedules: what may be asked for, runs by the clock and by hand, and that no
due time is paid twice."""

import calendar
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils.dateparse import parse_datetime

from apps.assets.models import Asset
from apps.core import clock
from apps.core.clock import iso
from apps.payouts.models import Payout, Schedule, ScheduleRun
from apps.payouts.services.destinations import add_wallet, remove_destination
from apps.payouts.services.runs import follow_swaps, run_schedules
from apps.stores.models import Store
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast, Shop
from tests.contract.test_payouts import bank, rich, wallet

pytestmark = pytest.mark.django_db
DAY = 24 * 3600


def now(shop: Shop) -> datetime:
    return when(shop.test.get("/test_clock").json()["now"])


def when(text: str) -> datetime:
    found = parse_datetime(text)
    assert found is not None
    return found


def ask(shop: Shop, **fields: Any) -> Any:
    body = {"asset_id": "SETH", "frequency": "daily", **fields}
    return shop.test.post("/payout_schedules", {"payout_schedule": body})


def schedule(shop: Shop, **fields: Any) -> dict[str, Any]:
    """Daily, to a saved wallet, due in an hour by default."""
    if not any(name.endswith("_detail_id") or name == "destination_address" for name in fields):
        fields["crypto_payout_detail_id"] = wallet(shop)
    answer = ask(shop, **{"next_payout_at": iso(now(shop) + timedelta(hours=1)), **fields})
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def told(shop: Shop, schedule_id: str) -> dict[str, Any]:
    body: dict[str, Any] = shop.test.get(f"/payout_schedules/{schedule_id}").json()
    return body


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"asset_id": None}, "asset_id is required"),
    ({"asset_id": 5}, "asset_id must be a string"),
    ({"asset_id": "USDC_SETH"}, "Asset is not active"),
    ({"asset_id": "ETH"}, "Asset is not active"),
    *[
        ({"frequency": item}, "Frequency must be daily, weekly or monthly")
        for item in (None, "hourly", 5, "Daily", [])
    ],
    ({"destination_address": None}, "A payout destination is required"),
    ({"destination_address": "x"}, "Destination address is not valid for Ethereum Sepolia"),
    ({"destination_address": None, "crypto_payout_detail_id": "x"}, "Payout detail not found"),
    ({"minimum_fiat_currency": "DKK"}, "Minimum fiat currency is not supported"),
    ({"minimum_fiat_cents": -1}, "minimum_fiat_cents must be at least 0"),
    ({"minimum_fiat_cents": "5"}, "minimum_fiat_cents must be an integer"),
    ({"active": "true"}, "active must be true or false"),
    *[
        ({"next_payout_at": item}, "next_payout_at must be an ISO 8601 date-time with a time zone")
        for item in (
            "2026-06-30T23:59:60Z",
            "2030-01-01",
            "tomorrow",
            5,
            "2030-01-01T00:00:00",
            "0001-01-01T00:00:00+23:59",
        )
    ],
    ({"next_payout_at": "2001-01-01T00:00:00Z"}, "next_payout_at must be in the future"),
    ({"next_payout_at": "9999-01-01T00:00:00Z"}, "next_payout_at must be within 10 years"),
    ({"swap_target_asset_id": "SETH"}, "Source and buy asset must differ"),
]


def test_what_is_wrong_is_listed(bakery: Shop) -> None:
    for changes, sentence in WRONG:
        answer = ask(bakery, **{"destination_address": make.fresh_address(), **changes})
        assert (answer.status_code, answer.json()) == (422, {"errors": [sentence]}), changes
    assert not Schedule.objects.exists()


def test_an_unknown_asset_is_404_and_a_missing_wrapper_is_listed(bakery: Shop) -> None:
    answer = ask(bakery, asset_id="NOPE", destination_address=make.fresh_address())
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, "Asset not found")
    for body in ({}, {"payout_schedule": None}):
        assert bakery.test.post("/payout_schedules", body).json() == {
            "errors": ["payout_schedule is required"]
        }


def test_a_bank_must_be_verified_and_its_store_known(bakery: Shop) -> None:
    Asset.objects.filter(pk="ETH_USDC").update(is_active=True, contract_address="0x" + "c" * 40)

    def refused(account: str, asset_id: str = "ETH_USDC") -> Any:
        body = {"asset_id": asset_id, "frequency": "daily", "fiat_payout_detail_id": account}
        return bakery.live.post("/payout_schedules", {"payout_schedule": body}).json()

    assert refused(bank(bakery, is_verified=False)) == {"errors": ["Bank account is not verified"]}
    assert refused(bank(bakery)) == {"errors": ["Store KYC verification required"]}
    change_store(bakery.store, kyc_confirmed_at=clock.real_now())
    assert refused(bank(bakery), "ETH") == {"errors": ["ETH is not eligible for fiat payouts"]}
    made = refused(bank(bakery))
    assert (
        made["destination_type"],
        made["payout_rail"],
        made["fiat_payout_detail_id"] is None,
    ) == ("fiat", "fiat_manual", False)


def test_one_schedule_per_asset_until_it_is_deleted(bakery: Shop) -> None:
    first = schedule(bakery)
    body = {
        "payout_schedule": {
            "asset_id": "SETH",
            "frequency": "daily",
            "destination_address": make.fresh_address(),
        }
    }
    again = bakery.test.post("/payout_schedules", body, key="same")
    assert (again.status_code, again.json()) == (
        422,
        {"errors": ["Asset already has a payout schedule"]},
    )
    assert bakery.test.delete(f"/payout_schedules/{first['id']}").status_code == 204
    assert told(bakery, first["id"])["active"] is False
    path = f"/payout_schedules/{first['id']}"
    gone = [
        bakery.test.patch(path, {"payout_schedule": {}}),
        bakery.test.delete(path),
        bakery.test.post(f"{path}/run"),
    ]
    assert {item.status_code for item in gone} == {404}
    second = schedule(bakery)
    assert [item["id"] for item in bakery.test.get("/payout_schedules").json()] == [second["id"]]


def test_an_update_ignores_the_asset_drops_nulls_and_switches_the_destination(bakery: Shop) -> None:
    made = schedule(bakery, minimum_fiat_cents=500)
    path = f"/payout_schedules/{made['id']}"
    raw = make.fresh_address()
    change = {
        "asset_id": "NOPE",
        "frequency": "monthly",
        "minimum_fiat_cents": None,
        "crypto_payout_detail_id": None,
    }
    seen = bakery.test.patch(path, {"payout_schedule": change}).json()
    assert (seen["frequency"], seen["minimum_fiat_cents"], seen["destination_type"]) == (
        "monthly",
        500,
        "crypto",
    )
    seen = bakery.test.patch(path, {"payout_schedule": {"destination_address": raw}}).json()
    assert (
        seen["destination_type"],
        seen["destination_address"].lower(),
        seen["crypto_payout_detail_id"],
    ) == ("legacy", raw, None)
    refused = bakery.test.patch(path, {"payout_schedule": {"frequency": "hourly"}})
    assert (refused.status_code, told(bakery, made["id"])["frequency"]) == (422, "monthly")


def test_what_was_due_while_paused_is_not_made_up_for(bakery: Shop) -> None:
    make.funded(bakery.test)
    made = schedule(bakery)
    path = f"/payout_schedules/{made['id']}"
    assert bakery.test.patch(path, {"payout_schedule": {"active": False}}).json()["active"] is False
    assert bakery.test.get("/payout_schedules").json() == []
    make.advance(bakery.test, 3 * DAY)
    seen = bakery.test.patch(path, {"payout_schedule": {"active": True}}).json()
    assert when(seen["next_payout_at"]) > now(bakery) and told(bakery, made["id"])["payouts"] == []


def test_a_run_pays_the_whole_balance_and_then_there_is_none(bakery: Shop) -> None:
    funds = make.funded(bakery.test)
    made = schedule(bakery)
    ran = bakery.test.post(f"/payout_schedules/{made['id']}/run").json()
    (payout,) = told(bakery, made["id"])["payouts"]
    assert (ran["triggered"], ran["payout"]["id"], payout["amount_atomic"]) == (
        True,
        payout["id"],
        str(funds),
    )
    assert payout["payout_schedule_id"] == made["id"] and told(bakery, made["id"])["last_payout_at"]
    assert bakery.test.post(f"/payout_schedules/{made['id']}/run").json() == {
        "triggered": False,
        "skip_reason": "no_balance",
    }
    assert told(bakery, made["id"])["last_skip_reason"] == "no_balance"
    assert told(bakery, made["id"])["next_payout_at"] == made["next_payout_at"]


@pytest.mark.parametrize(
    ("minimum", "paid", "reason"),
    [(None, "0.10", "below_network_minimum"), (10**9, "5.00", "below_minimum")],
)
def test_a_run_declines_below_a_minimum(
    bakery: Shop, minimum: int | None, paid: str, reason: str
) -> None:
    make.paid(bakery.test, amount=paid)
    made = schedule(bakery, **({} if minimum is None else {"minimum_fiat_cents": minimum}))
    assert bakery.test.post(f"/payout_schedules/{made['id']}/run").json() == {
        "triggered": False,
        "skip_reason": reason,
    }


def test_a_run_that_a_rule_refuses_says_so(bakery: Shop) -> None:
    make.funded(bakery.test)
    saved = add_wallet(bakery.store, "test", "sepolia", make.fresh_address())
    made = schedule(bakery, crypto_payout_detail_id=str(saved.pk))
    remove_destination(saved, clock.real_now())
    answer = bakery.test.post(f"/payout_schedules/{made['id']}/run")
    assert (answer.status_code, answer.json()) == (
        422,
        {"error": {"message": "The destination was removed", "code": None}},
    )


def test_the_clock_runs_every_due_time_in_order(bakery: Shop) -> None:
    make.funded(bakery.test)
    made = schedule(bakery)
    make.advance(bakery.test, 3700 + 2 * DAY)
    seen = told(bakery, made["id"])
    assert (len(seen["payouts"]), seen["last_skip_reason"]) == (1, "no_balance")
    assert when(seen["next_payout_at"]) == when(made["next_payout_at"]) + timedelta(days=3)
    assert ScheduleRun.objects.count() == 3


def test_after_an_outage_a_schedule_runs_once(bakery: Shop) -> None:
    make.store_coins(bakery.store, "ETH", 10**18)
    body = {"asset_id": "ETH", "frequency": "daily", "destination_address": make.fresh_address()}
    made = bakery.live.post("/payout_schedules", {"payout_schedule": body}).json()
    due = clock.real_now() - timedelta(days=5, hours=1)
    Schedule.objects.filter(pk=made["id"]).update(next_payout_at=due)
    assert [run_schedules() for _ in range(3)] == [1, 0, 0]
    after = Schedule.objects.get(pk=made["id"])
    assert (Payout.objects.count(), after.next_payout_at) == (1, due + timedelta(days=6))


def test_monthly_steps_keep_the_day_clamped_to_the_months_end(bakery: Shop) -> None:
    start = now(bakery) + timedelta(days=1)
    year = start.year
    month = start.month
    while month not in (1, 3, 5, 8, 10):
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    due = datetime(year, month, 31, 9, tzinfo=UTC)
    short = datetime(year, month + 1, calendar.monthrange(year, month + 1)[1], 9, tzinfo=UTC)
    made = schedule(bakery, frequency="monthly", next_payout_at=iso(due))
    for reached, expected in ((due, short), (short, datetime(year, month + 2, 31, 9, tzinfo=UTC))):
        bakery.test.post("/test_clock/advance", {"to": iso(reached + timedelta(minutes=1))})
        assert when(told(bakery, made["id"])["next_payout_at"]) == expected


@pytest.mark.parametrize(("frequency", "days"), [("daily", 1), ("weekly", 7)])
def test_the_first_run_is_one_period_away_by_default(
    bakery: Shop, frequency: str, days: int
) -> None:
    made = ask(bakery, frequency=frequency, destination_address=make.fresh_address()).json()
    assert (
        abs((when(made["next_payout_at"]) - now(bakery) - timedelta(days=days)).total_seconds())
        < 60
    )


def test_a_schedule_that_swaps_pays_the_bank_what_the_swap_brought(bakery: Shop) -> None:
    Asset.objects.filter(pk="USDC_SETH").update(
        is_active=True, is_fiat_eligible=True, contract_address="0x" + "c" * 40
    )
    rich(bakery, "USDC_SETH")
    make.funded(bakery.test)
    made = schedule(
        bakery, fiat_payout_detail_id=bank(bakery, "test"), swap_target_asset_id="USDC_SETH"
    )
    make.advance(bakery.test, 3700)
    (payout,) = told(bakery, made["id"])["payouts"]
    assert (payout["payout_rail"], payout["asset"]["asset_id"], payout["fiat_currency"]) == (
        "fiat_autoswap",
        "USDC_SETH",
        "EUR",
    )
    make.advance(bakery.test, 60)
    assert told(bakery, made["id"])["payouts"][0]["status"] == "confirmed"
    assert bakery.test.post(f"/payout_schedules/{made['id']}/run").json() == {
        "triggered": False,
        "skip_reason": "no_balance",
    }


def test_a_swap_on_the_way_is_paid_out_once_the_suspension_of_payouts_is_lifted(
    bakery: Shop,
) -> None:
    Asset.objects.filter(pk="USDC_SETH").update(
        is_active=True, is_fiat_eligible=True, contract_address="0x" + "c" * 40
    )
    rich(bakery, "USDC_SETH")
    make.funded(bakery.test)
    made = schedule(
        bakery, fiat_payout_detail_id=bank(bakery, "test"), swap_target_asset_id="USDC_SETH"
    )
    run = ScheduleRun.objects.create(
        schedule_id=made["id"], at=now(bakery), is_swapping=True, amount_atomic=10**16
    )
    stores = Store.objects.filter(pk=bakery.store.pk)
    stores.update(payouts_suspended_at=now(bakery))
    assert follow_swaps() == 0
    run.refresh_from_db()
    assert run.is_swapping and not run.failure
    stores.update(payouts_suspended_at=None)
    assert follow_swaps() == 1
    make.advance(bakery.test, 60)
    (payout,) = told(bakery, made["id"])["payouts"]
    assert payout["payout_rail"] == "fiat_autoswap"


def test_a_swap_target_needs_a_bank(bakery: Shop) -> None:
    Asset.objects.filter(pk="USDC_SETH").update(
        is_active=True, is_fiat_eligible=True, contract_address="0x" + "c" * 40
    )
    answer = ask(bakery, destination_address=make.fresh_address(), swap_target_asset_id="USDC_SETH")
    assert answer.json() == {"errors": ["A swap target needs a bank account"]}


def test_nobody_else_reaches_a_schedule(cast: Cast) -> None:
    path = f"/payout_schedules/{schedule(cast.bakery)['id']}"
    calls: list[Callable[[Any], Any]] = [
        lambda api: api.get(path),
        lambda api: api.patch(path, {"payout_schedule": {"frequency": "weekly"}}),
        lambda api: api.delete(path),
        lambda api: api.post(f"{path}/run"),
    ]
    assert {
        call(api).status_code for call in calls for api in (cast.strangers.test, cast.bakery.live)
    } == {404}
