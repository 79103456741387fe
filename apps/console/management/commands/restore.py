"""`restore`: a backup into an empty database, with all sending held until a person has compared the
chains."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.console.backups.failure import BackupError
from apps.console.backups.restore import Restored, bring_back
from apps.console.command import OperatorCommand, Result

NEXT = (
    (
        "Start web and the watcher, and no worker yet. Wait until /readyz is ready: the watcher"
        " reads on from the blocks above."
    ),
    "Run manage.py verify_ledger --chain.",
    (
        "Run manage.py sending: every hot wallet is halted. Settle what is in review, then run"
        " manage.py sending resume NETWORK for each, which compares the wallet's history on the"
        " chain with these records before anything is signed."
    ),
    (
        "Compare bank payouts with your off-ramp's list since the backup: those made later aren't"
        " in these records."
    ),
    (
        "Revoke again what was revoked since the backup (API keys, sessions, people): it is as it"
        " was then."
    ),
    "Start the other processes.",
)


class RestoreResult(Result, frozen=True, kw_only=True):
    """What was brought back, what it holds up, what the books have against it, and what has to be
    done next."""

    made_at: str
    heads: dict[str, int]
    rows: dict[str, int]
    held: list[str]
    findings: list[str]
    next: list[str]


class Command(OperatorCommand[RestoreResult]):
    help = (
        "Restore a backup into an empty database; run it as the owner of the tables, with every"
        " other process stopped"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("backup", help="the folder of the backup")
        parser.add_argument("--passphrase-file", metavar="FILE", help="what it was encrypted with")
        parser.add_argument(
            "--replace",
            default="",
            metavar="DATABASE",
            help="the name of the database, whose content is then lost",
        )
        parser.add_argument(
            "--key-file",
            metavar="FILE",
            help="also bring back the signer's key file, to this place",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.is_broken = False
        super().handle(*args, **options)
        if self.is_broken:
            raise SystemExit(1)

    def run(self, **options: Any) -> RestoreResult:
        passphrase, key_file = (
            Path(given) if given else None
            for given in (options["passphrase_file"], options["key_file"])
        )
        try:
            restored = bring_back(Path(options["backup"]), passphrase, options["replace"], key_file)
        except BackupError as error:
            raise CommandError(str(error)) from None
        self.is_broken = bool(restored.findings)
        return _told(restored)

    def words(self, result: RestoreResult) -> str:
        lines = [f"Restored as of {result.made_at}."]
        lines += [
            f"Blocks read until then: {chain} {number}" for chain, number in result.heads.items()
        ]
        lines += [f"Rows: {table} {number}" for table, number in result.rows.items()]
        lines += [f"BROKEN: {one}" for one in result.findings] or [
            "verify_ledger: everything that must hold does."
        ]
        lines += ["", "What has to be done next:"]
        lines += [f"{number}. {step}" for number, step in enumerate(result.next, 1)]
        return "\n".join(lines)


def _told(restored: Restored) -> RestoreResult:
    return RestoreResult(
        made_at=restored.manifest.made_at,
        heads=restored.manifest.heads,
        rows=restored.manifest.rows,
        held=restored.held,
        findings=restored.findings,
        next=list(NEXT),
    )
