"""`sweep`: bring deposits to the hot wallet now, as far as that is worth its gas; the worker does
it every few minutes."""

from typing import Any

from apps.chain.sending import sweeper
from apps.stores.command import OperatorCommand, Result


class SweepResult(Result, frozen=True, kw_only=True):
    """How many transactions were asked for."""

    sweeps: int
    gas_transfers: int
    batches: int


class Command(OperatorCommand[SweepResult]):
    help = "Request the sweeps that are worth their gas; the worker sends them once they are signed"

    def run(self, **options: Any) -> SweepResult:
        count = sweeper.sweep_due()
        return SweepResult(
            sweeps=count.sweeps, gas_transfers=count.gas_transfers, batches=count.batches
        )
