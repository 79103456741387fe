from collections.abc import Iterator

import pytest

from apps.assets.models import Chain
from apps.chain.networks.bitcoin.parameters import LITECOIN_REGTEST
from apps.chain.networks.bitcoin.reader import BitcoinReader
from tests.bitcoin.node import Litecoin


@pytest.fixture(scope="session")
def litecoin() -> Iterator[Litecoin]:
    """As Litecoin's nodes are: none takes a transaction in the place of another."""
    yield from _node("TEST_LITECOIN_URL", replaces=False)


@pytest.fixture(scope="session")
def replacing() -> Iterator[Litecoin]:
    """A node that accepts replacements, as Bitcoin's nodes do."""
    yield from _node("TEST_REPLACING_LITECOIN_URL", replaces=True)


def _node(name: str, *, replaces: bool) -> Iterator[Litecoin]:
    node = Litecoin(name, replaces=replaces)
    yield node
    node.stop()


@pytest.fixture
def reader(litecoin: Litecoin) -> Iterator[BitcoinReader]:
    reading = BitcoinReader(Chain(chain_id=LITECOIN_REGTEST.network_number), litecoin.nodes())
    yield reading
    reading.close()
