"""`verify_ledger`: one line per invariant with how much it was asked of; exit 1 with the findings
when one is broken."""

from typing import Any

from django.core.management.base import CommandParser

from apps.audit import verify
from apps.audit.verify import Verdict
from apps.core.db.replica import reads_may_lag
from apps.payments import seals as payment_seals
from apps.stores import seals
from apps.stores.command import OperatorCommand, Result


class FindingResult(Result, frozen=True, kw_only=True):
    subject: str
    detail: str


class InvariantResult(Result, frozen=True, kw_only=True):
    """How many rows were counted and how many break it; of these the first ones."""

    name: str
    says: str
    counted: int
    broken: int
    seconds: float
    findings: list[FindingResult]


class AuditResult(Result, frozen=True, kw_only=True):
    """Each seal is `number:hash`."""

    ok: bool
    newest_seal: str | None
    newest_payment_seal: str | None
    invariants: list[InvariantResult]


class Command(OperatorCommand[AuditResult]):
    help = "Verify every invariant of the ledger by recomputing it; nothing is changed"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--chain", action="store_true", help="also compare with the balances on the chains"
        )
        parser.add_argument(
            "--times", action="store_true", help="also print how long each check took, in seconds"
        )
        parser.add_argument(
            "--seal",
            default="",
            metavar="NUMBER:SEAL",
            help="also check that this seal, saved elsewhere, is unchanged",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self.is_broken:
            raise SystemExit(1)

    def run(self, **options: Any) -> AuditResult:
        # Chains are asked now, and so are the books that they are compared with.
        verdicts = verify.verdicts(check_chain=True) if options["chain"] else _verdicts()
        if options["seal"]:
            verdicts.append(verify.kept_seal(options["seal"]))
        self.with_times = options["times"]
        self.is_broken = any(verdict.findings for verdict in verdicts)
        return AuditResult(
            ok=not self.is_broken,
            newest_seal=_seal_text(seals.newest()),
            newest_payment_seal=_seal_text(payment_seals.newest()),
            invariants=[_invariant(verdict) for verdict in verdicts],
        )

    def words(self, result: AuditResult) -> str:
        lines = []
        for invariant in result.invariants:
            verdict = f"BROKEN ({invariant.broken})" if invariant.findings else "OK"
            took = f"{invariant.seconds:>9.3f} s  " if self.with_times else ""
            figures = f"{invariant.name:<24} {invariant.counted:>10}  {took}"
            lines.append(f"{figures}{verdict:<13} {invariant.says}")
            lines += [f"    {finding.subject}: {finding.detail}" for finding in invariant.findings]
            if (more := invariant.broken - len(invariant.findings)) > 0:
                lines.append(f"    and {more} more")
        lines.append(f"newest seal of the payments: {result.newest_payment_seal or 'none yet'}")
        lines.append(f"newest seal of the audit log: {result.newest_seal or 'none yet'}")
        return "\n".join(lines)


@reads_may_lag("what must hold at every moment")
def _verdicts() -> list[Verdict]:
    return verify.verdicts()


def _invariant(verdict: Verdict) -> InvariantResult:
    return InvariantResult(
        name=verdict.name,
        says=verdict.says,
        counted=verdict.counted,
        broken=verdict.broken,
        seconds=round(verdict.took.total_seconds(), 3),
        findings=[
            FindingResult(subject=finding.subject, detail=finding.detail)
            for finding in verdict.findings
        ],
    )


def _seal_text(seal: object | None) -> str | None:
    return None if seal is None else str(seal)
