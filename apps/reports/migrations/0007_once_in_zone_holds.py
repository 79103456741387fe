"""The rule that a report is made once has its zone, too."""

from django.db import migrations, models

ONCE = models.UniqueConstraint(
    fields=[
        "store",
        "mode",
        "report_type",
        "period_from",
        "period_to",
        "currency",
        "format",
        "time_zone",
        "is_so_far",
    ],
    name="report_once_in_zone",
)


class Migration(migrations.Migration):
    dependencies = [("reports", "0006_once_in_zone")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    "ALTER TABLE reports_report ADD CONSTRAINT report_once_in_zone UNIQUE"
                    " USING INDEX report_once_in_zone",
                    migrations.RunSQL.noop,
                )
            ],
            [migrations.AddConstraint("report", ONCE)],
        ),
        migrations.RemoveConstraint("report", "report_once"),
    ]
