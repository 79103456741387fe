"""What the job of paid amounts remembers and couldn't do is found under its new name. How far it has
read is copied, because the release before goes on under the old one until it has ended."""

from django.db import migrations

COPY = """
INSERT INTO core_rowturn (job, row_id)
SELECT replace(job, 'billing.settle_invoices', 'billing.update_paid_amounts'), row_id FROM core_rowturn
WHERE job IN ('billing.settle_invoices', 'billing.settle_invoices:read')
ON CONFLICT DO NOTHING
"""
RENAME = """
UPDATE core_rowfailure f SET job = 'billing.update_paid_amounts'
WHERE job = 'billing.settle_invoices' AND NOT EXISTS (
    SELECT 1 FROM core_rowfailure g WHERE g.job = 'billing.update_paid_amounts' AND g.row_id = f.row_id)
"""


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0011_heartbeats'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
        migrations.RunSQL(RENAME, migrations.RunSQL.noop),
    ]
