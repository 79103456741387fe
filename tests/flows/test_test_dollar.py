"""In test mode a merchant tries swaps and payouts with a stablecoin that only exists there, and the
catalogs stay as documented."""

import os
from typing import Any

import pytest
from django.test import Client

from apps.assets.models import Asset
from apps.payouts.services.progress import advance_payouts
from apps.swaps.services.progress import advance_swaps
from tests import auditing, make
from tests.cast import Shop
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.django_db
DOLLAR = "SETH_USDC"


def ok(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return answer.json()


def balance(shop: Shop, asset_id: str) -> int:
    found = {item["asset_id"]: item for item in ok(shop.test.get("/balances"))["balances"]}
    return int(found[asset_id]["balance_atomic"]) if asset_id in found else 0


def swap(shop: Shop, amount: int) -> dict[str, Any]:
    wish = {"source_asset_id": "SETH", "buy_asset_id": DOLLAR, "sell_amount_atomic": str(amount)}
    estimate = ok(shop.test.post("/balance_swaps/quote", wish))
    assert estimate["buy_atomic_decimals"] == 6
    made: dict[str, Any] = ok(shop.test.post("/balance_swaps", wish, key=os.urandom(8).hex()), 201)
    advance_swaps()
    return ok(shop.test.get(f"/balance_swaps/{made['id']}"))  # type: ignore[no-any-return]  # JSON


def test_a_merchant_swaps_into_it_and_pays_it_out(bakery: Shop) -> None:
    make.paid(bakery.test, amount="500.00")
    done = swap(bakery, 10**17)
    assert done["status"] == "completed" and balance(bakery, DOLLAR) == 199_000_000
    assert ok(bakery.test.get("/balances"))["settlement_balance"]["amount_cents"] > 0
    body = {
        "asset_id": DOLLAR,
        "amount_atomic": "5000000",
        "destination_address": "0x" + os.urandom(20).hex(),
    }
    made = ok(bakery.test.post("/payouts", body, key=os.urandom(8).hex()), 201)
    for _ in range(2):
        advance_payouts()
        make.advance(bakery.test, 120)
    assert ok(bakery.test.get(f"/payouts/{made['id']}"))["status"] == "confirmed"
    assert balance(bakery, DOLLAR) == 194_000_000
    assert auditing.breaches() == []


def test_no_catalog_tells_of_it_and_nobody_is_asked_to_pay_in_it(bakery: Shop) -> None:
    assert [item["asset_id"] for item in ok(bakery.test.get("/supported_assets"))] == ["SETH"]
    assert [
        payment_address["supported_asset"]["asset_id"]
        for payment_address in make.payment(bakery.test)["payment_addresses"]
    ] == ["SETH"]
    assert DOLLAR not in text(Browser(bakery.owner).get("settings/assets"))
    assert DOLLAR not in str(
        Client().get("/api/v2/checkout/" + make.payment(bakery.test)["reference"]).json()
    )
    refused = bakery.live.post(
        "/balance_swaps/quote",
        {"source_asset_id": "ETH", "buy_asset_id": DOLLAR, "sell_amount_atomic": "1000"},
    )
    assert ok(refused, 422)["error"] == "Asset is not active"


def test_the_pages_offer_a_swap_that_can_be_made_and_no_other(bakery: Shop) -> None:
    make.store_coins(bakery.store, "SETH", 10**18)
    browser = Browser(bakery.owner)
    form = browser.get("swaps/new").content.decode()
    assert (
        'value="SETH_USDC"' in form.partition("Choose a coin")[2]
        and 'value="SETH"' not in form.partition("Choose a coin")[2]
    )
    Asset.objects.filter(pk=DOLLAR).update(is_active=False)
    assert "Nothing to swap into: test mode has only one coin" in text(browser.get("swaps"))
    page = browser.get("swaps/new")
    assert "Nothing to swap into" in text(page) and 'name="amount"' not in page.content.decode()
    assert "swaps/new" not in browser.get("swaps").content.decode()
