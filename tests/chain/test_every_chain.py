"""Every chain that we know carries the whole story: a deposit that a reorganization moves, its
sweep, a payout, a refund, and books that agree with the chain."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.assets.models import Asset, Chain
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.chain import selectors
from apps.chain.activation import NotReady, change_asset
from apps.chain.keys import keystores
from apps.chain.keys.seeds import Seed
from apps.chain.models import Address, Deposit, HotWallet, OutgoingTransaction
from apps.chain.networks import catalog
from apps.chain.node_checks import check_node
from apps.chain.sending import sender, signing_rounds, sweeper
from apps.chain.watching.watcher import Watcher
from apps.console.health import readyz
from apps.core import clock
from apps.core.process.published_secrets import DEMO_MNEMONIC
from apps.payments.models import Payment, PaymentAddress, Refund
from apps.payments.services.expire import expire_due
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.settle import settle_deposits
from apps.payments.services.sweep_books import book_sweeps
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from dev.nodes import rules_of
from tests import auditing, make
from tests import keystores as made
from tests.cast import Api, Shop
from tests.chain.local import LocalChain, program
from tests.chain.proxy import Proxy

pytestmark = pytest.mark.chain
# The dollar of each EVM network that has a coin of its own for fees.
TOKENS = {
    network.id: coin.asset_id
    for network in catalog.NETWORKS
    for coin in network.coins
    if coin.symbol == "USDC" and coin.is_listed and network.fee_model != "stablecoin"
}
IDS = {network.id: network.number for network in catalog.NETWORKS}
ETHER = 10**18
DOLLAR = 10**6


class Place:
    """A chain of one's own with this id, a dollar token, our watcher and our hot wallet."""

    def __init__(self, chain_id: str, local: LocalChain) -> None:
        self.chain = Chain.objects.get(pk=chain_id)
        self.local = local
        self.native = Asset.objects.get(chain=chain_id, token_standard="Native")
        self.token = Asset.objects.get(pk=TOKENS[chain_id])
        self.hot = keystores.hot_key(self.chain.mode).address
        self.watcher = Watcher(chain_id)

    def read(self) -> None:
        while self.watcher.step():
            pass

    def arrives(self) -> None:
        """Transfers to the service are found, confirmed and booked."""
        self.local.mine(self.chain.required_confirmations)
        self.read()
        settle_deposits()

    def is_reorganized(self) -> None:
        """Blocks with what was paid are replaced, as deep as is usual here: it is seen, gone and
        seen again, and counts for nothing meanwhile."""
        depth = REORGANIZED.get(self.chain.pk, SEQUENCED)
        [raw] = [self.local.raw(tx) for tx in self.local.block(self.local.height)["transactions"]]
        self.local.mine(depth - 1)
        self.read()
        seen = Deposit.objects.get(asset=self.token)
        self.local.reorg(depth)
        self.read()
        settle_deposits()
        seen.refresh_from_db()
        assert (seen.status, seen.is_lost) == ("failed", False)
        self.local.wait(str(self.local.call("eth_sendRawTransaction", raw)))
        self.read()
        seen.refresh_from_db()
        assert seen.status == "confirming"

    def work(self) -> None:
        """Run the worker's and the signer's jobs, with enough blocks on top."""
        advance_payouts()
        advance_refunds()
        signing_rounds.sign_due()
        sender.run_due()
        self.arrives()
        sender.run_due()
        book_sweeps()
        advance_payouts()
        advance_refunds()

    def held(self, address: str) -> int:
        call = {"to": self.token.contract_address, "data": f"0x70a08231{address[2:]:0>64}"}
        return int(self.local.call("eth_call", call, "latest"), 16)


# In the suite: each network that customers pay real coins on. Polygon's keys are kept elsewhere.
USUAL = ("ethereum", "base", "optimism", "arbitrum", "avalanche")
# So many blocks are replaced at most as these networks run: two slots of Ethereum, what a sequencer
# takes back before Ethereum has it, and on Polygon what no milestone covers yet; Avalanche replaces
# none, and its nodes may still show one that isn't accepted.
REORGANIZED = {"ethereum": 2, "polygon": 2, "avalanche": 1}
SEQUENCED = 5
# Whose headers have the receipts of blocks before.
SETTLED_LATER = ("avalanche", "avalanche_fuji")


def rules(chain_id: str) -> Sequence[str]:
    network = catalog.network_in_catalog(chain_id)
    assert network is not None
    return rules_of(network)


