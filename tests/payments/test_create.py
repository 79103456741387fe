"""POST /payments: what is made, what is locked, and that it is made once."""

from typing import Any

import pytest

from apps.assets.models import AcceptedAsset
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.chain import addresses, selectors
from tests import make
from tests.bench.networks import NETWORKS, offer
from tests.cast import Api, Shop


def test_a_payment_has_an_address_for_every_accepted_asset(bakery: Shop) -> None:
    made = make.payment(bakery.live)
    assert [entry["supported_asset"]["asset_id"] for entry in made["payment_addresses"]] == [
        "ETH",
        "ETH_USDC",
        "ETH_USDT",
    ]
    assert len({entry["address"] for entry in made["payment_addresses"]}) == 3


def test_the_amount_is_what_the_rate_says_rounded_up_to_what_can_be_typed(bakery: Shop) -> None:
    (entry,) = make.payment(bakery.test, amount="10.00")["payment_addresses"]
    assert entry["exchange_rate_snapshot"] == "1800." + "0" * 18
    assert entry["crypto_amount"] == "0.00555556"
    assert entry["crypto_amount_atomic"] == "5555560000000000"


def test_the_same_key_answers_the_first_payment_again(bakery: Shop) -> None:
    first = make.payment(bakery.test, key="order-1")
    again = bakery.test.post(
        "/payments", {"payment_intent": {"amount": "99.00", "currency": "USD"}}, key="order-1"
    )
    assert again.status_code == 201
    assert again.json()["id"] == first["id"]
    assert again.headers["Idempotent-Replayed"] == "true"


def test_secret_and_publishable_keys_have_keys_of_their_own(bakery: Shop) -> None:
    public = Api(bakery.secrets["test_publishable"])
    assert (
        make.payment(bakery.test, key="order-1")["id"] != make.payment(public, key="order-1")["id"]
    )


def test_the_fee_on_top_leaves_the_merchant_the_base(bakery: Shop) -> None:
    paid = make.paid(bakery.test, customer_pays_fee=True)
    (entry,) = paid["payment_addresses"]
    assert int(entry["base_crypto_atomic"]) + int(entry["fee_crypto_atomic"]) == int(
        entry["crypto_amount_atomic"]
    )
    assert int(paid["financials"]["assets"][0]["net_atomic"]) >= int(entry["base_crypto_atomic"])


def test_creating_takes_three_statements_and_nothing_from_outside(
    bakery: Shop, django_assert_num_queries: Any
) -> None:
    addresses._free.clear()  # the first payment takes indexes for many
    make.payment(bakery.live)
    with django_assert_num_queries(3):
        make.payment(bakery.live)


@pytest.mark.parametrize("networks", [1, 6])
def test_it_takes_as_many_statements_for_two_ways_to_pay_as_for_twelve(
    bakery: Shop,
    django_assert_num_queries: Any,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    networks: int,
) -> None:
    settings.CHAIN_URLS = {network: ["http://127.0.0.1:1"] for network in NETWORKS}
    monkeypatch.setattr(selectors, "_begun", set(NETWORKS))
    ids = offer(networks)
    refresh()
    accept_all_active(bakery.store)
    AcceptedAsset.objects.filter(store=bakery.store).exclude(asset__in=ids).delete()
    addresses._free.clear()
    make.payment(bakery.live)
    with django_assert_num_queries(3):
        made = make.payment(bakery.live)
    assert {way["supported_asset"]["asset_id"] for way in made["payment_addresses"]} == set(ids)
