from dataclasses import dataclass
from typing import Any

import pytest

from apps.assets.models import Asset, Chain
from apps.chain.keys.seeds import Seed
from apps.chain.sending import sender, signing_rounds
from apps.chain.sending.calls import Router
from apps.core.process.published_secrets import CHAIN_KEYS, DEMO_MNEMONIC
from apps.payments.services.settle import settle_deposits
from apps.payments.services.sweep_books import book_sweeps
from apps.swaps.services.progress import advance_swaps
from dev.demo import exchange as venue
from dev.demo.chain import DemoWallet
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader, chain, proxy, watcher
from tests.chain.local import LocalChain

__all__ = ["chain", "proxy", "watcher"]
ETHER = 10**18
DOLLAR = 10**6


@dataclass
class Venue:
    """A test chain with our hot wallet on it, and what the worker does there."""

    chain: LocalChain
    reader: Reader
    wallet: DemoWallet
    hot: str
    token: str
    router: Router | None = None

    def fund_hot(self, ether: int = 50, dollars: int = 0) -> None:
        """Coins of the service's own, booked as such."""
        self.chain.call("anvil_setBalance", self.hot, hex(ether * ETHER))
        make.service_coins("SETH", ether * ETHER)
        if dollars:
            self.chain.mint(self.token, self.hot, dollars * DOLLAR)
            make.service_coins("USDC_SETH", dollars * DOLLAR)

    def arrives(self) -> None:
        """Transfers to the service are found, confirmed and booked."""
        self.chain.mine(Chain.objects.get(pk="sepolia").required_confirmations)
        self.reader.read()
        settle_deposits()

    def work(self, rounds: int = 1) -> None:
        """Everything the worker does, with enough blocks in between that what was sent is
        buried."""
        for _ in range(rounds):
            advance_swaps()
            signing_rounds.sign_due()
            sender.run_due()
            self.arrives()
            sender.run_due()
            advance_swaps()
            book_sweeps()

    def native(self, address: str) -> int:
        return int(self.chain.call("eth_getBalance", address, "latest"), 16)

    def tokens(self, address: str, token: str = "") -> int:
        return int(
            self.chain.call(
                "eth_call",
                {"to": token or self.token, "data": f"0x70a08231{address[2:]:0>64}"},
                "latest",
            ),
            16,
        )

    def calls_from_hot(self) -> int:
        return int(self.chain.call("eth_getTransactionCount", self.hot, "latest"), 16)


def is_exact() -> bool:
    """Tell whether every invariant holds, and the chain has what the books say to the unit."""
    assert auditing.breaches(check_chain=True) == []
    return True


@pytest.fixture
def place(chain: LocalChain, watcher: Reader, bakery: Shop) -> Venue:
    return place_on(chain, watcher)


def place_on(chain: LocalChain, watcher: Reader) -> Venue:
    """The chain with a dollar token, and our hot wallet known."""
    wallet = DemoWallet(chain.url, CHAIN_KEYS["customer"])
    token = chain.deploy_token()
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=token, is_active=True)
    watcher.read()
    signing_rounds.introduce()
    return Venue(chain, watcher, wallet, Seed(DEMO_MNEMONIC).hot_key("test").address, token)


@pytest.fixture
def market(place: Venue, settings: Any) -> Venue:
    """A market with the exchange; swaps of test mode go there."""
    if place.router is None:
        open_market(place)
    assert place.router is not None
    settings.SWAP_ROUTERS = [f"sepolia={place.router.address}:{place.router.wrapped_native}"]
    adapter = {"BACKEND": "apps.swaps.providers.uniswap.Uniswap", "OPTIONS": {}}
    settings.PROVIDERS = {
        **settings.PROVIDERS,
        "swaps": {**settings.PROVIDERS["swaps"], "test": [adapter]},
    }
    return place


def open_market(place: Venue) -> None:
    """The exchange with a pool of 500 ether and a million dollars."""
    place.router = venue.open_exchange(place.wallet)
    if place.router is None:
        pytest.skip("the exchange's contracts aren't installed")
    venue.fill(place.wallet, place.router, venue.Pool(place.token))
