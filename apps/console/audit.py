"""`findings`: asks the database, and on demand the chains, whether everything that must always hold does. It only reads.

All questions are asked of one snapshot, so that what is posted meanwhile is no finding.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction
from psycopg.types.json import Jsonb

from apps.console import custody
from apps.console.invariant import Invariant
from apps.console.invariants import INVARIANTS, PARAMETERS
from apps.stores.models import AuditSeal

FINDINGS_MAX = 100
_KEPT = "kept_seal"


@dataclass(frozen=True)
class Finding:
    """One breach: of which invariant, by what, and why."""

    invariant: str
    subject: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """An invariant, over how many things it was asked, and its breaches (at most FINDINGS_MAX)."""

    name: str
    says: str
    counted: int
    findings: list[Finding]


def findings(check_chain: bool = False) -> list[Finding]:
    """Every breach of every invariant; empty when all is well."""
    return [finding for verdict in verdicts(check_chain) for finding in verdict.findings]


def verdicts(check_chain: bool = False) -> list[Verdict]:
    """Each invariant with its verdict, in the order of the table. `check_chain` also asks the chains what addresses hold."""
    with _one_snapshot():
        found = [_ask(invariant) for invariant in INVARIANTS]
        books = custody.booked() if check_chain else []
    if check_chain:
        checked = custody.compare(books)
        breaches = [Finding(custody.NAME, one.subject, one.detail) for one in checked if one.detail]
        found.append(Verdict(custody.NAME, custody.SAYS, len(checked), breaches))
    return found


def kept_seal(text: str) -> Verdict:
    """Whether a seal that was kept elsewhere, `number:seal`, is still one of the audit log's."""
    stands = any(str(one) == text.strip() for one in AuditSeal.objects.filter(seal=text.strip().rpartition(":")[2][:64]))
    broken = [] if stands else [Finding(_KEPT, f"seal {text[:90]}", "the log doesn't have it: lines and seals were made anew")]
    return Verdict(_KEPT, "The seal that was kept elsewhere still stands", 1, broken)


def _ask(invariant: Invariant) -> Verdict:
    parameters = {**PARAMETERS, "moves": Jsonb(PARAMETERS["moves"])}
    with connection.cursor() as cursor:
        cursor.execute(invariant.counted, parameters)
        counted = int(cursor.fetchone()[0])
        cursor.execute(f"SELECT * FROM ({invariant.breaches}) breaches LIMIT {FINDINGS_MAX}", parameters)  # noqa: S608  # our own table
        rows = [Finding(invariant.name, subject, detail) for subject, detail in cursor.fetchall()]
    return Verdict(invariant.name, invariant.says, counted, rows)


@contextmanager
def _one_snapshot() -> Iterator[None]:
    """A transaction of one snapshot; inside a caller's transaction, what that one sees."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
