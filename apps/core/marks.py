"""How far a job has read a table that only grows, so that a run reads what is new and not all there
ever was.

Rows are numbered before they are committed: a mark moves to a number only once every transaction
that could have drawn a lower one has ended. Until then what follows the old place is read again.
"""

from dataclasses import dataclass

from django.db import connection

from apps.core.models import RowTurn

_NOW = "SELECT pg_current_xact_id()::text, pg_snapshot_xmin(pg_current_snapshot())::text"


@dataclass(frozen=True)
class Mark:
    """By its name among the turns of jobs."""

    name: str

    def place(self) -> int:
        """The number up to which everything was read."""
        return self._read()[0]

    def move(self, newest: int) -> None:
        """What was committed up to this number has been read. One that hasn't settled stays what it
        is: the next run asks again."""
        place, candidate, transaction_id = self._read()
        with connection.cursor() as cursor:
            cursor.execute(_NOW)
            own, oldest_running = (int(text) for text in cursor.fetchone())
        if candidate > place and transaction_id < oldest_running:
            place = candidate
        if newest > place >= candidate:
            candidate, transaction_id = newest, own
        RowTurn.objects.update_or_create(
            job=self.name, defaults={"row_id": f"{place}:{candidate}:{transaction_id}"}
        )

    def _read(self) -> tuple[int, int, int]:
        text = RowTurn.objects.filter(job=self.name).values_list("row_id", flat=True).first()
        if text is None:
            return 0, 0, 0
        place, candidate, transaction_id = (int(part) for part in text.split(":"))
        return place, candidate, transaction_id
