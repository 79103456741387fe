"""Stores whose settings aren't the defaults get their row. Stores 0026 drops what was copied."""

from django.db import migrations

COPY = """
INSERT INTO agents_agentsettings (store_id, x402_dispatch, authorization_provider, authorization_url, authorization_policy)
SELECT id, x402_dispatch, authorization_provider, authorization_url, authorization_policy FROM stores_store
WHERE x402_dispatch OR authorization_provider <> 'none' OR authorization_url <> ''
    OR authorization_policy <> '{}'::jsonb
ON CONFLICT (store_id) DO NOTHING
"""


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0003_agent_settings'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
    ]
