"""A venue that the tests of a module begin from, made once: each finds chain and records as they
were. A module that begins from more has a `ground` of its own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.test import override_settings

from tests.cast import Shop, assemble
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain, program
from tests.stage import standing
from tests.swaps.conftest import Venue, open_market, place_on


@dataclass
class Ground:
    place: Venue
    shop: Shop

    def again(self) -> Iterator[Venue]:
        """For one test, after which the chain goes back, with what gas costs."""
        chain = self.place.chain
        fee = chain.call("eth_getBlockByNumber", "pending", False)["baseFeePerGas"]
        before = chain.call("evm_snapshot")
        reader = Reader()
        yield replace(self.place, reader=reader)
        reader.close()
        chain.call("anvil_dropAllTransactions")
        chain.call("evm_revert", before)
        chain.call("anvil_setNextBlockBaseFeePerGas", fee)
        chain.call("evm_setAutomine", True)


def grounds(
    blocker: Any, prepare: Callable[[Venue, Shop], None] = lambda place, shop: None
) -> Iterator[Ground]:
    """For a fixture with the scope of a module."""
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    chain = LocalChain(anvil)

    def make() -> Ground:
        shop = assemble().bakery
        place = place_on(chain, Reader())
        prepare(place, shop)
        place.reader.close()
        return Ground(place, shop)

    with override_settings(CHAIN_URLS={"sepolia": [chain.url]}, CHAIN_START_BLOCKS={"sepolia": 0}):
        yield from standing(blocker, make)
    chain.close()


@pytest.fixture(scope="module")
def ground(django_db_setup: None, django_db_blocker: Any) -> Iterator[Ground]:
    yield from grounds(django_db_blocker)


def market_grounds(blocker: Any) -> Iterator[Ground]:
    """With the exchange."""
    yield from grounds(blocker, lambda place, shop: open_market(place))


@pytest.fixture
def place(ground: Ground, db: None) -> Iterator[Venue]:
    yield from ground.again()


@pytest.fixture
def bakery(ground: Ground, db: None) -> Shop:
    return ground.shop.again()
