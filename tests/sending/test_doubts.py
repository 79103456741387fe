"""A receipt that is missing is looked for at every node and for minutes before a person is asked;
what was halted in vain goes on by itself."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import doubts, hot_wallets, sender
from apps.core import clock
from apps.stores.models import AuditEntry
from tests.chain.proxy import Proxy
from tests.sending.conftest import World
from tests.sending.test_sender import fresh

pytestmark = pytest.mark.chain

METHODS = ("eth_getTransactionReceipt", "eth_getTransactionByHash")


@pytest.fixture
def proxy(world: World, settings: Any) -> Iterator[Proxy]:
    between = Proxy(world.url)
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [between.url]}
    yield between
    between.close()


@pytest.fixture
def second(proxy: Proxy, world: World, settings: Any) -> Iterator[Proxy]:
    other = Proxy(world.url)
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [proxy.url, other.url]}
    yield other
    other.close()


def hide(proxy: Proxy, *methods: str) -> None:
    """The node answers null, as one that is late does."""
    for method in methods or METHODS:
        proxy.lie(method, lambda _: None)


def buried(world: World, **fields: Any) -> OutgoingTransaction:
    """Sent, and under enough blocks."""
    row = world.ask(5, **fields)
    world.work()
    world.mine(5)
    return row


def minutes_pass(row: OutgoingTransaction) -> None:
    long_ago = clock.real_now() - doubts.PATIENCE - timedelta(seconds=1)
    assert OutgoingTransaction.objects.filter(pk=row.pk, unknown_since__isnull=False).update(
        unknown_since=long_ago
    )


def halted(world: World, proxy: Proxy) -> OutgoingTransaction:
    """In review, with its wallet halted, though it arrived."""
    row = buried(world)
    hide(proxy)
    sender.run_due()
    minutes_pass(row)
    sender.run_due()
    assert fresh(row).status == "review" and HotWallet.objects.get().halted_at is not None
    return row


def acts() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_one_empty_answer_halts_nothing(world: World, proxy: Proxy) -> None:
    row = buried(world)
    hide(proxy)
    for _ in range(3):
        sender.run_due()
        assert (fresh(row).status, HotWallet.objects.get().halted_at) == ("submitted", None)
    since = fresh(row).unknown_since
    assert since is not None
    proxy.changes.clear()
    sender.run_due()
    assert (fresh(row).status, fresh(row).unknown_since) == ("confirmed", None)


def test_another_node_is_asked_at_once(world: World, proxy: Proxy, second: Proxy) -> None:
    row = buried(world)
    hide(proxy)
    sender.run_due()
    assert (fresh(row).status, fresh(row).unknown_since) == ("confirmed", None)


def test_a_transaction_that_is_in_a_block_is_waited_for(world: World, proxy: Proxy) -> None:
    """Its receipt alone is late, however long."""
    row = buried(world)
    hide(proxy, "eth_getTransactionReceipt")
    sender.run_due()
    OutgoingTransaction.objects.update(unknown_since=clock.real_now() - timedelta(hours=1))
    sender.run_due()
    assert (fresh(row).status, fresh(row).unknown_since) == ("submitted", None)


def test_a_receipt_without_a_block_is_none(world: World, proxy: Proxy) -> None:
    row = buried(world)
    proxy.lie("eth_getTransactionReceipt", lambda receipt: {**receipt, "blockNumber": None})
    proxy.lie("eth_getTransactionByHash", lambda _: None)
    sender.run_due()
    assert fresh(row).status == "submitted" and fresh(row).unknown_since is not None


def test_whichever_bytes_of_a_nonce_were_mined_are_found(
    world: World, proxy: Proxy, second: Proxy, settings: Any
) -> None:
    world.automine(False)
    row = world.ask(5)
    world.work()
    row.candidates.update(
        signed_at=clock.real_now() - timedelta(seconds=settings.SIGNER_STUCK_SECONDS + 1)
    )
    world.work()
    old, _ = fresh(row).candidates.all()
    world.rpc("anvil_dropAllTransactions")
    world.rpc("eth_sendRawTransaction", old.raw)
    hide(proxy)
    world.mine(4)
    world.work()
    assert (fresh(row).status, fresh(row).tx_hash) == ("confirmed", old.tx_hash)


def test_after_minutes_a_person_is_asked(world: World, proxy: Proxy) -> None:
    row = halted(world, proxy)
    assert (fresh(row).reason_code, HotWallet.objects.get().halted_code) == (
        "nonce_unknown",
        "nonce_unknown",
    )
    sender.run_due()
    assert fresh(row).status == "review"


def test_a_halt_in_vain_ends_by_itself_and_its_history_stays(world: World, proxy: Proxy) -> None:
    row = halted(world, proxy)
    waiting = world.ask(7)
    world.work()
    assert fresh(waiting).status == "requested"
    proxy.changes.clear()
    sender.run_due()
    wallet = HotWallet.objects.get()
    assert (wallet.halted_at, wallet.halted_reason, wallet.halted_code) == (None, "", "")
    assert (fresh(row).status, fresh(row).reason_code) == ("confirmed", "")
    assert acts()[-3:] == ["hot_wallet.halted", "outgoing.found", "hot_wallet.resumed"]
    world.finish()
    assert fresh(waiting).status == "confirmed"
    assert len(world.raw_transfers(row.to_address)) == 1


def test_two_that_are_missing_halt_until_both_are_found(world: World, proxy: Proxy) -> None:
    rows = [world.ask(5) for _ in range(2)]
    world.work()
    world.mine(5)
    hide(proxy)
    sender.run_due()
    for row in rows:
        minutes_pass(row)
    sender.run_due()
    proxy.changes.clear()
    first = fresh(rows[0]).tx_hash
    proxy.changes.append(
        lambda method, parameters, result: (
            None if method in METHODS and parameters[0] == first else result
        )
    )
    sender.run_due()
    assert [fresh(row).status for row in rows] == ["review", "confirmed"]
    assert HotWallet.objects.get().halted_at is not None
    proxy.changes.clear()
    sender.run_due()
    assert [fresh(row).status for row in rows] == ["confirmed"] * 2
    assert HotWallet.objects.get().halted_at is None


def test_a_halt_of_the_operator_stays(world: World, proxy: Proxy) -> None:
    row = halted(world, proxy)
    hot_wallets.halt(HotWallet.objects.get(), "Stopped by an operator", clock.real_now())
    proxy.changes.clear()
    sender.run_due()
    assert fresh(row).status == "confirmed"
    wallet = HotWallet.objects.get()
    assert wallet.halted_reason == "Stopped by an operator" and wallet.halted_at is not None


def test_a_halt_after_a_restore_stays(world: World, proxy: Proxy) -> None:
    halted(world, proxy)
    HotWallet.objects.update(halted_at=clock.real_now() + timedelta(seconds=1))
    proxy.changes.clear()
    sender.run_due()
    assert HotWallet.objects.get().halted_at is not None


def test_what_was_sent_is_not_said_to_be_unsent(
    world: World, proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    row = halted(world, proxy)
    proxy.changes.clear()
    with pytest.raises(SystemExit):
        call_command("sending", "unsent", str(row.pk))
    assert "The chain has it" in "".join(capsys.readouterr())
    assert fresh(row).status == "review"


def test_once_a_person_said_that_it_was_another_the_halt_is_theirs_to_end(
    world: World, proxy: Proxy
) -> None:
    row = halted(world, proxy)
    hot_wallets.resolve_as_unsent(fresh(row), clock.real_now())
    proxy.changes.clear()
    sender.run_due()
    assert (fresh(row).status, fresh(row).reason_code) == ("failed", "nonce_taken")
    assert HotWallet.objects.get().halted_at is not None


def test_many_that_look_at_once_let_it_go_on_once(world: World, proxy: Proxy) -> None:
    row = halted(world, proxy)
    proxy.changes.clear()
    before = acts().count("outgoing.found")
    gate = threading.Barrier(4)

    def look() -> None:
        gate.wait()
        sender.run_due()
        connection.close()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sender.run_due()
    assert fresh(row).status == "confirmed"
    assert acts().count("outgoing.found") == before + 1
    assert len(world.raw_transfers(row.to_address)) == 1
