"""Every part is killed in turn, the primary of PostgreSQL too: the whole story. That a promoted
replica takes the primary's place is tested by tests/core/test_replica.py in short."""

import pytest

from tests.faults import failover


@pytest.mark.whole
@pytest.mark.chain
def test_every_part_is_killed_in_turn_and_nothing_is_lost() -> None:
    wrong, stretches = failover.play(list(failover.KILLS), print)
    assert wrong == []
    assert [stretch.name for stretch in stretches] == list(failover.KILLS)
