"""Stores whose settings aren't the defaults get their row. Stores 0026 drops what was copied."""

from django.db import migrations

COPY = """
INSERT INTO billing_invoicesettings (store_id, invoice_due_days)
SELECT id, invoice_due_days FROM stores_store
WHERE invoice_due_days <> 7
ON CONFLICT (store_id) DO NOTHING
"""


class Migration(migrations.Migration):

    dependencies = [
        ('billing', '0010_invoice_settings'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
    ]
