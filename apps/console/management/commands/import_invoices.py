"""`import_invoices`: payments for the invoices that are still open at another service."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.access.access import SECRET, Access
from apps.core.errors import Failure
from apps.core.messages.invalid import Invalid
from apps.payments import imports
from apps.payments.documents.parts import hosted_url
from apps.payments.services.create import create_payment
from apps.stores.command import OperatorCommand, Result, store_named


class ImportLine(Result, frozen=True, kw_only=True):
    """`became` is created, present (imported before), left out, or of a dry run: would be
    created."""

    id: str
    became: str
    reference: str = ""
    url: str = ""
    reason: str = ""


class ImportResult(Result, frozen=True, kw_only=True):
    created: int
    left_out: int
    lines: list[ImportLine]


class Command(OperatorCommand[ImportResult]):
    help = "Create payments for the open invoices in an export of another service"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="JSON, as the other service's API answers it")
        parser.add_argument("--from", dest="source", required=True, choices=imports.SOURCES)
        parser.add_argument("--store", required=True)
        parser.add_argument("--mode", required=True, choices=["live", "test"])
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be created, and create nothing"
        )

    def run(self, **options: Any) -> ImportResult:
        source, mode = options["source"], options["mode"]
        store = store_named(options["store"])
        access = Access(store, mode, SECRET, frozenset(), caller=SECRET, label="import_invoices")
        try:
            rows = imports.entries_of(source, json.loads(options["file"].read_text("utf-8")))
        except (OSError, ValueError) as error:
            raise CommandError(f"The file can't be read: {error}") from None
        except imports.LeftOut as error:
            raise CommandError(str(error)) from None
        lines = [
            self._line(access, source, entry, is_dry=options["dry_run"])
            for entry in imports.read(source, rows, mode)
        ]
        return ImportResult(
            created=sum(line.became == "created" for line in lines),
            left_out=sum(line.became == "left out" for line in lines),
            lines=lines,
        )

    @staticmethod
    def _line(
        access: Access, source: str, entry: imports.ImportedInvoice, *, is_dry: bool
    ) -> ImportLine:
        if entry.request is None:
            return ImportLine(id=entry.id, became="left out", reason=entry.reason)
        if is_dry:
            return ImportLine(id=entry.id, became="would be created")
        try:
            payment, is_new = create_payment(
                access, entry.request, imports.key_of(source, entry.id)
            )
        except (Failure, Invalid) as refusal:
            return ImportLine(id=entry.id, became="left out", reason=str(refusal))
        return ImportLine(
            id=entry.id,
            became="created" if is_new else "present",
            reference=payment.reference,
            url=hosted_url(payment),
        )
