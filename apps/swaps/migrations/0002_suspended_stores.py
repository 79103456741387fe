"""The database refuses swaps of a store whose payouts staff have suspended.
"""

from django.db import migrations

FORWARD = """
CREATE TRIGGER swap_store_pays_out BEFORE INSERT ON swaps_swap FOR EACH ROW
    EXECUTE FUNCTION stores_refuse_suspended('payouts');
"""
BACKWARD = "DROP TRIGGER swap_store_pays_out ON swaps_swap"


class Migration(migrations.Migration):
    dependencies = [("swaps", "0001_squashed_0008_history_by_number"), ("stores", "0017_suspensions")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