@contextmanager
def opened(chain_id: str, settings: Any) -> Iterator[Place]:
    """A chain as this one's nodes show it, by its rules, read from its first block on."""
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    row = Chain.objects.get(pk=chain_id)
    # Its newest blocks but two are final: what the public networks take minutes for.
    final = ("--slots-in-an-epoch", "1")
    local = LocalChain(anvil, *final, *rules(chain_id), chain_id=IDS[chain_id])
    local.call("anvil_setBlockTimestampInterval", max(1, row.block_milliseconds // 1000))
    shown = Proxy(local.url)
    if chain_id in SETTLED_LATER:
        shown.settle_later()
    settings.CHAIN_URLS = {chain_id: [shown.url if shown.changes else local.url]}
    settings.CHAIN_START_BLOCKS = {chain_id: 0}
    signing_rounds.introduce()
    refresh()
    change_asset(
        TOKENS[chain_id],
        contract_address=local.deploy_token(),
        is_active=True,
        required_confirmations=max(3, row.confirmations_floor),
    )
    found = Place(chain_id, local)
    found.read()
    yield found
    found.watcher.close()
    shown.close()
    local.close()


@pytest.fixture(
    params=[
        pytest.param(item, marks=() if item in USUAL else pytest.mark.whole)
        for item in sorted(TOKENS)
    ]
)
def place(request: pytest.FixtureRequest, db: None, settings: Any) -> Iterator[Place]:
    with opened(request.param, settings) as found:
        yield found


def test_deposit_sweep_payout_refund_and_books(place: Place, bakery: Shop) -> None:
    tell_the_story(place, bakery)


@pytest.mark.parametrize("place", ["avalanche"], indirect=True)
def test_a_node_whose_headers_have_the_receipts_of_blocks_before_can_be_used(
    place: Place, settings: Any
) -> None:
    place.local.mint(str(place.token.contract_address), place.hot, DOLLAR)
    [url] = settings.CHAIN_URLS["avalanche"]
    [found] = [one for one in check_node(place.chain, url) if one.ability == "blocks and headers"]
    assert (found.verdict, found.text) == (
        "instead",
        "receipts can't be compared with the header: the node is believed",
    )


@pytest.fixture
def kept(
    request: pytest.FixtureRequest, settings: Any, tmp_path: Path, monkeypatch: Any
) -> Iterator[None]:
    with (
        made.of(request.param, tmp_path, monkeypatch) as entry,
        made.configured(entry, settings, tmp_path),
    ):
        yield


@pytest.mark.parametrize(
    ("kept", "place"),
    [
        ("kms", "polygon"),
        pytest.param("kms", "ethereum", marks=pytest.mark.whole),
        pytest.param("pkcs11", "ethereum", marks=[pytest.mark.token, pytest.mark.whole]),
    ],
    indirect=True,
)
def test_the_same_with_the_hot_keys_kept_elsewhere_and_the_seed_in_a_file_only_their_keeper_opens(
    kept: None, place: Place, bakery: Shop
) -> None:
    tell_the_story(place, bakery)
    assert (
        HotWallet.objects.get().address == place.hot != Seed(DEMO_MNEMONIC).hot_key("live").address
    )
    sent = OutgoingTransaction.objects.exclude(purpose="sweep")
    assert set(sent.values_list("purpose", flat=True)) == {"sweep_gas", "payout", "refund"}
    assert set(sent.values_list("from_address", flat=True)) == {place.hot}


def tell_the_story(place: Place, bakery: Shop) -> None:
    mode = place.chain.mode
    api: Api = bakery.live if mode == "live" else bakery.test
    accept_all_active(bakery.store)
    place.local.call("anvil_setBalance", place.hot, hex(5 * ETHER))
    make.service_coins(place.native.pk, 5 * ETHER)

    payment = make.payment(api, amount="500.00")
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset=place.token)
    place.local.mint(str(place.token.contract_address), entry.address_id, entry.required_atomic)
    if mode == "live":
        place.is_reorganized()
    place.arrives()
    assert Deposit.objects.get(asset=place.token).status == "confirmed"
    assert Payment.objects.get(pk=payment["id"]).status == "completed"

    Address.objects.update(watch_balance_until=clock.real_now() - timedelta(seconds=1))
    assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=1, gas_transfers=1)
    place.work()
    place.work()
    assert (place.held(place.hot), place.held(entry.address_id)) == (entry.required_atomic, 0)

    paid_to = make.fresh_address()
    refunded_to = make.fresh_address()
    answer = make.ask_payout(
        api, str(20 * DOLLAR), asset_id=place.token.pk, destination_address=paid_to
    )
    assert answer.status_code == 201, answer.content
    body = {
        "refund": {
            "asset_id": place.token.pk,
            "amount": "10.00",
            "destination_address": refunded_to,
        }
    }
    answer = api.post(f"/payments/{payment['id']}/refunds", body, key="refund")
    assert answer.status_code == 201, answer.content
    place.work()
    assert Payout.objects.get().status == "confirmed" and Refund.objects.get().status == "confirmed"
    assert place.held(paid_to) == 20 * DOLLAR and place.held(refunded_to) == int(
        Refund.objects.get().amount_atomic
    )

    assert not OutgoingTransaction.objects.exclude(status="confirmed").exists()
    assert auditing.breaches(check_chain=True) == []


