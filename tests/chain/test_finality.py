"""Which block counts for good, in the one place that says so."""

import re

import pytest

from apps.assets.models import Chain
from apps.chain.networks.finality import confirmations, final_number
from tests.house.files import ROOT, sources

# SQL compares the number that each deposit keeps.
IN_SQL = {"apps/chain/watching/deposits.py"}


@pytest.mark.parametrize(
    ("required", "head", "last"), [(1, 7, 7), (12, 100, 89), (12, 11, 0), (12, 12, 1)]
)
def test_a_block_counts_with_its_confirmations(required: int, head: int, last: int) -> None:
    chain = Chain(required_confirmations=required)
    assert final_number(chain, head) == last
    assert confirmations(last, head) >= required or last == 0
    assert confirmations(last + 1, head) < required


def test_nothing_is_confirmed_before_it_is_mined() -> None:
    assert confirmations(9, 8) == 0


def test_nobody_else_counts_down_from_a_head() -> None:
    counting = re.compile(r"required_confirmations [+-] 1")
    found = {
        name
        for path in sources("apps")
        if path.suffix == ".py"
        and "migrations" not in path.parts
        and counting.search(path.read_text())
        and (name := str(path.relative_to(ROOT))) != "apps/chain/networks/finality.py"
    }
    assert found == IN_SQL
