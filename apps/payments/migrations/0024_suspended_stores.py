"""The database refuses new payments of a store whose payments staff have suspended.
"""

from django.db import migrations

FORWARD = """
CREATE TRIGGER payment_store_takes_payments BEFORE INSERT ON payments_payment FOR EACH ROW
    EXECUTE FUNCTION stores_refuse_suspended('payments');
"""
BACKWARD = "DROP TRIGGER payment_store_takes_payments ON payments_payment"


class Migration(migrations.Migration):
    dependencies = [("payments", "0023_held_refunds_are_sent_somewhere"), ("stores", "0017_suspensions")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
