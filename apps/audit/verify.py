"""`findings`: asks the database, and on demand the chains, whether everything that must always hold
does. It only reads.

All questions are asked of one snapshot, so that what is posted meanwhile is no finding.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection, transaction

from apps.audit import custody
from apps.audit.invariants import INVARIANTS, parameters
from apps.core.db.sql import Arguments
from apps.core.invariant import Invariant
from apps.payments.models import PaymentSeal
from apps.stores.models import AuditSeal

FINDINGS_MAX = 100
_BREACHES = f"""
SELECT subject, detail, count(*) OVER () FROM ({{}}) breaches (subject, detail) LIMIT {FINDINGS_MAX}
"""  # noqa: S608  # our own table
_KEPT = "kept_seal"


@dataclass(frozen=True)
class Finding:
    """One breach: of which invariant, by what, and why."""

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
    with _one_snapshot():
        arguments = parameters()
        results = [_ask(invariant, arguments) for invariant in INVARIANTS]
        books = custody.booked() if check_chain else []
    if check_chain:
        # What is asked of few comes first: the last question is the one about all our addresses.
        results.append(
            _asked_of_chains(
                custody.COLD_NAME, custody.COLD_SAYS, lambda: custody.compare_cold(books)
            )
        )
        results.append(_asked_of_chains(custody.NAME, custody.SAYS, lambda: custody.compare(books)))
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
    """Whether a seal that was kept elsewhere, `number:seal`, is still one of the audit log's or of
    the payments'."""
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
    """PostgreSQL counts; no more than FINDINGS_MAX breaches ever come here."""
    watch = _Stopwatch()
    with connection.cursor() as cursor:
        cursor.execute(invariant.counted, arguments)
        counted = int(cursor.fetchone()[0])
        cursor.execute(_BREACHES.format(invariant.breaches), arguments)
        rows = cursor.fetchall()
    findings = [Finding(invariant.name, subject, detail) for subject, detail, _ in rows]
    return Verdict(
        invariant.name,
        invariant.says,
        counted,
        int(rows[0][2]) if rows else 0,
        findings,
        watch.took,
    )


@contextmanager
def _one_snapshot() -> Iterator[None]:
    """A transaction of one snapshot; inside a caller's transaction, what that one sees."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Nothing may come before it, so its scope comes after it.
            connection.begin_telling()  # type: ignore[attr-defined]  # db.postgresql
            try:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            finally:
                connection.end_telling()  # type: ignore[attr-defined]  # db.postgresql
            # Of every row there is: as long as that takes.
            cursor.execute("SET LOCAL statement_timeout = 0")
        yield
