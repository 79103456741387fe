"""Sending on a real local chain: what was asked for arrives once, and its end is what the receipt
says."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import sender, signing_rounds
from apps.core import clock
from tests.sending.conftest import ETHER, TOKEN, World

pytestmark = pytest.mark.chain


def fresh(row: OutgoingTransaction) -> OutgoingTransaction:
    return OutgoingTransaction.objects.get(pk=row.pk)


def writes(slots: int) -> str:
    """A contract that writes to so many slots when it gets coins."""
    return "0x" + "".join(f"600160{slot:02x}55" for slot in range(slots)) + "00"


class TestATransfer:
    def test_native_coins_arrive_and_once_buried_the_app_that_asked_finds_fee_and_end_once(
        self, world: World
    ) -> None:
        to = world.stranger()
        before = world.balance(world.hot)
        row = world.ask(ETHER // 2, to)
        world.work()
        world.mine()
        sender.run_due()
        assert (fresh(row).status, world.balance(to)) == ("submitted", ETHER // 2)
        assert not sender.unhandled("test_payment")

        world.mine(3)
        sender.run_due()
        row = fresh(row)
        assert row.status == "confirmed"
        assert before - world.balance(world.hot) == ETHER // 2 + row.network_fee_atomic
        assert row.tx_hash == world.raw_transfers(to)[0]["hash"]
        assert not sender.unhandled("payout")
        (found,) = sender.unhandled("test_payment")
        assert found.pk == row.pk
        sender.mark_handled(found)
        assert not sender.unhandled("test_payment")

    def test_tokens_arrive(self, world: World, token: str, held: Callable[[str, str], int]) -> None:
        to = world.stranger()
        row = world.ask(25 * 10**6, to, TOKEN)
        world.finish()
        assert (fresh(row).status, held(token, to)) == ("confirmed", 25 * 10**6)

    def test_the_same_request_twice_is_one_transfer_and_for_something_else_refused(
        self, world: World
    ) -> None:
        to = world.stranger()
        first, second = (world.ask(5, to, reference="one") for _ in range(2))
        assert first.pk == second.pk
        with pytest.raises(ValueError, match="already"):
            world.ask(6, to, reference="one")
        world.finish()
        world.work()
        assert world.balance(to) == 5

    def test_a_request_that_is_rolled_back_sends_nothing(self, world: World) -> None:
        to = world.stranger()

        def ask_and_fail() -> None:
            with transaction.atomic():
                world.ask(5, to)
                raise LookupError

        with pytest.raises(LookupError):
            ask_and_fail()
        world.finish()
        assert world.balance(to) == 0


class TestAReceipt:
    def test_a_reverted_transfer_has_failed_and_cost_gas(self, world: World) -> None:
        to = world.stranger()
        world.automine(False)
        row = world.ask(5, to)
        world.work()
        world.rpc("anvil_setCode", to, "0x60006000fd")
        world.mine(4)
        world.work()
        row = fresh(row)
        assert (row.status, row.reason, world.balance(to)) == ("failed", "The chain reverted it", 0)
        assert row.network_fee_atomic > 0

    def test_a_recipient_that_refuses_coins_costs_nothing(self, world: World) -> None:
        to = world.stranger()
        before = world.balance(world.hot)
        world.rpc("anvil_setCode", to, "0x60006000fd")
        row = world.ask(5, to)
        world.work()
        assert (fresh(row).status, fresh(row).nonce, world.balance(world.hot)) == (
            "failed",
            None,
            before,
        )

    @pytest.mark.parametrize("slots", [1, 3, 4])
    def test_a_wallet_that_is_a_contract_may_note_what_it_gets(
        self, world: World, slots: int
    ) -> None:
        """Each slot that was empty takes 22,100 gas beside the 21,000 of the transfer."""
        to = world.stranger()
        world.rpc("anvil_setCode", to, writes(slots))
        row = world.ask(5, to)
        world.finish()
        assert (fresh(row).status, world.balance(to)) == ("confirmed", 5)

    def test_a_contract_that_writes_more_is_refused_before_it_costs_gas(self, world: World) -> None:
        to = world.stranger()
        before = world.balance(world.hot)
        world.rpc("anvil_setCode", to, writes(5))
        row = world.ask(5, to)
        world.work()
        assert (fresh(row).status, fresh(row).reason, world.balance(world.hot)) == (
            "failed",
            "The recipient needs more gas than a transfer is given",
            before,
        )

    def test_a_reorg_before_the_end_is_waited_out(self, world: World) -> None:
        to = world.stranger()
        row = world.ask(5, to)
        world.work()
        world.mine()
        world.rpc("anvil_reorg", 2, [])
        world.work()
        assert fresh(row).status == "submitted"
        OutgoingTransaction.objects.get(pk=row.pk).candidates.update(
            broadcast_at=clock.real_now() - timedelta(minutes=1)
        )
        world.finish()
        assert (fresh(row).status, world.balance(to)) == ("confirmed", 5)


class TestTheMempool:
    def test_a_dropped_transaction_is_sent_again_as_the_same_bytes(self, world: World) -> None:
        world.automine(False)
        to = world.stranger()
        row = world.ask(5, to)
        world.work()
        tx_hash = fresh(row).tx_hash
        world.rpc("anvil_dropTransaction", tx_hash)
        world.work()
        assert world.rpc("eth_getTransactionByHash", tx_hash) is None
        row.candidates.update(broadcast_at=clock.real_now() - timedelta(seconds=31))
        world.work()
        assert world.rpc("eth_getTransactionByHash", tx_hash)["hash"] == tx_hash
        world.mine(4)
        world.work()
        assert (fresh(row).status, fresh(row).tx_hash, world.balance(to)) == (
            "confirmed",
            tx_hash,
            5,
        )

    def test_a_stuck_transaction_is_replaced_at_its_nonce_and_either_may_win(
        self, world: World, settings: Any
    ) -> None:
        world.automine(False)
        to = world.stranger()
        row = world.ask(5, to)
        world.work()
        first = fresh(row).tx_hash
        row.candidates.update(
            signed_at=clock.real_now() - timedelta(seconds=settings.SIGNER_STUCK_SECONDS + 1)
        )
        world.work()
        old, new = fresh(row).candidates.all()
        assert (old.tx_hash, new.tx_hash) == (first, fresh(row).tx_hash)
        assert (
            new.max_fee_wei * 8 >= old.max_fee_wei * 9
            and new.priority_fee_wei * 8 >= old.priority_fee_wei * 9
        )
        assert world.rpc("eth_getTransactionByHash", new.tx_hash)["nonce"] == hex(
            fresh(row).nonce or 0
        )
        world.rpc("anvil_dropAllTransactions")
        world.rpc("eth_sendRawTransaction", old.raw)
        world.mine(4)
        world.work()
        assert (fresh(row).status, fresh(row).tx_hash, world.balance(to)) == ("confirmed", first, 5)

    def test_a_replacement_never_passes_the_ceiling(self, world: World, settings: Any) -> None:
        world.automine(False)
        row = world.ask(5)
        world.work()
        settings.SIGNER_MAX_FEE_GWEI = 1
        long_ago = clock.real_now() - timedelta(seconds=settings.SIGNER_STUCK_SECONDS + 1)
        row.candidates.update(signed_at=long_ago, max_fee_wei=10**9, priority_fee_wei=1)
        world.work()
        assert row.candidates.count() == 1

    def test_a_stuck_first_one_holds_back_no_replacement_of_those_behind(
        self, world: World, settings: Any
    ) -> None:
        world.automine(False)
        rows = [world.ask(5) for _ in range(3)]
        world.work()
        for row in rows:
            row.candidates.update(
                signed_at=clock.real_now() - timedelta(seconds=settings.SIGNER_STUCK_SECONDS + 1)
            )
        world.work()
        assert [row.candidates.count() for row in rows] == [2, 1, 1]


class TestFunds:
    def test_an_empty_wallet_waits_and_goes_on_when_funded(self, world: World) -> None:
        world.fund(0)
        to = world.stranger()
        row = world.ask(5, to)
        world.work()
        assert (fresh(row).status, fresh(row).reason) == (
            "requested",
            "The hot wallet is short of funds",
        )
        assert not sender.can_afford("sepolia", "SETH", 5)
        world.fund()
        assert sender.can_afford("sepolia", "SETH", 5)
        world.a_minute_passes()
        world.finish()
        assert world.balance(to) == 5

    def test_what_is_signed_already_is_not_spent_again(self, world: World) -> None:
        world.automine(False)
        world.fund(1)
        first = world.ask(ETHER * 6 // 10)
        second = world.ask(ETHER * 6 // 10)
        world.work()
        assert (fresh(first).status, fresh(second).status) == ("submitted", "requested")
        assert not sender.can_afford("sepolia", "SETH", ETHER * 6 // 10)

    def test_tokens_are_counted_like_coins(self, world: World, token: str) -> None:
        world.automine(False)
        first, second = (world.ask(600 * 10**6, asset_id=TOKEN) for _ in range(2))
        world.work()
        assert (fresh(first).status, fresh(second).status) == ("submitted", "requested")
        assert sender.can_afford("sepolia", TOKEN, 400 * 10**6)
        assert not sender.can_afford("sepolia", TOKEN, 401 * 10**6)

    def test_a_fee_spike_is_waited_out(self, world: World) -> None:
        world.rpc("anvil_setNextBlockBaseFeePerGas", hex(400 * 10**9))
        world.mine()
        row = world.ask(5)
        world.work()
        assert (fresh(row).status, fresh(row).reason) == (
            "requested",
            "The network asks more for gas than the ceiling",
        )
        world.rpc("anvil_setNextBlockBaseFeePerGas", hex(10**9))
        world.mine()
        world.a_minute_passes()
        world.finish()
        assert fresh(row).status == "confirmed"


class TestADeadNode:
    def test_nothing_is_signed_or_lost(self, world: World, settings: Any) -> None:
        urls = settings.CHAIN_URLS
        settings.CHAIN_URLS = {**urls, "sepolia": ["http://127.0.0.1:9"]}
        to = world.stranger()
        row = world.ask(5, to)
        world.work()
        assert fresh(row).status == "requested"
        settings.CHAIN_URLS = urls
        world.finish()
        assert (fresh(row).status, world.balance(to)) == ("confirmed", 5)

    def test_it_may_die_between_signing_and_sending(self, world: World, settings: Any) -> None:
        urls = settings.CHAIN_URLS
        to = world.stranger()
        row = world.ask(5, to)
        signing_rounds.sign_due()
        signed = fresh(row)
        settings.CHAIN_URLS = {**urls, "sepolia": ["http://127.0.0.1:9"]}
        sender.run_due()
        assert fresh(row).status == "signed"
        settings.CHAIN_URLS = urls
        world.finish()
        assert (fresh(row).status, fresh(row).tx_hash, world.balance(to)) == (
            "confirmed",
            signed.tx_hash,
            5,
        )
        assert HotWallet.objects.get().halted_at is None
