"""Checkpoints keep a balance's cost flat: an account whose tail has grown long has it folded into one figure."""

from django.db import connection

TAIL_MAX = 1_000
ACCOUNTS_MAX = 500

_LONG_TAILS = """
SELECT a.id FROM ledger_account a
WHERE EXISTS (SELECT 1 FROM ledger_entry e WHERE e.account_id = a.id AND e.xid >= a.checkpoint_xid OFFSET %s)
LIMIT %s
"""


def fold_long_tails(tail_max: int = TAIL_MAX) -> int:
    """Give a checkpoint to the accounts with more than `tail_max` entries after theirs; how many there were.

    A transaction that runs for long holds the boundary back: then tails stay, balances stay right, and a later run folds them.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LONG_TAILS, [tail_max, ACCOUNTS_MAX])
        accounts = [row[0] for row in cursor.fetchall()]
        for account in accounts:
            cursor.execute("SELECT ledger_checkpoint(%s)", [account])
    return len(accounts)
