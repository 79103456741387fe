"""The ways to pay as a page shows them: their order, how long they take, and what a wallet is to
send."""

import json
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.chain.sending.calls import transfer
from apps.core import clock
from apps.payments.documents.checkout import checkout_facts
from apps.payments.documents.ways import WayToPay, grouped, ways_of
from apps.payments.models import Payment
from apps.payments.selectors import received_by
from tests import make
from tests.cast import Shop

pytestmark = pytest.mark.django_db


def ways(payment_id: str) -> list[WayToPay]:
    payment = Payment.objects.select_related("store").get(pk=payment_id)
    received = received_by(payment)
    return ways_of(
        checkout_facts(payment, clock.now(payment.store, payment.mode), received), received
    )


def test_stablecoins_come_first_and_among_them_what_confirms_first(
    bakery: Shop, settings: Any
) -> None:
    settings.CHAIN_URLS = {}  # coins of every network may be simulated
    Asset.objects.filter(pk__in=["POL_USDC", "BASE_USDC", "ARB_USDC", "BASE_ETH"]).update(
        is_active=True
    )
    accept_all_active(bakery.store)
    refresh()
    made = make.payment(bakery.live)
    told = ["ETH", "ETH_USDC", "ETH_USDT", "POL_USDC", "BASE_USDC", "ARB_USDC", "BASE_ETH"]
    assert [
        payment_address["supported_asset"]["asset_id"]
        for payment_address in made["payment_addresses"]
    ] == told
    shown = ways(made["id"])
    assert [item.asset_id for item in shown] == [
        "ARB_USDC",
        "BASE_USDC",
        "ETH_USDC",
        "ETH_USDT",
        "POL_USDC",
        "BASE_ETH",
        "ETH",
    ]
    assert [(is_stable, len(those)) for is_stable, those in grouped(shown)] == [
        (True, 5),
        (False, 2),
    ]
    assert [(item.wait_minutes, item.wait_seconds) for item in shown[:3]] == [
        (0, 10),
        (1, 0),
        (3, 0),
    ]


def test_a_wallet_is_asked_for_what_is_due_and_nothing_else(bakery: Shop) -> None:
    made = make.payment(bakery.live)
    for way in ways(made["id"]):
        asset = Asset.objects.select_related("chain").get(pk=way.asset_id)
        address = way.address
        asked = json.loads(way.transaction)
        to, value, data = transfer(asset, address.address, int(address.crypto_amount_atomic))
        assert (asked["to"].lower(), int(asked["value"], 16), asked["data"]) == (
            to.lower(),
            value,
            data,
        )
        assert int(asked["chainId"], 16) == asset.chain.chain_id and int(
            asked["amount"], 16
        ) == int(address.crypto_amount_atomic)
        assert way.network == "", "every wallet has Ethereum"
    made = make.payment(bakery.test)
    (way,) = ways(made["id"])
    assert (
        json.loads(way.network)["chainId"] == json.loads(way.transaction)["chainId"] == "0xaa36a7"
    )


def test_after_a_part_it_is_asked_for_the_rest_and_after_all_for_nothing(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    make.simulated(bakery.test, made["id"], "underpaid")
    (way,) = ways(made["id"])
    assert (
        int(json.loads(way.transaction)["value"], 16)
        == int(way.address.outstanding_atomic)
        < int(way.address.crypto_amount_atomic)
    )
    make.simulated(bakery.test, made["id"], "exact", reference="rest")
    (way,) = ways(made["id"])
    assert way.transaction == ""
