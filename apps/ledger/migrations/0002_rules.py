from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"
UNDO = """
DROP FUNCTION IF EXISTS ledger_account_id, ledger_post_many;
DROP FUNCTION ledger_rebuild_checkpoints(), ledger_checkpoint(bigint), ledger_post CASCADE;
DROP FUNCTION ledger_check_movement(), ledger_check_entries(), ledger_check_account(), ledger_refuse_change() CASCADE;
DROP FUNCTION ledger_balance(bigint);
ALTER TABLE ledger_movement DROP COLUMN xid;
ALTER TABLE ledger_entry DROP COLUMN xid;
ALTER TABLE ledger_account DROP COLUMN checkpoint_xid;
"""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial")]
    operations = [migrations.RunSQL([(SQL / "functions.sql").read_text(), (SQL / "tables.sql").read_text()], [UNDO])]
