"""A platform's figures and its sub-merchants' payments, and the demo's platform."""

from datetime import date, timedelta
from typing import Any

import pytest

from apps.platforms.services.overview import days_of, overview
from apps.stores.models import Store, Verification
from apps.stores.services import change_store
from dev.demo.platforms import NAME, seed_platform
from tests import make
from tests.cast import Cast
from tests.platforms.makers import Platform


def told(platform: Platform, query: str = "") -> dict[str, Any]:
    answer = platform.test.get(f"/platform/overview{query}")
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("?to=2024-03-31", "2024-03-02", "2024-03-31"),
        ("?from=2024-01-01&to=2024-01-01", "2024-01-01", "2024-01-01"),
        ("?from=2024-02-01&to=2024-01-01", "2024-01-01", "2024-01-01"),
        ("?from=2020-01-01&to=2023-12-31", "2023-01-01", "2023-12-31"),
        ("?from=0001-01-01&to=0001-01-02", "1970-01-02", "1971-01-01"),
        ("?from=9999-12-31&to=9999-12-31", "9999-12-31", "9999-12-31"),
    ],
)
def test_ranges_are_days_both_inclusive_and_at_most_a_year(
    platform: Platform, query: str, first: str, last: str
) -> None:
    body = told(platform, query)
    assert (body["from"], body["to"]) == (first, last)


@pytest.mark.parametrize(
    "query", ["", "?from=&to=", "?from=yesterday&to=2024-02-30", "?from=%00&to=2024-1-1"]
)
def test_days_that_can_not_be_read_are_the_defaults(platform: Platform, query: str) -> None:
    body = told(platform, query)
    last = platform.shop.access().now().date()
    assert (body["from"], body["to"]) == ((last - timedelta(days=29)).isoformat(), last.isoformat())


def test_merchants_are_counted_as_they_are_now(platform: Platform) -> None:
    platform.sub()
    platform.sub(kyc=False)
    platform.attest(platform.sub(kyc=False).id)
    gone = platform.sub(kyc=False)
    platform.test.delete(f"/platform/accounts/{gone.id}")
    verified = platform.sub(kyc=False)
    platform.attest(verified.id)
    Verification.objects.filter(store_id=verified.id).update(status="approved")
    change_store(
        Store.objects.get(pk=verified.id),
        kyc_confirmed_at=Store.objects.get(pk=verified.id).created_at,
    )
    body = told(platform, "?to=2024-01-01")
    names = ("sub_merchant_count", "activated_count", "verified_count", "pending_count")
    assert [body[name] for name in names] == [4, 2, 1, 1]


def test_volume_stays_in_its_currencies_and_merchants_are_ranked_by_worth(
    platform: Platform,
) -> None:
    small = platform.sub(name="Small")
    large = platform.sub(name="Large")
    make.paid(small.test, amount="19.00")
    make.paid(large.test, amount="3000", currency="JPY")
    make.payment(small.test, amount="400.00")
    body = told(platform)
    assert body["completed_payments"] == 2
    assert body["volume_by_currency"] == [
        {"currency": "EUR", "amount_cents": 1900},
        {"currency": "JPY", "amount_cents": 300_000},
    ]
    # 2000 USD, 1800 EUR and 300000 JPY are one coin: 3000 JPY are 18 EUR.
    assert body["top_sub_merchants"] == [
        {"account_id": small.id, "name": "Small", "amount_cents": 1900},
        {"account_id": large.id, "name": "Large", "amount_cents": 1800},
    ]


def test_the_ranking_names_five_at_most(platform: Platform) -> None:
    for number in range(6):
        make.paid(platform.sub(name=f"Stall {number}").test, amount=f"{10 + number}.00")
    assert [
        top_sub_merchant["name"] for top_sub_merchant in told(platform)["top_sub_merchants"]
    ] == [f"Stall {number}" for number in (5, 4, 3, 2, 1)]


def test_figures_and_payments_are_a_modes_own_and_the_platforms_own(
    platform: Platform, other: Platform
) -> None:
    mine = platform.sub()
    theirs = other.sub()
    made = make.paid(mine.test)
    make.paid(theirs.test)
    make.paid(platform.test)
    assert (told(platform)["completed_payments"], told(other)["completed_payments"]) == (1, 1)
    live = platform.live.get("/platform/overview").json()
    assert (live["livemode"], live["completed_payments"], live["platform_fee_earned"]) == (
        True,
        0,
        [],
    )
    assert platform.live.get("/platform/payments").json()["data"] == []
    assert [item["id"] for item in platform.test.get("/platform/payments").json()["data"]] == [
        made["id"]
    ]
    assert platform.test.get(f"/platform/payments?account_id={theirs.id}").json()["data"] == []


def test_a_row_is_the_documented_summary(platform: Platform) -> None:
    merchant = platform.sub(platform_fee_percentage="0.02", external_id="b-7")
    made = make.payment(merchant.test, amount="12.34", metadata={"k": "v"})
    body = platform.test.get("/platform/payments").json()
    assert body["data"] == [
        {
            "id": made["id"],
            "reference": made["reference"],
            "status": "pending",
            "settlement_currency": "EUR",
            "settlement_amount_cents": 1234,
            "platform_fee_percentage": "0.02",
            "created_at": made["created_at"],
            "account": {"id": merchant.id, "name": "Corner Shop", "external_id": "b-7"},
        }
    ]
    assert body["meta"] == {"page": 1, "per_page": 25, "total": 1, "total_pages": 1}


def test_rows_are_filtered_and_paged(platform: Platform) -> None:
    one = platform.sub()
    two = platform.sub()
    made = [make.payment(one.test)["id"], make.paid(one.test)["id"], make.payment(two.test)["id"]]

    def ids(query: str) -> list[str]:
        return [row["id"] for row in platform.test.get(f"/platform/payments{query}").json()["data"]]

    assert ids("") == ids("?status=nonsense") == ids("?per_page=0x&page=-1") == made[::-1]
    assert ids("?status=pending") == [made[2], made[0]]
    assert ids(f"?account_id={one.id}&status=completed") == [made[1]]
    assert ids("?account_id=x") == ids("?page=9") == []
    assert ids("?per_page=1&page=2") == [made[1]]


def test_the_demo_has_a_platform_with_two_sub_merchants_once(cast: Cast) -> None:
    for _ in range(2):
        seed_platform(cast.alice)
    platform = Store.objects.get(name=NAME)
    access = cast.bakery.access()
    days = days_of(None, date.max.isoformat(), date.max)
    seen = overview(type(access).for_session(cast.alice, platform, "test"), days)
    assert (seen.sub_merchant_count, seen.activated_count, seen.pending_count) == (2, 1, 1)
    assert Store.objects.filter(platform=platform).count() == 2
