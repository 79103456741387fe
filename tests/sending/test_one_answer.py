"""Nothing is concluded from one node's one answer: others are asked, or it is waited for."""

from collections.abc import Iterator
from contextlib import closing
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.assets.models import Chain
from apps.chain.models import HotWallet, OutgoingTransaction, UndoneTransaction, UnknownTransaction
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes
from apps.chain.sending import authorizations, history, hot_wallets, sender
from apps.core import clock
from tests.chain.proxy import Proxy
from tests.sending.conftest import World
from tests.sending.test_doubts import buried, halted, hide, proxy, second
from tests.sending.test_sender import fresh

__all__ = ["proxy", "second"]
pytestmark = pytest.mark.chain


@pytest.fixture
def nodes(proxy: Proxy, second: Proxy) -> Iterator[Nodes]:
    with closing(nodes_of(Chain.objects.get(pk="sepolia"))) as connected:
        yield connected


def lose_blocks(proxy: Proxy) -> None:
    """It has the numbers of blocks, and not what is in them."""
    proxy.changes.append(
        lambda method, given, result: (
            None if method == "eth_getBlockByNumber" and given[1] else result
        )
    )


def lag_behind(proxy: Proxy, row: OutgoingTransaction) -> None:
    """It counts what the wallet had sent before this."""
    proxy.lie("eth_getTransactionCount", lambda _: hex(row.nonce or 0))


def forget_what_was_sent(row: OutgoingTransaction) -> HotWallet:
    """As a restore does: the chain is ahead of the records."""
    wallet = HotWallet.objects.select_related("chain").get()
    hot_wallets.halt(wallet, "Restored", clock.real_now())
    HotWallet.objects.update(next_nonce=row.nonce)
    OutgoingTransaction.objects.filter(pk=row.pk).update(nonce=None, status="review")
    wallet.refresh_from_db()
    return wallet


def test_a_block_that_one_node_lacks_is_read_from_another(
    world: World, proxy: Proxy, nodes: Nodes
) -> None:
    row = fresh(buried(world))
    wallet = forget_what_was_sent(row)
    lose_blocks(proxy)
    assert history.read(wallet, nodes, clock.real_now()) == 1
    assert UnknownTransaction.objects.get().tx_hash == row.tx_hash


def test_a_wallet_goes_on_only_when_every_block_was_read(world: World, proxy: Proxy) -> None:
    row = fresh(buried(world))
    forget_what_was_sent(row)
    lose_blocks(proxy)
    with pytest.raises((CommandError, SystemExit)):
        call_command("sending", "resume", "sepolia", stdout=StringIO())
    assert HotWallet.objects.get().halted_at is not None
    assert not UnknownTransaction.objects.exists()


def test_what_another_node_still_has_isnt_undone(world: World, proxy: Proxy, second: Proxy) -> None:
    row = fresh(buried(world))
    sender.run_due()
    row = fresh(row)
    assert row.status == "confirmed"
    lag_behind(proxy, row)
    hide(proxy)
    sender.run_due()
    assert fresh(row).status == "confirmed" and not UndoneTransaction.objects.exists()
    hide(second)
    sender.run_due()
    assert fresh(row).status == "submitted"
    assert UndoneTransaction.objects.get().tx_hash == row.tx_hash
    UndoneTransaction.objects.all().delete()


def test_the_transaction_that_a_person_names_is_asked_of_every_node(
    world: World, proxy: Proxy, second: Proxy, nodes: Nodes
) -> None:
    hide(second)
    row = halted(world, proxy)
    row = fresh(row)
    second.changes.clear()
    hot_wallets.resolve_as_sent(row, row.tx_hash, nodes, clock.real_now())
    assert fresh(row).status == "submitted"


def test_an_authorization_without_a_receipt_is_waited_for(
    world: World, proxy: Proxy, second: Proxy, nodes: Nodes
) -> None:
    row = fresh(buried(world))
    hide(proxy)
    assert authorizations.mined(row, nodes) == (row.tx_hash, False)
    hide(second)
    assert authorizations.mined(row, nodes) == ("", False)
