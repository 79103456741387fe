"""Every checkpoint that bears a transaction number becomes one that ends at an entry, an account at a time.

Nobody waits for it. It waits until the transactions that run at its beginning have ended, for the length of WAIT_SECONDS.
"""

import time

from django.db import migrations, transaction

WAIT_SECONDS = 120.0
PAUSE_SECONDS = 0.1
# Everything up to the first of these was drawn by a transaction older than the second.
OBSERVED = "SELECT coalesce(max(id), 0) FROM ledger_entry"
OWN = "SELECT pg_current_xact_id()::text"
HAVE_ENDED = "SELECT pg_snapshot_xmin(pg_current_snapshot()) > %s::xid8"
OLD = "SELECT id FROM ledger_account WHERE checkpoint_xid <> '0' ORDER BY id"
MOVE = """
UPDATE ledger_account a SET checkpoint_id = %(entry)s, checkpoint_xid = '0', checkpoint_atomic = a.checkpoint_atomic
    + coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.xid >= a.checkpoint_xid
        AND e.id <= %(entry)s), 0)
    - coalesce((SELECT sum(e.amount_atomic) FROM ledger_entry e WHERE e.account_id = a.id AND e.id > %(entry)s
        AND e.xid < a.checkpoint_xid), 0)
WHERE a.id = %(account)s AND a.checkpoint_xid <> '0'
"""


class StillRunning(Exception):
    """A transaction that began before this one hasn't ended: end it, or wait for it, and migrate again."""


def move(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        while accounts := _asked(cursor, OLD):
            ((entry,),) = _asked(cursor, OBSERVED)
            _wait(cursor)
            for (account,) in accounts:
                with transaction.atomic(using=schema_editor.connection.alias):
                    cursor.execute("SET LOCAL lock_timeout = '5s'")
                    cursor.execute(MOVE, {'entry': entry, 'account': account})


def _wait(cursor):
    ((own,),) = _asked(cursor, OWN)
    deadline = time.monotonic() + WAIT_SECONDS
    while not _asked(cursor, HAVE_ENDED, [own])[0][0]:
        if time.monotonic() >= deadline:
            raise StillRunning('A transaction that began earlier is still running: run migrate again when it has ended')
        time.sleep(PAUSE_SECONDS)


def _asked(cursor, statement, arguments=()):
    cursor.execute(statement, arguments)
    return cursor.fetchall()


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('ledger', '0010_checkpoints_by_entry'),
    ]

    operations = [migrations.RunPython(move, migrations.RunPython.noop)]
