"""The main job, to be paid, with stores on two installations behind one router: in short, web alone
with simulated payments; and at length, with every process and coins on a chain.

Proved: each store's payment is made, found and completed on the server of its shard alone, the
books of both balance, and one goes on without the other. Not proved: a store that moves.
"""

from collections.abc import Iterator

import pytest

from tests.faults import shards
from tests.faults.shards import HOME, Pair
from tests.stack import Remote, wait_for

pytestmark = [pytest.mark.router, pytest.mark.federated, pytest.mark.chain]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    running = Pair(["web"])
    yield running
    running.close()


def test_each_server_has_its_stores_and_one_goes_on_without_the_other(pair: Pair) -> None:
    for shard, server in pair.servers.items():
        payment = server.api.payment()
        server.api("POST", f"/payments/{payment['id']}/simulated_payments", {})
        assert server.api.until(payment["id"], "completed")["reference"][:2] == shard
    # nginx writes its log after its answer.
    wait_for(pair.router.passed, lambda requests: len(requests) >= 6)
    assert shards.strayed(pair) == shards.known_elsewhere(pair) == shards.unbalanced(pair) == []
    assert shards.found_at_home(pair) == []
    asked_twice = wait_for(lambda: shards.strayed(pair), lambda requests: len(requests) >= 7)
    assert len(asked_twice) == 7
    # Both have the seed of demos, which the database that reads both tells.
    assert ("sepolia", [*pair.servers]) in pair.shared_wallets()
    assert shards.lose_second(pair, print) == []
    assert shards.unbalanced(pair) == []
    home = Remote(pair.router.base_url, pair.servers[HOME].key)
    assert home("GET", "/payments")["meta"]["total"] > 1


@pytest.mark.whole
def test_coins_are_received_refunded_and_paid_out_on_both() -> None:
    assert shards.play(print) == []
