"""`restore`: a backup into an empty database, with all sending held until a person has compared the
chains."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.console.backups.failure import BackupError
from apps.console.backups.restore import Restored, bring_back
from apps.stores.command import OperatorCommand, Result

NEXT = (
    (
        "Start web and the watcher, but no worker yet. Wait until /readyz is ready: the "
        "watcher continues from the blocks above."
    ),
    "Run manage.py verify_ledger --chain.",
    (
        "Run manage.py sending: every hot wallet is halted. Resolve the transactions in "
        "review, then run manage.py sending resume NETWORK for each network. It compares the "
        "wallet's history on the chain with these records before anything is signed."
    ),
    (
        "Compare bank payouts with your off-ramp's list since the backup: later ones are "
        "missing from these records."
    ),
    (
        "Revoke again what was revoked since the backup (API keys, sessions, members): it is "
        "active again."
    ),
    "Start the other processes.",
)


class RestoreResult(Result, frozen=True, kw_only=True):
    """The backup that was restored: its contents, faults that the books have, and the next
    steps."""

    made_at: str
    heads: dict[str, int]
    rows: dict[str, int]
    held: list[str]
    findings: list[str]
    next: list[str]


class Command(OperatorCommand[RestoreResult]):
    help = (
        "Restore a backup into an empty database; run it as the owner of the tables, with "
        "all other processes stopped"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("backup", help="folder of the backup")
        parser.add_argument(
            "--passphrase-file", metavar="FILE", help="file with the passphrase of the backup"
        )
        parser.add_argument(
            "--replace",
            default="",
            metavar="DATABASE",
            help="name of the database to overwrite; its contents are lost",
        )
        parser.add_argument(
            "--key-file",
            metavar="FILE",
            help="also restore the signer's key file, to this path",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.is_broken = False
        super().handle(*args, **options)
        if self.is_broken:
            raise SystemExit(1)

    def run(self, **options: Any) -> RestoreResult:
        passphrase, key_file = (
            Path(path) if path else None
            for path in (options["passphrase_file"], options["key_file"])
        )
        try:
            restored = bring_back(Path(options["backup"]), passphrase, options["replace"], key_file)
        except BackupError as error:
            raise CommandError(str(error)) from None
        self.is_broken = bool(restored.findings)
        return _result(restored)

    def words(self, result: RestoreResult) -> str:
        lines = [f"Restored as of {result.made_at}."]
        lines += [f"Blocks read: {chain} {number}" for chain, number in result.heads.items()]
        lines += [f"Rows: {table} {number}" for table, number in result.rows.items()]
        lines += [f"BROKEN: {finding}" for finding in result.findings] or [
            "verify_ledger: all invariants hold."
        ]
        lines += ["", "Next steps:"]
        lines += [f"{number}. {step}" for number, step in enumerate(result.next, 1)]
        return "\n".join(lines)


def _result(restored: Restored) -> RestoreResult:
    return RestoreResult(
        made_at=restored.manifest.made_at,
        heads=restored.manifest.heads,
        rows=restored.manifest.rows,
        held=restored.held,
        findings=restored.findings,
        next=list(NEXT),
    )
