"""The three-way split: snapshotted when a payment is made, booked to the atomic unit, given back in
proportion, summed up."""

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.core import money
from apps.ledger.selectors import account_balance
from apps.stores.services import change_store
from tests import make
from tests.platforms.makers import Platform, refusal
from tests.whole import usually


def earned(platform: Platform) -> dict[str, int]:
    told = platform.test.get("/platform/overview").json()["platform_fee_earned"]
    return {item["asset_id"]: int(item["amount_atomic"]) for item in told}


def available(store_id: object) -> int:
    return account_balance(store_id, "test", "SETH", "available")  # type: ignore[arg-type]


def test_rates_are_those_of_the_moment_the_payment_was_made(platform: Platform) -> None:
    merchant = platform.sub(platform_fee_percentage="0.02")
    made = make.payment(merchant.test)
    platform.test.patch(
        f"/platform/accounts/{merchant.id}", {"account": {"platform_fee_percentage": "0.09"}}
    )
    change_store(platform.store, fee_fraction=Decimal("0.07"), platform_fee_fraction=Decimal("0.5"))
    told = make.simulated(merchant.test, made["id"])
    assert (told["fee_percentage"], told["platform_fee_percentage"]) == ("0.01", "0.02")
    [figures] = told["financials"]["assets"]
    gross, service, fee, net = (
        int(figures[f"{item}_atomic"]) for item in ("gross", "service_fee", "platform_fee", "net")
    )
    assert (service, fee, net) == (gross // 100, gross // 50, gross - gross // 100 - gross // 50)
    assert (available(merchant.id), available(platform.store.pk)) == (net, fee)
    after = make.paid(merchant.test)
    assert (after["fee_percentage"], after["platform_fee_percentage"]) == ("0.07", "0.09")


def test_the_platforms_default_holds_where_an_account_has_no_fee_of_its_own(
    platform: Platform,
) -> None:
    merchant = platform.sub()
    assert make.payment(merchant.test)["platform_fee_percentage"] == "0.015"
    change_store(platform.store, platform_fee_fraction=None)
    assert make.payment(merchant.test)["platform_fee_percentage"] is None
    assert platform.account(merchant.id)["platform_fee_percentage"] is None


def test_a_platforms_own_payments_bear_no_platform_fee(platform: Platform) -> None:
    told = make.paid(platform.test)
    assert told["platform_fee_percentage"] is None and earned(platform) == {}


def test_fees_that_leave_nothing_make_no_payment(platform: Platform) -> None:
    merchant = platform.sub(platform_fee_percentage="0.9")
    change_store(platform.store, fee_fraction=Decimal("0.1"))
    refusal(
        merchant.test.post("/payments", {"payment_intent": {"amount": "1.00", "currency": "EUR"}}),
        422,
        "fees_exceed_amount",
    )


@pytest.mark.parametrize("mode", ["test", "live"])
def test_without_kyc_nothing_is_sold_in_either_mode(platform: Platform, mode: str) -> None:
    merchant = platform.sub(kyc=False)
    api = merchant.test if mode == "test" else merchant.live
    refusal(
        api.post("/payments", {"payment_intent": {"amount": "1.00", "currency": "EUR"}}),
        403,
        "kyc_required",
    )
    assert api.get("/payments").json()["data"] == []


@settings(
    max_examples=usually(short=3, whole=6),
    deadline=timedelta(seconds=60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    payments=st.lists(
        st.tuples(
            st.integers(1, 9_999_999),
            st.integers(0, 30_000_000),
            st.sampled_from(["exact", "overpaid"]),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_fees_earned_are_the_sum_of_what_the_snapshots_say(
    platform: Platform, payments: list[tuple[int, int, str]]
) -> None:
    before = earned(platform).get("SETH", 0)
    expected = 0
    merchant = platform.sub()
    for cents, fee, scenario in payments:
        fraction = money.fraction_text(Decimal(fee).scaleb(-8))
        platform.test.patch(
            f"/platform/accounts/{merchant.id}", {"account": {"platform_fee_percentage": fraction}}
        )
        told = (
            make.paid(merchant.test, amount=money.text_from_cents(cents))
            if scenario == "exact"
            else _overpaid(merchant.test, cents)
        )
        [figures] = told["financials"]["assets"]
        gross, service, part, net = (
            int(figures[f"{item}_atomic"])
            for item in ("gross", "service_fee", "platform_fee", "net")
        )
        assert part == money.fee_of(gross, Decimal(told["platform_fee_percentage"]))
        assert gross == service + part + net
        expected += part
    assert earned(platform).get("SETH", 0) - before == expected
    assert available(platform.store.pk) == before + expected


def _overpaid(api: object, cents: int) -> dict[str, object]:
    made = make.payment(api, amount=money.text_from_cents(cents))  # type: ignore[arg-type]
    return make.simulated(api, made["id"], "overpaid")  # type: ignore[arg-type]


def test_a_refund_gives_the_platforms_part_back_and_the_overview_says_so(
    platform: Platform,
) -> None:
    merchant = platform.sub()
    told = make.paid(merchant.test)
    [figures] = told["financials"]["assets"]
    fee = int(figures["platform_fee_atomic"])
    before = available(merchant.id)
    refunded = 10**15
    body = {"refund": {"amount": "0.001", "destination_address": make.fresh_address()}}
    assert merchant.test.post(f"/payments/{told['id']}/refunds", body, key="one").status_code == 201
    make.advance(merchant.test, 61)
    given_back = money.fee_of(refunded, Decimal("0.015"))
    assert make.detail(merchant.test, told["id"])["status"] == "refunded"
    assert available(merchant.id) == before - refunded + given_back
    assert available(platform.store.pk) == fee - given_back
    assert earned(platform) == {"SETH": fee - given_back}
