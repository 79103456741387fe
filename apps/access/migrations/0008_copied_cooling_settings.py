"""Stores whose settings aren't the defaults get their row. Stores 0026 drops what was copied."""

from django.db import migrations

COPY = """
INSERT INTO access_coolingsettings (store_id, cooling_hours, cooling_hours_next, cooling_hours_next_from)
SELECT id, cooling_hours, cooling_hours_next, cooling_hours_next_from FROM stores_store
WHERE cooling_hours <> 24 OR cooling_hours_next IS NOT NULL OR cooling_hours_next_from IS NOT NULL
ON CONFLICT (store_id) DO NOTHING
"""


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0007_cooling_settings'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
    ]
