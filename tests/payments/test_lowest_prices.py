"""The price below which a store refuses a coin that keeps to a currency's price."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.access.access import Access
from apps.assets.lowest_prices import (
    NotAccepted,
    NotBetween,
    NotPegged,
    lowest_prices,
    price_text,
    set_lowest_price,
)
from apps.assets.models import AcceptedAsset, Rate
from apps.assets.services import set_accepted
from apps.core import clock
from apps.payments.models import Payment
from apps.stores.models import AuditEntry
from tests import make
from tests.cast import Cast, Shop, signed_in
from tests.dashboard.browse import Browser, text


@pytest.fixture
def access(bakery: Shop) -> Access:
    return signed_in(bakery.owner, bakery.store, "live")


def quote(asset_id: str, price: str, currency: str = "USD") -> None:
    Rate.objects.filter(asset=asset_id, currency=currency).update(rate=Decimal(price))


def offered(made: Any) -> list[str]:
    return [way["supported_asset"]["asset_id"] for way in made["payment_addresses"]]


@pytest.mark.parametrize(
    ("price", "is_offered"), [("0.98", True), ("0.979999", False), ("1.02", True)]
)
def test_a_coin_below_its_lowest_price_is_left_out(
    bakery: Shop, access: Access, price: str, is_offered: bool
) -> None:
    set_lowest_price(access, "ETH_USDC", "0.98")
    quote("ETH_USDC", price)
    ways = offered(make.payment(bakery.live, currency="EUR"))
    assert ways == (["ETH", "ETH_USDC", "ETH_USDT"] if is_offered else ["ETH", "ETH_USDT"])


def test_without_a_lowest_price_it_is_priced_as_it_is(bakery: Shop, access: Access) -> None:
    quote("ETH_USDC", "0.50")
    assert "ETH_USDC" in offered(make.payment(bakery.live))
    set_lowest_price(access, "ETH_USDC", "0.98")
    set_lowest_price(access, "ETH_USDC", None)
    assert "ETH_USDC" in offered(make.payment(bakery.live))


def test_each_store_and_mode_has_a_lowest_price_of_its_own(cast: Cast, access: Access) -> None:
    set_lowest_price(access, "ETH_USDC", "0.98")
    quote("ETH_USDC", "0.97")
    assert "ETH_USDC" not in offered(make.payment(cast.bakery.live))
    assert "ETH_USDC" in offered(make.payment(cast.strangers.live))


def test_what_a_coin_is_worth_nobody_knows_is_left_out(bakery: Shop, access: Access) -> None:
    set_lowest_price(access, "ETH_USDC", "0.98")
    past = clock.real_now() - timedelta(seconds=1)
    Rate.objects.filter(asset="ETH_USDC", currency="USD").update(valid_until=past)
    assert "ETH_USDC" not in offered(make.payment(bakery.live, currency="EUR"))


def test_a_payment_that_has_its_prices_keeps_them(bakery: Shop, access: Access) -> None:
    made = make.payment(bakery.live)
    set_lowest_price(access, "ETH_USDC", "0.98")
    quote("ETH_USDC", "0.90")
    assert "ETH_USDC" in offered(bakery.live.get(f"/payments/{made['id']}").json())


def test_a_store_that_refuses_all_its_coins_says_so(bakery: Shop, access: Access) -> None:
    for asset_id in ("ETH_USDC", "ETH_USDT"):
        set_lowest_price(access, asset_id, "0.98")
        quote(asset_id, "0.90")
    set_accepted(access, "ETH", False)
    count = Payment.objects.count()
    body = {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    answer = bakery.live.post("/payments", body)
    assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1
    assert answer.json() == {
        "error": {
            "code": "coins_below_lowest_price",
            "message": "The accepted assets are below the lowest price that the store takes them"
            " at",
        }
    }
    assert Payment.objects.count() == count


def test_checkout_lists_no_coin_that_is_refused(bakery: Shop, access: Access, client: Any) -> None:
    set_lowest_price(access, "ETH_USDC", "0.98")
    quote("ETH_USDC", "0.90")
    made = make.payment(bakery.live)
    page = client.get(f"/pay/{made['reference']}").content.decode()
    assert "USDT" in page and "USDC" not in page


def test_only_an_accepted_coin_with_a_par_has_a_lowest_price(access: Access) -> None:
    with pytest.raises(NotPegged):
        set_lowest_price(access, "ETH", "0.98")
    for price in ("0.4999", "1.0001", "2"):
        with pytest.raises(NotBetween):
            set_lowest_price(access, "ETH_USDC", price)
    set_accepted(access, "ETH_USDC", False)
    with pytest.raises(NotAccepted):
        set_lowest_price(access, "ETH_USDC", "0.98")
    assert not AcceptedAsset.objects.exclude(lowest_price_bps=None).exists()


def test_a_change_is_in_the_audit_log_once(access: Access) -> None:
    set_lowest_price(access, "ETH_USDC", "0.985")
    set_lowest_price(access, "ETH_USDC", "0.985")
    entry = AuditEntry.objects.get(action="asset.lowest_price_changed")
    assert entry.details == {"lowest_price_bps": [None, 9850]}
    assert lowest_prices(access)["ETH_USDC"].text == "0.985"


@pytest.mark.parametrize(
    ("bps", "price"), [(5_000, "0.50"), (9_800, "0.98"), (9_985, "0.9985"), (10_000, "1.00")]
)
def test_a_price_is_told_with_two_places_at_least(bps: int, price: str) -> None:
    assert price_text(bps) == price


def test_owners_set_it_in_the_settings_and_see_what_is_left_out(cast: Cast) -> None:
    owner = Browser(cast.alice)
    owner.switch("live")
    form = {"asset_id": "ETH_USDC", "to": "priced"}
    assert owner.post("settings/assets", lowest_price="0,98", **form).status_code == 303
    page = owner.get("settings/assets")
    assert 'value="0.98"' in page.content.decode() and "Below your" not in text(page)
    quote("ETH_USDC", "0.90")
    assert "Below your lowest price" in text(owner.get("settings/assets"))
    for wrong in ("x", "0.3", "7"):
        refused = owner.post("settings/assets", lowest_price=wrong, **form)
        assert refused.status_code == 422 and "lowest price" in text(refused)
    assert owner.post("settings/assets", lowest_price="", **form).status_code == 303
    assert "Below your lowest price" not in text(owner.get("settings/assets"))
    bob = Browser(cast.bob)
    bob.switch("live")
    assert bob.post("settings/assets", lowest_price="0.98", **form).status_code == 403
