"""When the last review of a store's asset ended. Processes of the previous release leave it null:
what waits for a review that they end is settled by them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assets", "0004_asset_stopped_since")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="acceptedasset",
            name="review_ended_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
