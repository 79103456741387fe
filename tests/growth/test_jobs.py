"""What runs by itself costs by what is due, not by all there ever was: with eight times the rows no
periodic job, figure, probe or claim reads more of the database."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from apps.core.db import tenancy
from apps.payments.models import Payment
from config.celery import PERIODIC
from tests.growth.buffers import reading
from tests.growth.seed import Town, town
from tests.growth.work import work

# Settings of a session, and VACUUM, which a pooler refuses.
pytestmark = pytest.mark.direct

FEW = 2_000
MANY = 8 * FEW
GROWTH_MAX = 1.3
# An index is a level deeper, a free page is looked for.
BUFFERS_SPARE = 12
# Old rows are found by the ranges of a BRIN index, each 128 pages; the copies of either size begin
# with their oldest rows.
PRUNING_SPARE = 8 * 128


def measured() -> dict[tuple[str, str], int]:
    """Buffers by work and statement, of a run after one that has done whatever was due."""
    found: dict[tuple[str, str], int] = {}
    for name, run in work().items():
        with tenancy.everyone("what runs by itself sees all rows"):
            run()
            with reading() as read:
                run()
        found |= {(name, statement): buffers for statement, buffers in read.buffers.items()}
    return found


def allowed(name: str, buffers: int) -> float:
    spare = PRUNING_SPARE if name.endswith(".prune") else BUFFERS_SPARE
    return GROWTH_MAX * buffers + spare


@pytest.fixture(scope="module")
def place(django_db_setup: None, django_db_blocker: Any) -> Iterator[Town]:
    with django_db_blocker.unblock(), town(MANY) as built:
        yield built


def test_what_runs_by_itself_reads_no_more_of_eight_times_the_rows(place: Town) -> None:
    with override_settings(CHAIN_URLS={}):
        place.grow(FEW)
        few = measured()
        place.grow(MANY)
        many = measured()

    assert len({name for name, _ in many}) > len(PERIODIC) / 2
    grown = {
        key: (few.get(key, 0), buffers)
        for key, buffers in many.items()
        if buffers > allowed(key[0], few.get(key, 0))
    }
    assert grown == {}, "\n".join(f"{key}: {sizes}" for key, sizes in grown.items())


def test_a_statement_that_reads_the_whole_table_is_seen(place: Town) -> None:
    """Of the two sizes that the test before this one has left."""
    with reading() as read:
        Payment.objects.filter(title="Bread", description="nowhere").count()
    with reading() as counted:
        Payment.objects.filter(pk=uuid.UUID(int=0)).count()

    assert sum(read.buffers.values()) > 10 * sum(counted.buffers.values()) > 0
