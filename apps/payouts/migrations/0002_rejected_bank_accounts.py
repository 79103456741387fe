"""Bank accounts that staff have rejected, and why."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payouts", "0001_squashed_0025_history_by_number")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="destination",
            name="rejected_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="destination",
            name="rejection_reason",
            field=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
    ]
