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
from tests.swaps.conftest import Venue, place_on


@dataclass
class Ground:
    place: Venue
    shop: Shop

    def again(self) -> Iterator[Venue]:
        """For one test, after which the chain goes back."""
        reader = Reader()
        with self.place.chain.going_back():
            yield replace(self.place, reader=reader)
        reader.close()


def ground_of(prepare: Callable[[Venue, Shop], None] = lambda place, shop: None) -> Any:
    """The fixture of a module whose tests begin from what this prepares."""

    @pytest.fixture(scope="module", name="ground")
    def fixture(django_db_setup: None, django_db_blocker: Any) -> Iterator[Ground]:
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

        urls = {"sepolia": [chain.url]}
        with override_settings(CHAIN_URLS=urls, CHAIN_START_BLOCKS={"sepolia": 0}):
            yield from standing(django_db_blocker, make)
        chain.close()

    return fixture


@pytest.fixture
def place(ground: Ground, db: None) -> Iterator[Venue]:
    yield from ground.again()


@pytest.fixture
def bakery(ground: Ground, db: None) -> Shop:
    return ground.shop.again()
