"""`python -m tests.shards.posting SECONDS`: a store's money moves on one server, in a process of
its own, from a line of standard input on until the time is over. It says how often, and what the
audit of the books says then."""

import json
import sys
import time

import django

OF_THE_LEDGER = {
    *("movements_balance", "entries_fit", "guarded_never_negative", "books_close"),
    *("checkpoints_true", "guards_stand", "grants_stand", "policies_stand"),
}


def post(seconds: float) -> dict[str, object]:
    from django.db import transaction

    from apps.audit import verify
    from tests.ledger.books import open_books

    books = open_books()
    print("ready", flush=True)
    sys.stdin.readline()
    deadline = time.monotonic() + seconds
    posted = 0
    while time.monotonic() < deadline:
        with transaction.atomic():
            payment = books.earn(100)
            refund = books.refund(payment, 40)
        books.confirm_refund(payment, refund, 40, gas=1)
        posted += 1
    broken = {verdict.name for verdict in verify.verdicts() if verdict.findings} & OF_THE_LEDGER
    return {"posted": posted, "store": str(books.store.pk), "broken": sorted(broken)}


if __name__ == "__main__":
    django.setup()
    print(json.dumps(post(float(sys.argv[1]))))
