"""Balances of long accounts after every thousandth entry: a statement that begins far back adds up
the few entries since the mark before it. Marks never change."""

from django.db import connection

from apps.core.db.sql import Arguments
from apps.core.marks import ReadingMark
from apps.core.rows import Job
from apps.ledger.long_tails import ENTRIES_AT_ONCE, TAIL_MAX, LongTails

ENTRIES_PER_MARK = 1_000
JOB = Job("ledger.mark_balances", limit=500)
# Of an account `a`: its last mark, up to an entry.
_LAST = """
LEFT JOIN LATERAL (
    SELECT b.entry_id, b.balance_atomic FROM ledger_balancemark b
    WHERE b.account_id = a.id {before} ORDER BY b.entry_id DESC LIMIT 1
) mark ON true
"""
TAILS = LongTails(
    JOB,
    ReadingMark(f"{JOB.name}:read"),
    accounts=f"ledger_account a {_LAST.format(before='')} WHERE true",
    tail="e.account_id = a.id AND e.id > coalesce(mark.entry_id, 0)",
)
# The balance of account `{account}` before an entry, `%(id)s`. What has no mark before it is found
# from the account's end.
BALANCE_BEFORE = f"""
(SELECT CASE WHEN mark.entry_id IS NULL
    THEN ledger_balance(a.id) - coalesce((SELECT sum(l.amount_atomic) FROM ledger_entry l
        WHERE l.account_id = a.id AND l.id >= %(id)s), 0)
    ELSE mark.balance_atomic + coalesce((SELECT sum(l.amount_atomic) FROM ledger_entry l
        WHERE l.account_id = a.id AND l.id > mark.entry_id AND l.id < %(id)s), 0) END
FROM ledger_account a {_LAST.format(before="AND b.entry_id < %(id)s")}
WHERE a.id = {{account}})
"""  # noqa: S608  # our own text


def mark_balances(tail_max: int = TAIL_MAX) -> int:
    """Mark the accounts with more than `tail_max` entries after their last mark; how many there
    were."""
    return TAILS.each(mark_account, tail_max)


_UNTIL = "SELECT ledger_settled_until(%s)"
# Anyone who marks the same account meanwhile makes the same marks.
_MARK = f"""
WITH start AS (
    SELECT coalesce(mark.entry_id, 0) AS id, coalesce(mark.balance_atomic, 0) AS balance
    FROM ledger_account a {_LAST.format(before="")} WHERE a.id = %(account)s
), taken AS (
    SELECT e.id, e.amount_atomic FROM ledger_entry e
    WHERE e.account_id = %(account)s AND e.id > (SELECT id FROM start) AND e.id <= %(until)s
    ORDER BY e.id LIMIT %(limit)s
), summed AS (
    SELECT id, sum(amount_atomic) OVER entries AS amount, row_number() OVER entries AS number
    FROM taken WINDOW entries AS (ORDER BY id)
)
INSERT INTO ledger_balancemark (account_id, entry_id, balance_atomic)
SELECT %(account)s, summed.id, start.balance + summed.amount FROM summed, start
WHERE summed.number %% %(each)s = 0
ON CONFLICT DO NOTHING
"""  # noqa: S608  # our own text


def mark_account(account_id: int) -> None:
    """Mark what was booked since the account's last mark, ENTRIES_AT_ONCE entries of it, up to the
    entry before which no running transaction can still write another."""
    with connection.cursor() as cursor:
        cursor.execute(_UNTIL, [account_id])
        ((until,),) = cursor.fetchall()
        values: Arguments = {
            "account": account_id,
            "until": until,
            "limit": ENTRIES_AT_ONCE,
            "each": ENTRIES_PER_MARK,
        }
        cursor.execute(_MARK, values)
