import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.assets import services
from apps.assets.documents import PaymentCurrencyDocument, payment_currencies
from apps.assets.models import Asset
from apps.assets.selectors import accepted_assets
from apps.chain import activation
from apps.core import clock
from apps.core.errors import Failure
from apps.payments.services.pricing import accepted_priced
from apps.stores.models import Currency
from tests.cast import Shop

pytestmark = pytest.mark.django_db
CONTRACT = "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"


def taken(shop: Shop, mode: str) -> list[str]:
    return [asset.pk for asset in accepted_assets(shop.store.pk, mode)]


def test_a_new_store_takes_every_active_asset_of_both_modes(bakery: Shop) -> None:
    assert taken(bakery, "live") == ["ETH", "ETH_USDC", "ETH_USDT"]
    assert taken(bakery, "test") == ["SETH"]


def test_the_last_asset_stays(bakery: Shop) -> None:
    for asset_id in ("ETH", "ETH_USDC"):
        services.set_accepted(bakery.access("live"), asset_id, False)
    with pytest.raises(services.LastAsset):
        services.set_accepted(bakery.access("live"), "ETH_USDT", False)
    assert taken(bakery, "live") == ["ETH_USDT"]


def test_an_asset_of_the_other_mode_is_refused(bakery: Shop) -> None:
    with pytest.raises(services.AssetNotActive):
        services.set_accepted(bakery.access("live"), "SETH", True)


def test_pricing_is_one_query_in_the_order_of_the_assets(bakery: Shop) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        priced = accepted_priced(bakery.store.pk, "live", "EUR", clock.real_now())
    assert len(queries) == 1
    assert [
        (item.asset.pk, item.asset.chain_id, item.asset.chain.required_confirmations)
        for item in priced
    ] == [
        ("ETH", "ethereum", 12),
        ("ETH_USDC", "ethereum", 12),
        ("ETH_USDT", "ethereum", 12),
    ]


def test_every_currency_has_a_name_and_a_symbol() -> None:
    told = {payment_currency.code: payment_currency for payment_currency in payment_currencies()}
    assert told.keys() == set(Currency.values)
    assert told["EUR"] == PaymentCurrencyDocument(code="EUR", label="Euro", symbol="€", decimals=2)
    assert told["JPY"].decimals == 0


def test_a_token_is_switched_on_with_its_contract() -> None:
    Asset.objects.filter(pk="USDT_SETH").update(contract_address=None)
    with pytest.raises(services.NoContract):
        services.change_asset("USDT_SETH", is_active=True)
    output = StringIO()
    call_command(
        "set_asset",
        "USDT_SETH",
        "--contract",
        CONTRACT,
        "--active",
        "true",
        "--confirmations",
        "5",
        "--json",
        stdout=output,
    )
    assert json.loads(output.getvalue()) == {
        "asset_id": "USDT_SETH",
        "network": "sepolia",
        "contract": CONTRACT.lower(),
        "active": True,
        "confirmations": 5,
        "finality": "confirmations",
    }


@pytest.mark.parametrize(
    ("asset_id", "contract"),
    [
        ("ETH", CONTRACT),
        ("ETH_USDC", "0x12"),
        ("ETH_USDC", CONTRACT.swapcase()),
        ("ETH_USDC", "0x" + "0" * 40),
        ("NOPE", CONTRACT),
    ],
)
def test_a_contract_that_is_none_is_refused(asset_id: str, contract: str) -> None:
    with pytest.raises(Failure):
        activation.change_asset(asset_id, contract_address=contract)


def test_two_assets_never_share_a_contract() -> None:
    with pytest.raises(services.ContractTaken):
        services.change_asset(
            "ETH_USDC", contract_address=Asset.objects.get(pk="ETH_USDT").contract_address
        )


def test_a_refused_command_is_one_line_and_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        call_command("set_asset", "NOPE", "--active", "true")
    assert end.value.code == 1
    assert capsys.readouterr().err == "Asset not found\n"
