"""A store's money moves on one server, in a fork of its own, from when its folder has a file `go`
until it has a file `end`. It says how often, and what the audit of the books says then."""

import json
import time
from pathlib import Path

from django.conf import settings
from django.db import connections, transaction

from config.reader import Reader
from tests.auditing import found_of
from tests.ledger.books import open_books

PAUSE_SECONDS = 0.02
OF_THE_LEDGER = {
    "movements_balance",
    "entries_fit",
    "guarded_never_negative",
    "books_close",
    "checkpoints_true",
    "guards_stand",
    "grants_stand",
    "policies_stand",
}


def post(url: str, shard: str, folder: Path) -> None:
    settings.SHARD = shard
    connections.settings["default"].update(Reader().db_url_config(url))
    books = open_books()
    print("ready", flush=True)
    while not (folder / "go").exists():
        time.sleep(PAUSE_SECONDS)

    posted = 0
    while not (folder / "end").exists():
        with transaction.atomic():
            payment = books.earn(100)
            refund = books.refund(payment, 40)
        books.confirm_refund(payment, refund, 40, gas=1)
        posted += 1
    broken = sorted({finding.invariant for finding in found_of(*OF_THE_LEDGER)})
    print(json.dumps({"posted": posted, "store": str(books.store.pk), "broken": broken}))
