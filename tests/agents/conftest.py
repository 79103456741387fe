"""A shop on a local chain with a dollar token that is paid over x402, and somebody who pays."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from apps.agents.services.x402_progress import advance_signed_payments
from apps.assets.models import Asset, Chain
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.chain.sending import sender, signing_rounds
from apps.chain.watching import address_looks
from apps.payments.services.settle import settle_deposits
from tests import auditing
from tests.agents.paying import Payer
from tests.cast import Api, Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.swaps.conftest import DOLLAR, ETHER, Venue
from tests.swaps.ground import Ground, ground_of, place

__all__ = ["DOLLAR", "ETHER", "place"]
TOKEN = "USDC_SETH"
PRICE = {"asset_id": TOKEN, "amount_atomic": "2500000", "resource": "https://shop.example/report"}


@dataclass
class Till:
    """A shop that asks for a dollar token over x402."""

    shop: Shop
    token: str

    @property
    def api(self) -> Api:
        return self.shop.test

    def ask(self, **fields: Any) -> dict[str, Any]:
        answer = self.api.post("/x402/requirements", {**PRICE, **fields})
        assert answer.status_code == 201, answer.content
        return dict(answer.json())

    def settle(self, body: dict[str, Any], api: Api | None = None) -> dict[str, Any]:
        answer = (api or self.api).post("/x402/settle", body)
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    def verify(self, body: dict[str, Any], api: Api | None = None) -> dict[str, Any]:
        answer = (api or self.api).post("/x402/verify", body)
        assert answer.status_code == 200, answer.content
        return dict(answer.json())


@dataclass
class Market(Till):
    """A market on a local chain that has the token, with somebody who holds 100 of it."""

    chain: LocalChain
    reader: Reader
    hot: str
    payer: Payer = field(default_factory=Payer)

    def send(self) -> None:
        """The rounds of the worker until a block has it."""
        signing_rounds.sign_due()
        sender.run_due()

    def bury(self) -> None:
        """Enough blocks, and everything that follows from them."""
        self.chain.mine(Chain.objects.get(pk="sepolia").required_confirmations)
        self.reader.read()
        settle_deposits()
        sender.run_due()
        advance_signed_payments()
        address_looks.look_asked("sepolia")
        settle_deposits()
        advance_signed_payments()

    def held(self, address: str) -> int:
        return int(
            self.chain.call(
                "eth_call",
                {"to": self.token, "data": f"0x70a08231{address[2:].lower():0>64}"},
                "latest",
            ),
            16,
        )


def open_till(shop: Shop, token: str) -> Till:
    Asset.objects.filter(pk=TOKEN).update(
        contract_address=token, is_active=True, eip712_name="USD Coin", eip712_version="1"
    )
    accept_all_active(shop.store)
    refresh()
    return Till(shop, token)


@pytest.fixture
def till(bakery: Shop) -> Till:
    """Where nothing is paid, and so without a chain."""
    return open_till(bakery, "0x" + "c4" * 20)


def stock(place: Venue, shop: Shop) -> None:
    """A coin in the hot wallet, for gas, and the till."""
    place.fund_hot(1)
    open_till(shop, place.token)


ground = ground_of(stock)


@pytest.fixture
def market(ground: Ground, place: Venue, settings: Any) -> Iterator[Market]:
    # Whoever settles is told that it isn't known yet: the worker's part is played in between.
    settings.X402_SETTLE_SECONDS = 0
    one = Market(ground.shop.again(), place.token, place.chain, place.reader, place.hot)
    place.chain.mint(place.token, one.payer.address, 100 * DOLLAR)
    yield one
    one.bury()
    assert auditing.breaches(check_chain=True) == []
