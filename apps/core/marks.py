"""Read positions of jobs in tables that only grow, so that a run reads new rows alone.

Rows are numbered before they are committed: the place moves to a number only in a run that began
when every transaction that could have drawn a lower one had ended. Until then what follows the old
place is read again.
"""

from dataclasses import dataclass

from django.db import connection

from apps.core.models import RowTurn

# A number that this cluster hasn't come to is another's: a dump or a replica brought it here, with
# everything that was committed there.
_HAS_SETTLED = """
SELECT CASE WHEN numbered < pg_snapshot_xmin(seen) OR numbered >= pg_snapshot_xmax(seen)
    THEN 1 ELSE 0 END
FROM pg_current_snapshot() seen, CAST(%s::text AS xid8) numbered
"""


@dataclass(frozen=True)
class Reading:
    """A run's: it reads what follows `place`, and keeps how far it came once that is dealt with."""

    name: str
    place: int
    candidate: int  # up to which an earlier run read
    transaction_id: int  # none that follows it drew a number up to the candidate
    has_settled: bool  # before this run: it sees everything up to the candidate

    def end(self, newest: int) -> None:
        """Ends the reading: everything committed up to this number has been processed."""
        place = self.candidate if self.has_settled else self.place
        candidate, transaction_id = self.candidate, self.transaction_id
        if newest > place >= candidate:
            candidate, transaction_id = newest, _ask("SELECT pg_current_xact_id()::text")
        text = f"{place}:{candidate}:{transaction_id}"
        if (place, candidate) != (self.place, self.candidate):
            RowTurn.objects.update_or_create(job=self.name, defaults={"row_id": text})


@dataclass(frozen=True)
class ReadingMark:
    """By its name among the turns of jobs."""

    name: str

    def begin(self) -> Reading:
        """Before anything is read."""
        text = RowTurn.objects.filter(job=self.name).values_list("row_id", flat=True).first()
        place, candidate, transaction_id = (int(part) for part in (text or "0:0:0").split(":"))
        has_settled = candidate > place and bool(_ask(_HAS_SETTLED, transaction_id))
        return Reading(self.name, place, candidate, transaction_id, has_settled)


def _ask(statement: str, *arguments: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments or None)
        return int(cursor.fetchone()[0])
