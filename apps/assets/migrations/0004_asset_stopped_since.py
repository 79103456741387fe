"""Since when a token moves for none of our wallets. Processes of the previous release go on offering it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assets", "0003_lost_deposits")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="asset",
            name="stopped_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
