import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.assets import services
from apps.assets.audit_details import all_coins, detail_lines
from apps.assets.documents import PaymentCurrencyDocument, payment_currencies
from apps.assets.models import Asset
from apps.assets.selectors import accepted_assets
from apps.chain import activation
from apps.core import clock
from apps.core.errors import Failure
from apps.payments.services.pricing import accepted_priced
from apps.stores.models import AuditEntry, Currency
from tests.auditing import found_of
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
        "priced_as": "USDT",
        "active": True,
        "confirmations": 5,
        "finality": "confirmations",
        "sweep_minimum": None,
        "sweep_cost_percent": None,
        "sweep_after_days": None,
    }


SWEEPS = ("--sweep-minimum", "12.5", "--sweep-cost", "2.5", "--sweep-after-days", "30")


def test_an_asset_says_how_it_is_swept_and_the_record_says_who_said_so() -> None:
    output = StringIO()
    call_command("set_asset", "ETH_USDC", *SWEEPS, "--json", stdout=output)
    told = json.loads(output.getvalue())
    names = ("sweep_minimum", "sweep_cost_percent", "sweep_after_days")
    assert [told[name] for name in names] == ["12.5", "2.5", 30]
    line = AuditEntry.objects.get(action="asset.changed")
    columns = {
        "sweep_minimum_atomic": 12_500_000,
        "sweep_cost_bps": 250,
        "sweep_after_days": 30,
    }
    assert line.details == columns
    assert dict(detail_lines(line.details, all_coins(), "ETH_USDC")) == {
        "Minimum sweep": "12.5 USDC",
        "Maximum cost of a sweep": "2.5%",
        "Sweep smaller deposits after days": "30",
    }
    options = [option if option.startswith("--") else "default" for option in SWEEPS]
    call_command("set_asset", "ETH_USDC", *options, stdout=output)
    asset = Asset.objects.get(pk="ETH_USDC")
    assert [getattr(asset, name) for name in columns] == [None, None, None]
    assert found_of("settings_logged") == []
    Asset.objects.filter(pk="ETH_USDC").update(sweep_after_days=1)
    assert found_of("settings_logged"), "which no line says"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--sweep-minimum", "0", "The minimum sweep must be above zero"),
        ("--sweep-minimum", "1e3", "'1e3' is no number for --sweep-minimum"),
        ("--sweep-minimum", "0.0000001", "is no number for --sweep-minimum"),
        ("--sweep-cost", "100.01", "up to 100 percent"),
        ("--sweep-cost", "0", "up to 100 percent"),
        ("--sweep-after-days", "0", "from 1 to 3650"),
        ("--sweep-after-days", "99999", "from 1 to 3650"),
        ("--sweep-after-days", "1.5", "'1.5' is no number for --sweep-after-days"),
    ],
)
def test_sweeps_out_of_bounds_are_refused(
    option: str, value: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises((SystemExit, CommandError)) as end:
        call_command("set_asset", "ETH_USDC", option, value)
    assert said in capsys.readouterr().err + str(end.value)
    assert Asset.objects.get(pk="ETH_USDC").sweep_cost_bps is None


@pytest.mark.parametrize(
    "values",
    [
        {"sweep_minimum_atomic": 0},
        {"sweep_minimum_atomic": 10**60},
        {"sweep_cost_bps": 0},
        {"sweep_cost_bps": 10_001},
        {"sweep_after_days": 0},
        {"sweep_after_days": 3_651},
    ],
)
def test_the_database_bounds_how_an_asset_is_swept(values: dict[str, int]) -> None:
    rows = Asset.objects.filter(pk="ETH_USDC")
    with pytest.raises(IntegrityError, match="asset_sweeps_are_bounded"), transaction.atomic():
        rows.update(**values)
    rows.update(sweep_minimum_atomic=1, sweep_cost_bps=10_000, sweep_after_days=3_650)


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
