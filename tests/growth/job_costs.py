"""Database reads of periodic jobs, figures, probes and claims: with nothing due, and with a few
rows due."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from django.test import override_settings

from apps.chain.sending import sweep_left
from apps.core import rows
from apps.core.db import tenancy
from tests.growth.buffers import GROWTH_MAX, reading
from tests.growth.due import EACH, SWEEP_MINIMUMS, due
from tests.growth.seed import GrowingTown
from tests.growth.work import SENDING, work

# An index is a level deeper, a free page is looked for.
BUFFERS_SPARE = 12
# Old rows are found by the ranges of a BRIN index, each 128 pages; the copies of either size begin
# with their oldest rows.
PRUNING_SPARE = 8 * 128
# The claim expects a hundred endpoints that wait, and goes through all stores while there are no
# more than that.
CLAIM_SPARE = 1_000
# So few stores whose clocks are ahead are asked in a run that both sizes have more.
CLOCKS = 3
# As few addresses are looked at for what a wallet lacks.
FULLEST = 10
Runs = Mapping[str, Callable[[], object]]


@dataclass(frozen=True)
class Cost:
    """Of a statement of a job: how often it was asked, and what all of that read."""

    times: int
    buffers: int


Costs = dict[tuple[str, str], Cost]
NOTHING = Cost(0, 0)


@dataclass(frozen=True)
class Measured:
    """By work and statement."""

    at_rest: Costs
    with_due: Costs


def in_question(many: Measured) -> Measured:
    """Rows that aren't allowed whatever few rows take: all else needn't be measured of them."""
    return Measured(
        {key: cost for key, cost in many.at_rest.items() if cost.buffers > of_a_run(key[0], cost)},
        {
            key: cost
            for key, cost in many.with_due.items()
            if cost.buffers > of_each_row(key[0], cost)
        },
    )


def measured(place: GrowingTown, only: Measured | None = None) -> Measured:
    """Each of two runs, after one that has done whatever growing has left to do: of all that runs
    by itself, or of what is named alone."""
    runs = work()
    with (
        override_settings(CHAIN_URLS={}, SWEEP_MINIMUMS=SWEEP_MINIMUMS),
        tenancy.everyone("what runs by itself sees all rows"),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(rows, "AHEAD_STORES_MAX", CLOCKS)
        patch.setattr(sweep_left, "FULLEST_MAX", FULLEST)
        for run in runs.values():
            run()
        at_rest = run_all(runs, only.at_rest if only else None)
        with due(place.shop):
            due_runs = {name: run for name, run in runs.items() if name not in SENDING}
            return Measured(at_rest, run_all(due_runs, only.with_due if only else None))


def run_all(runs: Runs, only: Costs | None) -> Costs:
    """All of them run, as what some do is due for others; what is named alone is measured."""
    names = {name for name, _ in only} if only is not None else set(runs)
    found: Costs = {}
    for name, run in runs.items():
        if name not in names:
            run()
            continue
        with reading() as read:
            run()
        for statement, buffers in read.buffers.items():
            found[name, statement] = Cost(read.runs[statement], buffers)
    return found


def grown(few: Costs, many: Costs, spare: Callable[[str, Cost], int]) -> str:
    """The statements that read more, each with what it cost at both sizes."""
    return "\n".join(
        f"{name}: {few.get((name, statement), NOTHING)}, {cost}: {statement}"
        for (name, statement), cost in many.items()
        if cost.buffers
        > GROWTH_MAX * few.get((name, statement), NOTHING).buffers + spare(name, cost)
    )


def of_a_run(name: str, cost: Cost) -> int:
    return PRUNING_SPARE if name.endswith(".prune") else BUFFERS_SPARE


def of_each_row(name: str, cost: Cost) -> int:
    """A statement is asked for each row that is due, or goes down an index for each."""
    spare = CLAIM_SPARE if name == "webhooks claim" else of_a_run(name, cost)
    return max(spare, BUFFERS_SPARE * max(cost.times, EACH))


def is_of_a_store(statement: str) -> bool:
    """A simulated payout's limit is added up of all that its store has simulated."""
    return statement.startswith("SELECT SUM(") and '"is_simulated"' in statement
