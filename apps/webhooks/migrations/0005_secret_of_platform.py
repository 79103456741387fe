"""Tell whether a platform made the secret of an endpoint while it acted for its sub-merchant."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0004_ready_by_endpoint")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="endpoint",
            name="is_secret_of_platform",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
