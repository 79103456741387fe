"""A large deposit counts once a second node has named its block; while nodes disagree, nothing is
credited on their network, and nothing is lost."""

from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from apps.chain.models import Deposit
from apps.chain.watching import second_opinions
from tests.chain.conftest import Reader
from tests.chain.local import LOGGER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import USDC

pytestmark = pytest.mark.chain
DOLLAR = 10**6
LARGE, SMALL = 10_000 * DOLLAR, 10 * DOLLAR


@pytest.fixture(autouse=True)
def from_an_amount(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SECOND_NODE_FROM = ["USDC_SETH=1000"]
    monkeypatch.setattr(second_opinions, "AGAIN_SECONDS", 0.0)


@pytest.fixture
def pay(chain: LocalChain, watcher: Reader, address: str) -> Callable[[int], None]:
    """Pay so much, and bury it."""
    chain.put(LOGGER, USDC)
    watcher.read()

    def act(amount: int) -> None:
        chain.log_transfers(USDC, (address, amount))
        watcher.read()
        chain.mine(5)
        watcher.read()

    return act


def statuses() -> dict[int, str]:
    return {row.amount_atomic: row.status for row in Deposit.objects.all()}


def says_other_blocks(node: Proxy) -> None:
    """Of all but the first."""

    def tell(block: Any) -> Any:
        is_first = not block or block["number"] == "0x0"
        return block if is_first else {**block, "hash": "0x" + "7" * 64}

    node.lie("eth_getBlockByNumber", tell)


def test_with_two_nodes_that_agree_it_counts(
    second: Proxy, watcher: Reader, pay: Callable[[int], None]
) -> None:
    pay(LARGE)
    watcher.read()
    assert statuses() == {LARGE: "confirmed"}
    assert "eth_getBlockByNumber" in second.calls


def test_with_one_node_it_waits_and_smaller_ones_do_not(
    watcher: Reader, pay: Callable[[int], None], chain: LocalChain
) -> None:
    with capture_logs() as logs:
        pay(LARGE)
        pay(SMALL)
        chain.mine()
        watcher.read()
    assert statuses() == {LARGE: "confirming", SMALL: "confirmed"}
    assert [line for line in logs if line["event"] == "second_node_silent"]


def test_a_node_that_is_away_is_waited_for(
    second: Proxy, watcher: Reader, pay: Callable[[int], None], chain: LocalChain
) -> None:
    second.unknown.add("eth_getBlockByNumber")
    pay(LARGE)
    watcher.read()
    assert statuses() == {LARGE: "confirming"}
    second.unknown.clear()
    watcher.read()
    assert statuses() == {LARGE: "confirmed"}


def test_while_nodes_disagree_nothing_is_credited_and_then_everything(
    second: Proxy, watcher: Reader, pay: Callable[[int], None], chain: LocalChain
) -> None:
    says_other_blocks(second)
    with capture_logs() as logs:
        pay(LARGE)
        pay(SMALL)
        chain.mine()
        watcher.read()
    assert statuses() == {LARGE: "confirming", SMALL: "confirming"}
    told = [line for line in logs if line["event"] == "nodes_disagree"]
    assert told and told[0]["log_level"] == "error" and "0x" + "7" * 64 in told[0]["hashes"]
    second.changes.clear()
    watcher.read()
    chain.mine()
    watcher.read()
    assert statuses() == {LARGE: "confirmed", SMALL: "confirmed"}


def test_a_watcher_that_begins_again_asks_before_it_confirms(
    second: Proxy, watcher: Reader, pay: Callable[[int], None], chain: LocalChain
) -> None:
    says_other_blocks(second)
    pay(LARGE)
    watcher.restart()
    pay(SMALL)
    assert statuses() == {LARGE: "confirming", SMALL: "confirming"}
