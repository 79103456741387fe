"""`python -m tests.shards.posting`: a store's money moves on one server, in a process of its own,
from a line of standard input to the next. It says how often, and what the audit of the books says
then."""

import json
import select
import sys

import django

OF_THE_LEDGER = {
    *("movements_balance", "entries_fit", "guarded_never_negative", "books_close"),
    *("checkpoints_true", "guards_stand", "grants_stand", "policies_stand"),
}


def post() -> dict[str, object]:
    from django.db import transaction

    from tests.auditing import found_of
    from tests.ledger.books import open_books

    books = open_books()
    print("ready", flush=True)
    sys.stdin.readline()
    posted = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        with transaction.atomic():
            payment = books.earn(100)
            refund = books.refund(payment, 40)
        books.confirm_refund(payment, refund, 40, gas=1)
        posted += 1
    broken = sorted({finding.invariant for finding in found_of(*OF_THE_LEDGER)})
    return {"posted": posted, "store": str(books.store.pk), "broken": broken}


if __name__ == "__main__":
    django.setup()
    print(json.dumps(post()))
