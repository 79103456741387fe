"""Points up to which everything was verified: how one is found again, and what makes a new one.

A run reads on from a point's boundary: the oldest transaction that was under way in the run's
snapshot. Every row of an older one was seen, however late its number or id was committed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from apps.audit.models import VerifiedPoint
from apps.core.errors import Failure
from apps.core.messages.fields import parse_moment
from apps.payments.models import PaymentSeal
from apps.stores.models import AuditSeal

LAST = "last"
# Numbers of transactions are compared within half of their 32 bits.
TRANSACTIONS_MAX = 2**31 - 100_000_000
# Their rows are never changed or deleted: what was verified is still there, as it was.
LASTING_TABLES = (
    "ledger_movement",
    "ledger_entry",
    "payments_paymentevent",
    "payments_paymentseal",
    "stores_auditentry",
    "stores_auditseal",
    "payouts_payouttransition",
    "swaps_swapstep",
)
_EARLY = timedelta(hours=12)
_SEAL = re.compile(r"[0-9]{1,18}:[0-9a-f]{64}", re.ASCII)
# A restore makes the tables anew, and numbers of transactions begin again in another cluster.
_PLACE = """
SELECT pg_snapshot_xmin(pg_current_snapshot())::text,
    concat_ws(':', (SELECT system_identifier FROM pg_control_system()),
        (SELECT oid FROM pg_database WHERE datname = current_database()),
        'ledger_entry'::regclass::oid)
"""
_OLDER = "count(*) FILTER (WHERE age(r.xmin) > age(%s::text::xid8::xid))"


class UnknownPoint(Failure):
    """`--since` names nothing that was verified."""

    message = (
        "--since takes last, a point in time (2026-11-22T03:00:00Z) or a seal (4711:9f2c…) of the"
        " audit log or the payments"
    )


@dataclass(frozen=True)
class Snapshot:
    """Scope of a run: everything before the boundary, in this database."""

    boundary_xid: int
    database_name: str

    @classmethod
    def current(cls) -> "Snapshot":
        with connection.cursor() as cursor:
            cursor.execute(_PLACE)
            boundary, name = cursor.fetchone()
        return cls(int(boundary), name)

    @property
    def counts_rows(self) -> bool:
        """True if rows as old as the database can be distinguished from new ones."""
        return self.boundary_xid < TRANSACTIONS_MAX

    def continues(self, point: VerifiedPoint) -> bool:
        """True if what was verified there can be distinguished from what was written since."""
        transactions = self.boundary_xid - point.boundary_xid
        return self.database_name == point.database_name and 0 <= transactions < TRANSACTIONS_MAX

    def newest_point(self, **of_kind: bool) -> VerifiedPoint | None:
        """The newest one of this database, among those that are as `of_kind` says."""
        point = VerifiedPoint.objects.filter(**of_kind).order_by("-pk").first()
        return point if point is not None and self.continues(point) else None

    def row_counts(self, *boundaries: int) -> list[dict[str, int]]:
        """For each boundary the rows of lasting tables that were written before it; each table is
        read once."""
        if not self.counts_rows:
            return [{} for _ in boundaries]
        older = ", ".join([_OLDER] * len(boundaries))
        counts: list[dict[str, int]] = [{} for _ in boundaries]
        with connection.cursor() as cursor:
            for table in LASTING_TABLES:
                cursor.execute(
                    f"SELECT {older} FROM {table} r",  # noqa: S608  # our own names
                    [str(boundary) for boundary in boundaries],
                )
                for of_boundary, count in zip(counts, cursor.fetchone(), strict=True):
                    of_boundary[table] = int(count)
        return counts


def find(since: str) -> VerifiedPoint | None:
    """The point that `--since` names: `last`, or the newest one up to a moment or a seal. None when
    nothing was verified up to then."""
    points = VerifiedPoint.objects.order_by("-pk")
    if since != LAST:
        points = points.filter(verified_at__lte=_moment_of(since))
    return points.first()


def is_whole_due(days: int, at: datetime) -> bool:
    """True if everything was last verified so many days ago; never for none. A nightly run may
    begin some hours earlier than the one of a week before."""
    if not days:
        return False
    since = at - timedelta(days=days) + _EARLY
    return not VerifiedPoint.objects.filter(is_whole=True, verified_at__gt=since).exists()


def newest_times() -> dict[str, datetime]:
    """Times of the last clean runs, of each kind and of everything; before the first one, the time
    when points were introduced."""
    (applied,) = MigrationRecorder.Migration.objects.filter(
        app="audit", name="0001_verified_points"
    ).values_list("applied", flat=True)
    points = VerifiedPoint.objects.order_by("-pk").values_list("verified_at", flat=True)
    return {
        "any": points.first() or applied,
        "everything": points.filter(is_whole=True).first() or applied,
    }


def missing_rows(point: VerifiedPoint, counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Each lasting table of which not all rows are as they were at the point, and why."""
    for table, verified in point.row_counts.items():
        if table in counts and counts[table] != verified:
            yield (
                table,
                f"{verified} rows were verified, {counts[table]} of them are unchanged: run"
                " verify_ledger without --since",
            )


def _moment_of(since: str) -> datetime:
    if _SEAL.fullmatch(since):
        number, _, seal = since.partition(":")
        for model in (AuditSeal, PaymentSeal):
            row = model._default_manager.filter(number=number, seal=seal).first()
            if row is not None:
                return row.sealed_at
        raise UnknownPoint
    moment = parse_moment(since)
    if moment is None:
        raise UnknownPoint
    return moment