# --- what a chain must have before an asset of it can be active -----------------------------------


@pytest.mark.django_db
def test_an_asset_of_a_chain_that_lacks_something_is_refused_with_all_of_it(
    settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.SIGNER_CAPS = []
    Asset.objects.filter(pk="BASE_ETH").update(token_standard="ERC20", pays_fees=False)
    with pytest.raises(NotReady) as refusal:
        change_asset("BASE_USDC", is_active=True)
    assert (
        refusal.value.text
        == "BASE_USDC can't be active yet: there is no coin of Base in which fees are paid,"
        " no node of Base (CHAIN_BASE_URL), no hot wallet on Base (the signer makes it known"
        " when it starts), no limit of BASE_USDC (SIGNER_CAPS)"
    )
    with pytest.raises(SystemExit):
        call_command("set_asset", "BASE_USDC", "--active", "true")
    assert "can't be active yet" in capsys.readouterr().err
    assert not Asset.objects.get(pk="BASE_USDC").is_active


@pytest.mark.django_db
def test_every_chain_has_a_coin_for_its_fees_and_only_listed_assets_are_taken() -> None:
    for chain in Chain.objects.all():
        paying = Asset.objects.get(chain=chain, pays_fees=True)
        assert paying.is_native == (chain.fee_model != "stablecoin"), chain
    live = Asset.objects.filter(is_active=True, chain__mode="live")
    assert set(live.values_list("pk", flat=True)) == {"ETH", "ETH_USDC", "ETH_USDT"}


@pytest.mark.django_db
def test_a_token_of_test_mode_needs_no_node(settings: Any) -> None:
    settings.CHAIN_URLS = {"ethereum": ["http://127.0.0.1:9"]}
    output = StringIO()
    call_command("set_asset", "USDC_SETH", "--active", "true", "--json", stdout=output)
    assert json.loads(output.getvalue())["active"] is True


# --- payments on chains that nobody reads ---


def offered(api: Api) -> set[str]:
    return {
        payment_address["supported_asset"]["network"]
        for payment_address in make.payment(api)["payment_addresses"]
    }


def test_a_chain_that_nobody_reads_is_not_offered_and_nobody_is_ready(
    bakery: Shop, settings: Any, rf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "_begun", {"ethereum"})
    Asset.objects.filter(pk="BASE_USDC").update(is_active=True)
    accept_all_active(bakery.store)
    assert offered(bakery.live) == {"ethereum"}
    told = json.loads(readyz(rf.get("/readyz")).content)
    assert told["chain_watcher"]["without_node"] == ["base"] and not told["chain_watcher"]["ready"]
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "base": ["http://127.0.0.1:9"]}
    assert offered(bakery.live) == {"ethereum"}, "its watcher hasn't begun"
    assert json.loads(readyz(rf.get("/readyz")).content)["chain_watcher"]["without_node"] == []


def test_without_any_node_a_production_offers_nothing_and_a_demo_everything(
    bakery: Shop, settings: Any
) -> None:
    settings.CHAIN_URLS = {}
    assert offered(bakery.live) == {"ethereum"} and offered(bakery.test) == {"sepolia"}
    settings.CHAINS_ARE_OPTIONAL = False
    answer = bakery.live.post(
        "/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    )
    assert answer.status_code == 503 and answer.headers["Retry-After"]
    assert offered(bakery.test) == {"sepolia"}
    assert selectors.chains_without_node() == ["ethereum"]


def test_no_live_payment_expires_while_nobody_reads_its_chain(bakery: Shop, settings: Any) -> None:
    live, test = (make.payment(api)["id"] for api in (bakery.live, bakery.test))
    Payment.objects.update(expires_at=clock.real_now() - timedelta(minutes=1))
    settings.CHAIN_URLS = {}
    settings.CHAINS_ARE_OPTIONAL = False
    expire_due()
    assert (
        Payment.objects.get(pk=live).status == "pending"
        and Payment.objects.get(pk=test).status == "expired"
    )


def test_a_hot_wallet_is_asked_for_by_its_chain(db: None, settings: Any) -> None:
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "base": ["http://127.0.0.1:9"]}
    with pytest.raises(NotReady, match="no hot wallet on Base"):
        change_asset("BASE_USDC", is_active=True)
    HotWallet.objects.create(chain_id="base", address="0x" + "1" * 40, next_nonce=0)
    assert change_asset("BASE_USDC", is_active=True).is_active
