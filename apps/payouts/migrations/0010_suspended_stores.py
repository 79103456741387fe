"""The database refuses payouts of a store whose payouts staff have suspended.
"""

from django.db import migrations

FORWARD = """
CREATE TRIGGER payout_store_pays_out BEFORE INSERT ON payouts_payout FOR EACH ROW
    EXECUTE FUNCTION stores_refuse_suspended('payouts');
"""
BACKWARD = "DROP TRIGGER payout_store_pays_out ON payouts_payout"


class Migration(migrations.Migration):
    dependencies = [("payouts", "0009_addresses_have_their_form"), ("stores", "0017_suspensions")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
