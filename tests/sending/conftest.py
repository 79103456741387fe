import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.assets.models import Asset, Chain
from apps.chain.keys.seeds import Seed
from apps.chain.models import HotWallet, OutgoingTransaction, SignedTransaction, UnknownTransaction
from apps.chain.sending import sender, signing_rounds
from apps.core import clock, local_chain
from apps.core.process.published_secrets import CHAIN_KEYS, DEMO_MNEMONIC
from apps.stores.auditing import audit
from dev.demo.chain import DemoWallet
from tests import postgres
from tests.forks import Forks

ETHER = 10**18
TOKEN = "USDC_SETH"


class World:
    """The local test chain, the hot wallet on it, and the records of what leaves."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.hot = Seed(DEMO_MNEMONIC).hot_key("test").address
        self.height_before = self.height()
        self._strangers = iter(range(10**9, 10**9 + 10**6))

    def rpc(self, method: str, *params: Any) -> Any:
        return local_chain.call(self.url, method, *params)

    def mine(self, blocks: int = 1) -> None:
        self.rpc("anvil_mine", hex(blocks))

    def fund(self, ether: float = 100) -> None:
        self.rpc("anvil_setBalance", self.hot, hex(int(ether * ETHER)))

    def automine(self, is_on: bool) -> None:
        self.rpc("evm_setAutomine", is_on)

    def balance(self, address: str) -> int:
        return int(self.rpc("eth_getBalance", address, "latest"), 16)

    def nonce(self) -> int:
        return int(self.rpc("eth_getTransactionCount", self.hot, "latest"), 16)

    def stranger(self) -> str:
        """An address that nobody has used."""
        drawn = int.from_bytes(os.urandom(8))
        number = next(self._strangers) * 7919 + os.getpid() * 10**20 + drawn * 10**28
        return f"0x{number:040x}"

    def ask(
        self,
        amount_atomic: int = 10**15,
        to: str | None = None,
        asset_id: str = "SETH",
        **fields: Any,
    ) -> OutgoingTransaction:
        chosen = {
            "purpose": "test_payment",
            "reference": str(uuid.uuid4()),
            "mode": "test",
            "chain_id": "sepolia",
            "at": clock.real_now(),
        }
        return sender.request(
            asset_id=asset_id,
            to=to or self.stranger(),
            amount_atomic=amount_atomic,
            **{**chosen, **fields},
        )

    def work(self) -> None:
        """Run the worker's job."""
        signing_rounds.sign_due()
        sender.run_due()

    def a_minute_passes(self) -> None:
        """Transfers that step aside are taken again."""
        OutgoingTransaction.objects.filter(not_before__isnull=False).update(
            not_before=clock.real_now()
        )

    def finish(self) -> None:
        """Work, bury it under enough blocks, and hear what became of it."""
        self.work()
        self.mine(Chain.objects.get(pk="sepolia").required_confirmations)
        sender.run_due()

    def height(self) -> int:
        return int(self.rpc("eth_blockNumber"), 16)

    def raw_transfers(self, to: str) -> list[dict[str, Any]]:
        """Every transaction to an address in the blocks since this world began."""
        blocks = [
            self.rpc("eth_getBlockByNumber", hex(number), True)
            for number in range(self.height_before + 1, self.height() + 1)
        ]
        return [
            transaction
            for block in blocks
            for transaction in block["transactions"]
            if transaction["to"] == to
        ]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.fixture
def _django_db_helper(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Instead of pytest-django's: other processes must see the records, so they are committed, and
    cleared up by hand."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def world(_django_db_helper: None) -> Iterator[World]:
    url = os.environ.get("CHAIN_SEPOLIA_URL")
    if not url:
        pytest.skip("no local chain on this machine")
    one = World(url)
    one.fund()
    yield one
    one.rpc("anvil_dropAllTransactions")
    one.automine(True)
    SignedTransaction.objects.all().delete()
    OutgoingTransaction.objects.exclude(batch=None).delete()
    OutgoingTransaction.objects.all().delete()
    UnknownTransaction.objects.all().delete()
    for wallet in HotWallet.objects.exclude(halted_at=None):
        audit.record("hot_wallet.resumed", target=wallet, name=wallet.pk)
    HotWallet.objects.all().delete()


def forked_worker() -> Iterator[Forks]:
    """A worker on the test's database, to be killed as often as it takes."""
    environment = {**os.environ, **postgres.environment(), "TILLGATE_ENV": "test"}
    forks = Forks(environment, "tests.sending.worker")
    yield forks
    forks.end()


@pytest.fixture(scope="module")
def worker(django_db_setup: None) -> Iterator[Forks]:
    yield from forked_worker()


@pytest.fixture
def token(world: World) -> Iterator[str]:
    """The contract of a dollar token on the test chain; the hot wallet has 1000 of it."""
    wallet = DemoWallet(world.url, CHAIN_KEYS["test"])
    contract = str(
        wallet.receipt(wallet.deploy_token("USD Coin", "USDC", 6)).contract_address
    ).lower()
    wallet.receipt(wallet.mint(contract, world.hot, 1000 * 10**6))
    before = Asset.objects.get(pk=TOKEN).contract_address
    Asset.objects.filter(pk=TOKEN).update(contract_address=contract)
    yield contract
    Asset.objects.filter(pk=TOKEN).update(contract_address=before)


@pytest.fixture
def held(world: World) -> Callable[[str, str], int]:
    """How many tokens of a contract an address holds."""

    def balance(contract: str, holder: str) -> int:
        return int(
            world.rpc(
                "eth_call", {"to": contract, "data": f"0x70a08231{holder[2:]:0>64}"}, "latest"
            ),
            16,
        )

    return balance
