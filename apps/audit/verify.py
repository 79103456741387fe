"""`findings`: asks the database, and on demand the chains, whether everything that must always hold
does. It only reads.

All questions are asked of one snapshot, by two connections side by side, so that what is posted
meanwhile is no finding. `audit`
keeps the point that it verified, and asks about what was written since an earlier one.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db import DatabaseError, connection, transaction

from apps.audit import custody, derived, kept, own_receipts, points, senders, touched
from apps.audit.fact_tables import Facts
from apps.audit.facts import FACTS
from apps.audit.invariants import INVARIANTS, parameters
from apps.audit.kept import Kept
from apps.audit.models import VerifiedPoint
from apps.audit.points import Snapshot
from apps.core import acting, clock
from apps.core.db import replica
from apps.core.db.outage import is_outage
from apps.core.db.replica import reads_may_lag
from apps.core.db.snapshot import OpenSnapshot, one_snapshot
from apps.core.db.sql import Arguments
from apps.core.invariant import Invariant
from apps.payments import seals as payment_seals
from apps.payments.models import PaymentSeal
from apps.stores.auditing import seals as audit_seals
from apps.stores.models import AuditSeal

FINDINGS_MAX = 100
DETAIL_MAX = 500
_BREACHES = f"""
SELECT subject, CASE WHEN length(detail) > {DETAIL_MAX} THEN left(detail, {DETAIL_MAX}) || '…'
    ELSE detail END, count(*) OVER () FROM ({{}}) breaches (subject, detail) LIMIT {FINDINGS_MAX}
