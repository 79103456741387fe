"""`ledger export`: the books as Beancount or CSV, of one store or all, to a file or to standard
output."""

import sys
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.console import books
from apps.core.messages.fields import parse_date
from apps.stores.command import OperatorCommand, Result, store_named

_WRITERS = {"beancount": books.write_beancount, "csv": books.write_csv}


class ExportResult(Result, frozen=True, kw_only=True):
    """Files that were written; sums and balances in atomic units, by asset and by account and
    asset."""

    format: str
    output: str
    movements: int
    entries: int
    sums_atomic: dict[str, str]
    balances_atomic: dict[str, str]


class Command(OperatorCommand[ExportResult | None]):
    help = "Export the ledger: every movement with its entries"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["export"])
        parser.add_argument("--format", choices=sorted(_WRITERS), default="beancount")
        parser.add_argument("--store", help="only movements of this store (default: all stores)")
        parser.add_argument(
            "--mode",
            choices=["live", "test"],
            help="one mode only (default: both, with separate account names)",
        )
        parser.add_argument(
            "--from",
            dest="first",
            help="first day, UTC; earlier movements become opening balances",
        )
        parser.add_argument("--to", dest="last", help="last day, UTC")
        parser.add_argument("--output", type=Path, help="file to write (default: standard output)")

    def run(self, **options: Any) -> ExportResult | None:
        """None when the books themselves went to standard output."""
        if options["json"] and options["output"] is None:
            raise CommandError(
                "With --json give an --output file: standard output is for the result"
            )
        store = store_named(options["store"]) if options["store"] else None
        first = _day(options["first"], "--from")
        last = _day(options["last"], "--to")
        if first is not None and last is not None and last < first:
            raise CommandError("--to is before --from")
        query = books.ExportScope(store.pk if store else None, options["mode"] or "", first, last)
        write = _WRITERS[options["format"]]
        if options["output"] is None:
            self.stdout.ending = ""
            write(query, sys.stdout)
            return None
        try:
            with options["output"].open("w", encoding="utf-8", newline="") as file:
                tally = write(query, file)
        except OSError as error:
            raise CommandError(f"{options['output']} can't be written: {error.strerror}") from None
        return ExportResult(
            format=options["format"],
            output=str(options["output"]),
            movements=tally.movements,
            entries=tally.entries,
            sums_atomic=tally.sums_atomic(),
            balances_atomic=tally.balances_atomic(),
        )

    def words(self, result: ExportResult | None) -> str:
        return (
            f"Wrote {result.movements} movements with {result.entries} entries to {result.output}"
            if result
            else ""
        )


def _day(text: str | None, name: str) -> date | None:
    day = parse_date(text)
    if text is not None and day is None:
        raise CommandError(f"{name} must be a date")
    return day
