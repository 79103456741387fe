"""A day of the request log that somebody reads is dropped later, and blocks nobody."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from apps.access.pruning import REQUEST_LOG
from apps.core import clock
from apps.core.db import partitions
from apps.core.db.partitions import DAY, Partition
from tests.core.test_partitions import TABLE, of_days, suffix


@pytest.fixture
def old_day(django_db_setup: None, django_db_blocker: Any) -> Iterator[Partition]:
    """A day that other connections see, long before the first partition ends."""
    with django_db_blocker.unblock():
        with transaction.atomic():
            partitions.make_ahead(REQUEST_LOG, clock.real_now() + 60 * DAY)
        yield of_days()[0]
        for part in of_days():
            with connection.cursor() as cursor:
                cursor.execute("SELECT partitions_drop(%s, %s, NULL)", [[TABLE], suffix(part)])
        connection.close()


def test_a_day_in_use_waits_and_keeps_nobody_waiting(
    old_day: Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "PAUSE_SECONDS", 0.2)
    slowest = 0.0
    dsn = connection.get_connection_params()
    dsn = {
        name: dsn[name] for name in ("host", "port", "user", "password", "dbname") if name in dsn
    }

    def drop() -> None:
        try:
            gone.append(_drop(old_day))
        finally:
            connection.close()

    gone: list[bool] = []
    with (
        psycopg.connect(**dsn) as reader,
        psycopg.connect(**dsn, autocommit=True, prepare_threshold=None) as other,
    ):
        reader.execute(f"SELECT count(*) FROM {TABLE}")
        thread = threading.Thread(target=drop)
        thread.start()
        while thread.is_alive():
            began = time.monotonic()
            other.execute(f"SELECT count(*) FROM {TABLE} WHERE created_at > now()")
            slowest = max(slowest, time.monotonic() - began)
        thread.join()
        assert gone == [False] and slowest < 20
    assert _drop(old_day)


def _drop(day: Partition) -> bool:
    return partitions.attempt("partitions_drop", [[TABLE], suffix(day), None])
