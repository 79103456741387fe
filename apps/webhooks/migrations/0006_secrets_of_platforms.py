"""Endpoints of sub-merchants that have no members were made by their platform."""

from django.db import migrations

_MARK = """
UPDATE webhooks_endpoint e SET is_secret_of_platform = true
FROM stores_store s
WHERE s.id = e.store_id AND s.platform_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM stores_member m WHERE m.store_id = s.id)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("stores", "0004_merchants_counted"),
        ("webhooks", "0005_secret_of_platform"),
    ]

    operations = [migrations.RunSQL(_MARK, migrations.RunSQL.noop)]
