"""The database refuses draws of a store whose payouts staff have suspended.
"""

from django.db import migrations

FORWARD = """
CREATE TRIGGER settlement_store_pays_out BEFORE INSERT ON agents_settlement FOR EACH ROW
    EXECUTE FUNCTION stores_refuse_suspended('payouts');
"""
BACKWARD = "DROP TRIGGER settlement_store_pays_out ON agents_settlement"


class Migration(migrations.Migration):
    dependencies = [("agents", "0005_longer_addresses"), ("stores", "0017_suspensions")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
