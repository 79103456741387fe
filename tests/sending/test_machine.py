"""Anything that may happen to transfers on their way, in any order: each arrives once, and nonces
stay without gap or repeat."""

from datetime import timedelta
from typing import ClassVar

import pytest
from django.conf import settings as project
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from apps.chain.models import HotWallet, OutgoingTransaction, SignedTransaction
from apps.core import clock
from tests.sending.conftest import World
from tests.whole import usually

pytestmark = pytest.mark.chain


class Sending(RuleBasedStateMachine):
    world: ClassVar[World]

    @initialize()
    def begin(self) -> None:
        self.clear_up()
        self.world.automine(False)
        self.first_nonce = self.world.nonce()
        self.wanted: dict[str, int] = {}

    def clear_up(self) -> None:
        self.world.rpc("anvil_dropAllTransactions")
        self.world.mine(4)
        for model in (SignedTransaction, OutgoingTransaction, HotWallet):
            model.objects.all().delete()

    @rule(amount_atomic=st.integers(1, 10**15))
    def ask(self, amount_atomic: int) -> None:
        to = self.world.stranger()
        self.world.ask(amount_atomic, to, reference=to)
        self.wanted[to] = amount_atomic

    @rule()
    def work(self) -> None:
        self.world.work()

    @rule(blocks=st.integers(1, 4))
    def mine(self, blocks: int) -> None:
        self.world.mine(blocks)

    @rule()
    def drop_the_mempool(self) -> None:
        self.world.rpc("anvil_dropAllTransactions")

    @rule()
    def reorganise_what_is_not_final(self) -> None:
        self.world.rpc("anvil_reorg", 2, [])

    @rule()
    def half_a_minute_passes(self) -> None:
        SignedTransaction.objects.update(broadcast_at=clock.real_now() - timedelta(seconds=31))

    @rule()
    def so_much_time_passes_that_fees_are_raised(self) -> None:
        SignedTransaction.objects.update(
            signed_at=clock.real_now() - timedelta(seconds=project.SIGNER_STUCK_SECONDS + 1)
        )

    @rule(gwei=st.sampled_from([1, 20, 400]))
    def the_base_fee_changes(self, gwei: int) -> None:
        self.world.rpc("anvil_setNextBlockBaseFeePerGas", hex(gwei * 10**9))
        self.world.mine()

    @invariant()
    def nonces_have_no_gap_and_no_repeat(self) -> None:
        wallet = HotWallet.objects.first()
        nonces = sorted(
            OutgoingTransaction.objects.exclude(nonce=None).values_list("nonce", flat=True)
        )
        assert wallet is None or nonces == list(range(self.first_nonce, wallet.next_nonce))
        assert wallet is None or wallet.halted_at is None

    @invariant()
    def nothing_arrives_twice(self) -> None:
        for to, amount_atomic in self.wanted.items():
            assert self.world.balance(to) in (0, amount_atomic)

    def teardown(self) -> None:
        self.world.rpc("anvil_setNextBlockBaseFeePerGas", hex(10**9))
        for _ in range(12):
            if not OutgoingTransaction.objects.exclude(status="confirmed").exists():
                break
            SignedTransaction.objects.update(broadcast_at=None)
            self.world.work()
            self.world.mine(4)
            self.world.work()
        for to, amount_atomic in self.wanted.items():
            assert self.world.balance(to) == amount_atomic
        self.world.automine(True)


def test_transfers_survive_whatever_happens(world: World) -> None:
    Sending.world = world
    run_state_machine_as_test(Sending, settings=LIMITS)


LIMITS = settings(
    max_examples=usually(short=6, whole=12),
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
