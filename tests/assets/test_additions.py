"""Networks and coins that the catalog lacks: what is added, and what is refused and how."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.assets.models import Asset, Chain
from apps.chain.activation import NotReady, change_asset
from apps.stores.models import AuditEntry
from tests.auditing import found_of
from tests.chain.local import LocalChain, program

pytestmark = pytest.mark.django_db
GNOSIS = {
    "--name": "Gnosis",
    "--symbol": "GNO",
    "--chain-id": "100",
    "--mode": "live",
    "--confirmations": "20",
    "--block-seconds": "5",
    "--fee-coin": "xDAI",
}
DOLLAR = {
    "--network": "gnosis",
    "--coin": "USDC",
    "--name": "USD Coin",
    "--decimals": "6",
    "--contract": "0x2a22f9c3b484c3629090FeED35F17Ff8F88f76F0",
}
COIN = {
    "--network": "gnosis",
    "--coin": "xDAI",
    "--name": "xDAI",
    "--decimals": "18",
    "--minimum": "0.5",
}


def said(command: str, name: str, options: dict[str, str]) -> dict[str, Any]:
    output = StringIO()
    words = [f"{key}={value}" for key, value in options.items()]
    call_command(command, name, *words, "--json", stdout=output)
    answer: dict[str, Any] = json.loads(output.getvalue())
    return answer


def refused(
    capsys: pytest.CaptureFixture[str], command: str, name: str, options: dict[str, str]
) -> str:
    with pytest.raises(SystemExit) as end:
        said(command, name, options)
    assert end.value.code == 1
    return capsys.readouterr().err.strip()


def test_a_network_without_a_coin_of_its_own_names_the_token_that_pays_fees(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said("add_network", "gnosis", {**GNOSIS, "--fees": "stablecoin", "--fee-coin": "USD"})

    def adds(name: str, *flags: str, **options: str) -> str:
        words = [f"{key}={value}" for key, value in {**DOLLAR, **options}.items()]
        with pytest.raises(SystemExit):
            call_command("add_asset", name, *words, *flags)
        return capsys.readouterr().err.strip()

    long = adds("GNO_LONG", "--pays-fees", **{"--decimals": "19"})
    assert long == "A coin that pays fees has at most 18 decimals"
    said("add_asset", "GNO_EUR", {**DOLLAR, "--contract": "0x" + "11" * 20})
    with pytest.raises(NotReady, match="no coin of Gnosis in which fees are paid"):
        change_asset("GNO_EUR", is_active=True)
    words = [f"{key}={value}" for key, value in DOLLAR.items()]
    call_command("add_asset", "GNO_USDC", *words, "--pays-fees")
    assert Asset.objects.get(chain="gnosis", pays_fees=True).pk == "GNO_USDC"
    again = {"--contract": "0x" + "22" * 20}
    assert adds("GNO_MORE", "--pays-fees", **again) == ("Gnosis takes its fees in GNO_USDC already")
    base = {**again, "--network": "base"}
    assert adds("BASE_MORE", "--pays-fees", **base) == "Base takes its fees in its own coin"


def test_a_network_and_its_coins_are_added_and_wait_for_their_activation() -> None:
    assert said("add_network", "gnosis", GNOSIS) == {
        "network": "gnosis",
        "name": "Gnosis",
        "chain_id": 100,
        "mode": "live",
        "confirmations": 20,
        "settings": "CHAIN_NETWORKS=gnosis CHAIN_GNOSIS_URL=…",
    }
    assert said("add_asset", "XDAI", COIN)["contract"] is None
    added = said("add_asset", "GNO_USDC", DOLLAR)
    assert (added["compared"], added["active"]) == (False, False)
    chain = Chain.objects.get(pk="gnosis")
    assert (chain.confirmations_floor, chain.block_milliseconds) == (5, 5_000)
    coin, dollar = Asset.objects.get(pk="XDAI"), Asset.objects.get(pk="GNO_USDC")
    assert (coin.is_native, coin.min_withdrawal_atomic) == (True, 5 * 10**17)
    assert (dollar.is_native, dollar.contract_address) == (False, DOLLAR["--contract"].lower())
    assert dollar.position > coin.position > 0
    with pytest.raises(NotReady, match=r"node of Gnosis \(CHAIN_GNOSIS_URL\)"):
        change_asset("GNO_USDC", is_active=True)
    kinds = AuditEntry.objects.order_by("-id").values_list("action", flat=True)[:3]
    assert list(kinds)[::-1] == ["network.added", "asset.added", "asset.added"]


def test_a_coin_says_how_it_is_swept_when_it_is_added_and_the_record_says_so() -> None:
    said("add_network", "gnosis", GNOSIS)
    sweeps = {"--sweep-minimum": "20", "--sweep-cost": "2.5", "--sweep-after-days": "30"}
    added = said("add_asset", "GNO_USDC", DOLLAR | sweeps)
    names = ("sweep_minimum", "sweep_cost_percent", "sweep_after_days")
    assert [added[name] for name in names] == ["20", "2.5", 30]
    plain = said("add_asset", "XDAI", COIN | {"--sweep-after-days": "7"})
    assert [plain[name] for name in names] == [None, None, 7]
    line = AuditEntry.objects.get(action="asset.changed", target_id="GNO_USDC")
    assert line.details == {
        "sweep_minimum_atomic": 20_000_000,
        "sweep_cost_bps": 250,
        "sweep_after_days": 30,
    }
    assert found_of("settings_logged") == []
    Asset.objects.filter(pk="GNO_USDC").update(sweep_minimum_atomic=1)
    assert found_of("settings_logged"), "which no line says"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"id": "Gnosis"}, "A network's ID has 2 to 20 of a to z, 0 to 9 and _, and begins"),
        ({"id": "x" * 21}, "A network's ID has 2 to 20 of a to z, 0 to 9 and _, and begins"),
        ({"id": "base"}, "There is a network base already"),
        ({"--chain-id": "8453"}, "Chain ID 8453 is that of Base (base)"),
        ({"--chain-id": "0"}, "A chain ID is a number from 1 to 9007199254740991"),
        ({"--chain-id": "9007199254740992"}, "A chain ID is a number from 1 to 9007199254740991"),
        ({"--chain-id": "31337"}, "Chain ID 31337 is that of nodes on one machine: it can't be"),
        ({"--symbol": "BASE"}, "Another network has the short name BASE"),
        ({"--symbol": ""}, "The short name has 1 to 10 of A to Z, a to z and 0 to 9, not ''"),
        ({"--fee-coin": "x DAI"}, "The coin of the fees has 1 to 10 of A to Z, a to z and 0 to 9"),
        ({"--name": " "}, "A name has 1 to 50 characters"),
        ({"--confirmations": "0"}, "Confirmations must be at least their floor, which is 1 or"),
        ({"--floor": "21"}, "Confirmations must be at least their floor, which is 1 or more"),
        ({"--confirmations": "10001"}, "Confirmations must be at least their floor"),
        ({"--block-seconds": "0"}, "The time between blocks must be from 0.05 to 3600 seconds"),
        ({"--block-seconds": "inf"}, "The time between blocks must be from 0.05 to 3600 seconds"),
        ({"--block-seconds": "nan"}, "The time between blocks must be from 0.05 to 3600 seconds"),
        ({"--explorer": "http://gnosisscan.io"}, "The block explorer needs an address that begins"),
        ({"--wallet-url": "https://me:it@gnosis"}, "The node for wallets needs an address that"),
    ],
)
def test_a_network_that_cant_be_right_is_refused_by_a_sentence(
    capsys: pytest.CaptureFixture[str], changed: dict[str, str], sentence: str
) -> None:
    options = GNOSIS | {key: value for key, value in changed.items() if key != "id"}
    told = refused(capsys, "add_network", changed.get("id", "gnosis"), options)
    assert told.startswith(sentence) and "\n" not in told
    assert not Chain.objects.filter(pk="gnosis").exists()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"id": "gno_usdc"}, "An asset's ID has at most 20 of A to Z and 0 to 9, such as"),
        ({"id": "A" * 21}, "An asset's ID has at most 20 of A to Z and 0 to 9, such as"),
        ({"id": "ETH_USDC"}, "There is an asset ETH_USDC already"),
        ({"id": "BSC_USDT"}, "The API promises to have no BSC_USDT: choose another ID"),
        ({"--network": "gnosi"}, "Network not found"),
        ({"--coin": ""}, "The coin has 1 to 10 of A to Z, a to z and 0 to 9, not ''"),
        ({"--name": "x" * 51}, "A name has 1 to 50 characters"),
        ({"--decimals": "37"}, "Decimals must be from 0 to 36"),
        ({"--decimals": "-1"}, "Decimals must be from 0 to 36"),
        ({"--minimum": "0.0000001"}, "The smallest payout is a number of coins with at most 6"),
        ({"--minimum": "a lot"}, "The smallest payout is a number of coins with at most 6"),
        ({"--contract": "0x12"}, "0x12 isn't the address of a contract on Gnosis, or has a typing"),
        (
            {"--contract": DOLLAR["--contract"].swapcase().replace("0X", "0x")},
            "0x2A22F9C3B484C3629090fEed35f17fF8f88F76f0 isn't the address of a contract on Gnosis",
        ),
        ({"--contract": "0x" + "0" * 40}, "0x0000000000000000000000000000000000000000 isn't the"),
        ({"--sweep-minimum": "0"}, "The minimum sweep must be above zero"),
        ({"--sweep-minimum": "0.0000001"}, "'0.0000001' is no number for --sweep-minimum"),
        ({"--sweep-cost": "101"}, "A sweep may cost above 0 and up to 100 percent"),
        ({"--sweep-after-days": "0"}, "The days must be from 1 to 3650"),
        ({"--eip712-name": "USD Coin"}, "An EIP-712 domain has both a name and a version"),
        ({"--contract": ""}, "Gnosis has its own coin already: a token needs a contract"),
        (
            {"--contract": "", "--eip712-name": "x", "--eip712-version": "1"},
            "Only a token has an EIP-712 domain",
        ),
    ],
)
def test_a_coin_that_cant_be_right_is_refused_by_a_sentence(
    capsys: pytest.CaptureFixture[str], changed: dict[str, str], sentence: str
) -> None:
    said("add_network", "gnosis", GNOSIS)
    said("add_asset", "XDAI", COIN)
    options = DOLLAR | {key: value for key, value in changed.items() if key != "id"}
    told = refused(capsys, "add_asset", changed.get("id", "GNO_USDC"), options)
    assert told.startswith(sentence) and "\n" not in told
    assert Asset.objects.filter(chain="gnosis").count() == 1


def test_two_assets_never_share_a_contract_and_tempo_gets_no_coin_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said("add_network", "gnosis", GNOSIS)
    said("add_asset", "GNO_USDC", DOLLAR)
    assert refused(capsys, "add_asset", "GNO_USDC2", DOLLAR) == "Another asset has this contract"
    told = refused(capsys, "add_asset", "TEMPO", COIN | {"--network": "tempo"})
    assert told == "Tempo has no coin of its own: a token needs a contract"


@pytest.fixture
def local(settings: Any) -> Iterator[LocalChain]:
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    local = LocalChain(anvil, chain_id=100)
    settings.CHAIN_URLS = {"gnosis": [local.url]}
    yield local
    local.close()


@pytest.mark.chain
def test_a_node_says_whether_the_contract_is_there_and_counts_so(
    local: LocalChain, capsys: pytest.CaptureFixture[str]
) -> None:
    said("add_network", "gnosis", GNOSIS)
    options = DOLLAR | {"--contract": local.deploy_token(decimals=2)}
    told = refused(capsys, "add_asset", "GNO_USDC", options)
    assert told == "The contract has 2 decimals, not 6"
    nobody = DOLLAR | {"--contract": "0x" + "12" * 20}
    told = refused(capsys, "add_asset", "GNO_USDC", nobody)
    assert told == "There is no contract at this address, as the network's node says"
    added = said("add_asset", "GNO_USDC", options | {"--decimals": "2"})
    assert (added["compared"], added["decimals"]) == (True, 2)
    assert Asset.objects.get(pk="GNO_USDC").display_decimals == 2


@pytest.mark.chain
def test_a_node_of_another_network_says_nothing(
    local: LocalChain, capsys: pytest.CaptureFixture[str]
) -> None:
    said("add_network", "gnosis", GNOSIS | {"--chain-id": "101"})
    told = refused(capsys, "add_asset", "GNO_USDC", DOLLAR)
    assert told.startswith("The network's node didn't answer: gnosis node 1 is refused")