"""  # noqa: S608  # our own table
_KEPT = "kept_seal"
_LASTING = "verified_rows_last"
_LASTING_SAYS = "What was verified before and is never changed is still there, unchanged"


@dataclass(frozen=True)
class Finding:
    """A breach: of which invariant, by what, and why."""

    invariant: str
    subject: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """An invariant, over how many things it was asked, how many breaches there are, and the first
    FINDINGS_MAX of them."""

    name: str
    says: str
    counted: int
    broken: int
    findings: list[Finding]
    took: timedelta
    is_incremental: bool = False


@dataclass(frozen=True)
class Audit:
    """A run. `since` is the point that it began at, None when it asked about everything; `point` is
    the one that it has made, None when something is broken."""

    verdicts: list[Verdict]
    since: VerifiedPoint | None
    point: VerifiedPoint | None
    newest_seal: AuditSeal | None
    newest_payment_seal: PaymentSeal | None

    @property
    def is_broken(self) -> bool:
        return any(verdict.findings for verdict in self.verdicts)


@dataclass(frozen=True)
class _Read:
    """Results of one snapshot."""

    verdicts: list[Verdict]
    since: VerifiedPoint | None
    snapshot: Snapshot
    row_counts: dict[str, int]
    facts: dict[str, Kept]
    books: list[custody.Book]
    chain_xid: int | None
    seals: tuple[AuditSeal | None, PaymentSeal | None]


class _Stopwatch:
    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def took(self) -> timedelta:
        return timedelta(seconds=time.monotonic() - self._began)


def findings(check_chain: bool = False) -> list[Finding]:
    """Every breach of every invariant; empty when all is well."""
    return [finding for verdict in verdicts(check_chain) for finding in verdict.findings]


def verdicts(check_chain: bool = False) -> list[Verdict]:
    """Each invariant with its verdict, in the order of the table. `check_chain` also asks the
    chains what addresses hold."""
    return _asked(_read(check_chain, None), check_chain)


def audit(
    *,
    check_chain: bool = False,
    since: str = "",
    whole_days: int = 0,
    seal: str = "",
    anew: bool = False,
) -> Audit:
    """Verify everything, or what was written since the point that `since` names; without findings
    that is a new point. Everything is due again after `whole_days`, unless that is 0. `seal` is
    one that was saved elsewhere. `anew` compares nothing with earlier points: what was
    changed or deleted since has been explained."""
    began = clock.real_now()
    watch = _Stopwatch()
    earlier = points.find(since) if since else None
    if points.is_whole_due(whole_days, began):
        earlier = None
    # Chains are asked now, and so are the books that they are compared with.
    read = (_read if check_chain else _read_late)(check_chain, earlier, anew=anew)
    results = _asked(read, check_chain)
    if seal:
        results.append(kept_seal(seal))
    audit_seal, payment_seal = read.seals
    point = None
    if not any(verdict.findings for verdict in results):
        point = VerifiedPoint.objects.create(
            verified_at=began,
            boundary_xid=read.snapshot.boundary_xid,
            database_name=read.snapshot.database_name,
            row_counts=read.row_counts,
            facts=read.facts,
            is_whole=read.since is None,
            is_with_chain=check_chain,
            since=read.since,
            audit_seal=str(audit_seal or ""),
            payment_seal=str(payment_seal or ""),
            verified_by=acting.current().name,
            took_ms=watch.took // timedelta(milliseconds=1),
        )
    return Audit(results, read.since, point, audit_seal, payment_seal)


@reads_may_lag("what must hold at every moment")
def _read_late(check_chain: bool, point: VerifiedPoint | None, *, anew: bool) -> _Read:
    return _read(check_chain, point, anew=anew)


def _read(check_chain: bool, point: VerifiedPoint | None, *, anew: bool = False) -> _Read:
    with one_snapshot() as opened:
        snapshot = Snapshot.current()
        since = point if point is not None and snapshot.continues(point) else None
        earlier = None if anew else since or snapshot.newest_point()
        arguments = parameters()
        if since is not None:
            arguments = {**arguments, **touched.touched_since(since.boundary_xid)}
        results = opened.answers(lambda invariant: _ask(invariant, arguments), INVARIANTS)
        counts = _count_lasting(snapshot, since, results)
        facts = _compare_facts(opened, earlier, results)
        place = None if anew or not check_chain else snapshot.newest_point(is_with_chain=True)
        chain_xid = None if place is None or place.facts is None else place.boundary_xid
        if check_chain:
            results.append(_derived(chain_xid))
        books = custody.booked() if check_chain else []
        return _Read(
            results,
            since,
            snapshot,
            counts,
            facts,
            books,
            chain_xid,
            (audit_seals.newest(), payment_seals.newest()),
        )


def _count_lasting(
    snapshot: Snapshot, since: VerifiedPoint | None, results: list[Verdict]
) -> dict[str, int]:
    """The rows that this run has verified for good; whether those of an earlier one are still there
    is one more verdict."""
    watch = _Stopwatch()
    if since is None:
        (counts,) = snapshot.row_counts(snapshot.boundary_xid)
        return counts
    before, counts = snapshot.row_counts(since.boundary_xid, snapshot.boundary_xid)
    broken = [Finding(_LASTING, table, why) for table, why in points.missing_rows(since, before)]
    results.append(
        Verdict(
            _LASTING, _LASTING_SAYS, sum(before.values()), len(broken), broken, watch.took, True
        )
    )
    return counts


def _compare_facts(
    opened: OpenSnapshot, earlier: VerifiedPoint | None, results: list[Verdict]
) -> dict[str, Kept]:
    """Count and hash what is written once, table by table; that a point's rows are still there is
    one more verdict."""
    watch = _Stopwatch()
    at = clock.real_now()
    before = {} if earlier is None else earlier.facts or {}

    def read(facts: Facts) -> kept.Comparison:
        try:
            with transaction.atomic():
                return kept.compare(facts, before.get(facts.table), at)
        except DatabaseError as error:
            if _ends_the_run(error):
                raise
            finding = _not_asked(facts.table, error)
            return kept.Comparison({}, 0, [(facts.table, finding.detail)])

    compared = opened.answers(read, FACTS)
    broken = [Finding(kept.NAME, *breach) for each in compared for breach in each.breaches]
    counted = sum(each.counted for each in compared)
    results.append(
        Verdict(kept.NAME, kept.SAYS, counted, len(broken), broken[:FINDINGS_MAX], watch.took)
    )
    return {facts.table: each.now for facts, each in zip(FACTS, compared, strict=True)}


def _derived(boundary: int | None) -> Verdict:
    """Addresses that an earlier run has derived and nobody has written since are not derived
    again."""
    watch = _Stopwatch()
    try:
        with transaction.atomic():
            counted, breaches = derived.compare(boundary)
    except DatabaseError as error:
        if _ends_the_run(error):
            raise
        counted, breaches = 0, [("its query", _not_asked("", error).detail)]
    broken = [Finding(derived.NAME, *breach) for breach in breaches]
    return Verdict(
        derived.NAME, derived.SAYS, counted, len(broken), broken[:FINDINGS_MAX], watch.took, True
    )


def _asked(read: _Read, check_chain: bool) -> list[Verdict]:
    """The snapshot's verdicts, and those of the chains."""
    results = list(read.verdicts)
    if check_chain:
        # What is asked of few comes first: the last question is the one about all our addresses.
        results.append(
            _asked_of_chains(
                custody.COLD_NAME, custody.COLD_SAYS, lambda: custody.compare_cold(read.books)
            )
        )
        results.append(
            _asked_of_chains(senders.NAME, senders.SAYS, lambda: senders.compare(read.chain_xid))
        )
        results.append(
            _asked_of_chains(
                own_receipts.NAME,
                own_receipts.SAYS,
                lambda: own_receipts.compare(read.chain_xid),
            )
        )
        results.append(
            _asked_of_chains(custody.NAME, custody.SAYS, lambda: custody.compare(read.books))
        )
    return results


