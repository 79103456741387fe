"""Money that leaves does so per mode: what test mode asks for wakes test mode's own workers, and
each mode has its place in a crowd."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from apps.core.models import RowTurn
from apps.core.redis import buckets
from apps.core.rows import Job
from apps.stores.models import User
from config.celery import PERIODIC, app
from config.followers import JOBS_BY_MODE
from tests import make
from tests.cast import Shop, person


def refund(shop: Shop) -> None:
    paid = make.paid(shop.test)
    body = {"refund": {"amount": "0.001", "destination_address": make.fresh_address()}}
    assert shop.test.post(f"/payments/{paid['id']}/refunds", body, key="refund").status_code == 201


def payout(shop: Shop) -> None:
    make.payout(shop.test, make.funded(shop.test) // 2)


ASKED: dict[str, Callable[[Shop], object]] = {
    "payments.advance_refunds": refund,
    "swaps.advance": make.swapped,
    "payouts.advance": payout,
}


def waiting(queue: str) -> set[str]:
    return {
        json.loads(bucket)["headers"]["task"] for bucket in buckets.client().lrange(queue, 0, -1)
    }


@pytest.mark.parametrize("job", ASKED)
def test_what_test_mode_asks_for_is_no_work_of_those_who_send_live_money(
    job: str, bakery: Shop, django_capture_on_commit_callbacks: Any
) -> None:
    buckets.client().flushdb()
    with django_capture_on_commit_callbacks(execute=True):
        ASKED[job](bakery)
    assert job in waiting("test") and job not in waiting("celery")


def test_a_job_that_is_split_has_runs_and_messages_of_each_mode() -> None:
    """`chain.send_due` is the periodic run of `chain.send`, which is only woken."""
    assert set(JOBS_BY_MODE) - set(PERIODIC) == {"chain.send"}
    scheduled = {run["task"] for run in app.conf.beat_schedule.values() if "kwargs" in run}
    assert scheduled == set(JOBS_BY_MODE) - {"chain.send"}


def test_a_crowd_of_one_mode_does_not_move_the_others_place(db: None) -> None:
    for name in "01234":
        person(name)
    job = Job("tests.modes", limit=2)
    seen = list[str]()
    rows = User.objects.filter(email__regex="^[0-4]-").order_by("email")
    for mode in ("live", "test", "test", "live"):
        job.walk(rows, lambda user, mode=mode: seen.append(mode + user.pk.hex), mode=mode)
    keys = sorted(user.pk.hex for user in rows)
    assert [item[4:] for item in seen if item.startswith("live")] == keys[:4]
    turns = RowTurn.objects.filter(job__startswith=job.name)
    assert set(turns.values_list("job", flat=True)) == {
        "tests.modes:live",
        "tests.modes:test",
    }
