"""Turns that last longer than a transaction: one holder, who keeps it while it lives, and somebody
else after its death."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from apps.core.db import locks
from apps.core.db.locks import LockKind
from apps.core.models import Lease


@pytest.fixture
def committed(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Other threads see what is written."""
    with django_db_blocker.unblock():
        yield
        Lease.objects.all().delete()


def elsewhere(turn: LockKind, key: str) -> bool:
    """Tell whether another thread, on its own connection, gets the turn."""
    found: list[bool] = []

    def ask() -> None:
        with locks.try_hold(turn, key) as is_mine:
            found.append(is_mine)
        connection.close()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return found[0]


def test_a_turn_is_one_holders_and_its_keys_are_apart(committed: None) -> None:
    with locks.hold(LockKind.CARD_SESSION, "a"):
        assert not elsewhere(LockKind.CARD_SESSION, "a")
        assert elsewhere(LockKind.CARD_SESSION, "b") and elsewhere(LockKind.TEST_CLOCK, "a")
    assert (
        elsewhere(LockKind.CARD_SESSION, "a")
        and not Lease.objects.filter(key__in=("a", "b")).exists()
    )


def test_a_dead_holders_turn_is_free_when_its_lease_is_over(committed: None) -> None:
    lease = locks.take(LockKind.CHAIN_WATCHER, "a")
    assert lease is not None and locks.is_held(lease) and not elsewhere(LockKind.CHAIN_WATCHER, "a")
    locks._keeper.drop(lease)  # its process has died
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE core_lease SET until = clock_timestamp() - interval '1 second' WHERE key = 'a'"
        )
    assert not locks.is_held(lease)
    with locks.hold(LockKind.CHAIN_WATCHER, "a"):
        locks.release(lease)  # what the first one lets go of is not the second one's
        assert not elsewhere(LockKind.CHAIN_WATCHER, "a")


def test_a_living_holders_lease_is_renewed(
    committed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "RENEWED_EVERY_SECONDS", 0.02)
    with locks.hold(LockKind.CHAIN_SENDER, "renewed"):
        before = Lease.objects.get(key="renewed").until
        while Lease.objects.get(key="renewed").until == before:
            time.sleep(0.02)


def test_who_waits_goes_on_as_soon_as_the_turn_is_free(committed: None) -> None:
    entered = threading.Event()

    def wait() -> None:
        with locks.hold(LockKind.TEST_CLOCK, "a"):
            entered.set()
        connection.close()

    thread = threading.Thread(target=wait)
    with locks.hold(LockKind.TEST_CLOCK, "a"):
        thread.start()
        assert not entered.wait(0.2)
    thread.join(10)
    assert entered.is_set()
