"""How far a seal may go while others write, on connections of their own."""

import threading
from typing import Any

import pytest
from django.db import connection

from apps.payments import seals


def test_who_has_drawn_a_number_and_not_committed_is_waited_for(
    django_db_setup: None, django_db_blocker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines of history are numbered before they are committed: a seal must not end behind one that
    is still to come."""
    monkeypatch.setattr(seals, "WAIT_SECONDS", 0.3)
    drawn = threading.Event()
    go_on = threading.Event()

    def slow() -> None:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN; SELECT pg_current_xact_id()")
            drawn.set()
            go_on.wait(30)
            cursor.execute("ROLLBACK")
        connection.close()

    with django_db_blocker.unblock():
        thread = threading.Thread(target=slow)
        thread.start()
        assert drawn.wait(30)
        while_it_writes = seals._horizon()
        go_on.set()
        thread.join(30)
        monkeypatch.setattr(seals, "WAIT_SECONDS", 30)

        assert (while_it_writes, seals._horizon() is not None) == (None, True)
