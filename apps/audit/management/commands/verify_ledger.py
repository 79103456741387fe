"""`verify_ledger`: one line per invariant with how much it was asked of; exit 1 with the findings
when one is broken. Without any, the point up to which everything is verified moves."""

from typing import Any

from django.core.management.base import CommandParser

from apps.audit import verify
from apps.audit.models import VerifiedPoint
from apps.audit.verify import Verdict
from apps.core import clock
from apps.stores.command import OperatorCommand, Result


class FindingResult(Result, frozen=True, kw_only=True):
    subject: str
    detail: str


class InvariantResult(Result, frozen=True, kw_only=True):
    """How many rows were counted and how many break it; of these the first ones. An incremental one
    is only asked about what was touched since a point, where there is one."""

    name: str
    says: str
    counted: int
    broken: int
    is_incremental: bool
    seconds: float
    findings: list[FindingResult]


class AuditResult(Result, frozen=True, kw_only=True):
    """Each seal is `number:hash`. `since` is when the point was verified that the run began at,
    null when it asked about everything; `verified_at` that of the point that it has made."""

    ok: bool
    since: str | None
    verified_at: str | None
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
            "--since",
            default="",
            metavar="POINT",
            help="verify what was written since an earlier run without findings: last, or the"
            " newest one up to a point in time or a seal; everything when there is none",
        )
        parser.add_argument(
            "--whole-days",
            type=int,
            default=0,
            metavar="DAYS",
            help="with --since: verify everything when that was last done so many days ago",
        )
        parser.add_argument(
            "--anew",
            action="store_true",
            help="compare nothing with earlier runs: what facts_kept has found is explained",
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
        audit = verify.audit(
            check_chain=options["chain"],
            since=options["since"],
            whole_days=options["whole_days"],
            seal=options["seal"],
            anew=options["anew"],
        )
        self.with_times = options["times"]
        self.was_asked_since = bool(options["since"])
        self.is_broken = audit.is_broken
        return AuditResult(
            ok=not audit.is_broken,
            since=_moment(audit.since),
            verified_at=_moment(audit.point),
            newest_seal=_seal_text(audit.newest_seal),
            newest_payment_seal=_seal_text(audit.newest_payment_seal),
            invariants=[_invariant(verdict) for verdict in audit.verdicts],
        )

    def words(self, result: AuditResult) -> str:
        lines = []
        if self.was_asked_since:
            lines.append(_since_words(result.since))
        for invariant in result.invariants:
            verdict = f"BROKEN ({invariant.broken})" if invariant.findings else "OK"
            took = f"{invariant.seconds:>9.3f} s  " if self.with_times else ""
            extent = "touched" if invariant.is_incremental else "all"
            scope = f"{extent:<9}" if result.since else ""
            figures = f"{invariant.name:<24} {invariant.counted:>10}  {took}{scope}"
            lines.append(f"{figures}{verdict:<13} {invariant.says}")
            lines += [f"    {finding.subject}: {finding.detail}" for finding in invariant.findings]
            if (more := invariant.broken - len(invariant.findings)) > 0:
                lines.append(f"    and {more} more")
        lines.append(f"newest seal of the payments: {result.newest_payment_seal or 'none yet'}")
        lines.append(f"newest seal of the audit log: {result.newest_seal or 'none yet'}")
        return "\n".join(lines)


def _since_words(since: str | None) -> str:
    if since is None:
        return "everything: it is due, or there is no run that this one could continue"
    return f"what was written since everything was verified at {since}"


def _moment(point: VerifiedPoint | None) -> str | None:
    return None if point is None else clock.iso(point.verified_at)


def _invariant(verdict: Verdict) -> InvariantResult:
    return InvariantResult(
        name=verdict.name,
        says=verdict.says,
        counted=verdict.counted,
        broken=verdict.broken,
        is_incremental=verdict.is_incremental,
        seconds=round(verdict.took.total_seconds(), 3),
        findings=[
            FindingResult(subject=finding.subject, detail=finding.detail)
            for finding in verdict.findings
        ],
    )


def _seal_text(seal: object | None) -> str | None:
    return None if seal is None else str(seal)
