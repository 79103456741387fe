"""A report is made once in each zone; the index is built while others write."""

from django.db import migrations

INDEX = (
    "CREATE UNIQUE INDEX CONCURRENTLY report_once_in_zone ON reports_report"
    " (store_id, mode, report_type, period_from, period_to, currency, format, time_zone,"
    " is_so_far)"
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("reports", "0005_zone_and_so_far")]

    operations = [
        migrations.RunSQL(INDEX, "DROP INDEX CONCURRENTLY report_once_in_zone"),
    ]
