"""Sums of bookings are added up anew: what a net was worth is rounded otherwise than before."""

from django.db import migrations

# A place in no currency is behind every entry, and its account is summed anew by the job.
FORGET = "UPDATE reports_hourlybookingplace SET currency = ''"


class Migration(migrations.Migration):
    dependencies = [("reports", "0002_hourly_bookings")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(FORGET, migrations.RunSQL.noop),
    ]