def _asked_of_chains(name: str, says: str, compare: Callable[[], list[custody.Checked]]) -> Verdict:
    watch = _Stopwatch()
    checked = compare()
    breaches = [
        Finding(name, comparison.subject, comparison.detail)
        for comparison in checked
        if comparison.detail
    ]
    return Verdict(name, says, len(checked), len(breaches), breaches[:FINDINGS_MAX], watch.took)


def kept_seal(text: str) -> Verdict:
    """Verdict on a seal that was kept elsewhere, `number:seal`: one of the audit log's or of the
    payments'."""
    watch = _Stopwatch()
    seal = text.strip()
    seals = [
        *AuditSeal.objects.filter(seal=_hash_of(seal)),
        *PaymentSeal.objects.filter(seal=_hash_of(seal)),
    ]
    stands = any(str(row) == seal for row in seals)
    why = (
        "neither the log nor the payments have it: the sealed records and the seals were rewritten"
    )
    broken = [] if stands else [Finding(_KEPT, f"seal {seal[:90]}", why)]
    return Verdict(
        _KEPT, "The seal saved elsewhere is unchanged", 1, len(broken), broken, watch.took
    )


def _hash_of(seal: str) -> str:
    return seal.rpartition(":")[2][:64]


def _ask(invariant: Invariant, arguments: Arguments) -> Verdict:
    """A query that PostgreSQL refuses or breaks off is a finding; the others are still asked."""
    watch = _Stopwatch()
    try:
        with transaction.atomic():
            counted, broken, findings = _answer(invariant, arguments)
    except DatabaseError as error:
        if _ends_the_run(error):
            raise
        counted, broken, findings = 0, 1, [_not_asked(invariant.name, error)]
    return Verdict(
        invariant.name,
        invariant.says,
        counted,
        broken,
        findings,
        watch.took,
        invariant.is_incremental,
    )


def _answer(invariant: Invariant, arguments: Arguments) -> tuple[int, int, list[Finding]]:
    """PostgreSQL counts; no more than FINDINGS_MAX breaches ever come here."""
    narrowing = "" if arguments["is_whole"] else touched.narrowing(invariant)
    with connection.cursor() as cursor:
        cursor.execute(narrowing + invariant.counted, arguments)
        counted = int(cursor.fetchone()[0])
        cursor.execute(narrowing + _BREACHES.format(invariant.breaches), arguments)
        rows = cursor.fetchall()
    findings = [Finding(invariant.name, subject, detail) for subject, detail, _ in rows]
    return counted, int(rows[0][2]) if rows else 0, findings


def _ends_the_run(error: DatabaseError) -> bool:
    """The rest can't be asked here: the connection is gone, or the primary is asked instead of the
    replica."""
    return connection.needs_rollback or (replica.is_in_place() and is_outage(error))


def _not_asked(name: str, error: DatabaseError) -> Finding:
    diagnosis = getattr(error.__cause__, "diag", None)
    why = getattr(diagnosis, "message_primary", None) or type(error).__name__
    return Finding(name, "its query", f"PostgreSQL didn't answer it: {why}")
