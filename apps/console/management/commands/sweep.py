"""`sweep`: bring deposits to the hot wallet now, as far as that is worth its gas; the worker does it every few minutes."""

from typing import Any

from apps.chain import sweeper
from apps.console.command import OperatorCommand


class Command(OperatorCommand):
    help = "Ask for the sweeps that are worth their gas; the worker signs and sends them"

    def run(self, **options: Any) -> dict[str, Any]:
        asked = sweeper.sweep_due()
        return {"sweeps": asked.sweeps, "gas_transfers": asked.gas_transfers}
