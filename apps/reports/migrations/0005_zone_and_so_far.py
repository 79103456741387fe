"""Reports of days of a zone, and of days that aren't over."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reports", "0004_bookings_in_one_currency")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="report",
            name="time_zone",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.AddField(
            model_name="report",
            name="is_so_far",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="report",
            name="until",
            field=models.DateTimeField(null=True),
        ),
    ]
