"""Which record a call of the API was about. Processes of the previous release leave it empty."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0002_keys_by_last_four")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="requestentry",
            name="record_id",
            field=models.UUIDField(null=True),
        ),
    ]
