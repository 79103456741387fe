"""The audit log knows who made the keys and agents of before; those it doesn't know are the operator's."""

from django.db import migrations

KNOWN = """
UPDATE {table} AS c SET user_id = u.id
FROM stores_auditentry a JOIN stores_user u ON u.id::text = a.actor_id
WHERE a.action = '{action}' AND a.actor_kind = 'person' AND a.target_id = c.id::text AND c.user_id IS NULL
"""


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0002_makers'),
        ('stores', '0011_test_clock_target'),
    ]

    operations = [
        migrations.RunSQL(KNOWN.format(table='access_apikey', action='api_key.created'), migrations.RunSQL.noop),
        migrations.RunSQL(KNOWN.format(table='access_agentcredential', action='agent_credential.created'), migrations.RunSQL.noop),
    ]
