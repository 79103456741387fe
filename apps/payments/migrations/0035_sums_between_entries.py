"""The days of long accounts stand between two entries. Their sums are made anew by the job, as of accounts that have none."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0012_only_by_entry'),
        ('payments', '0034_checks_write_no_index'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='dailysum',
            name='first_id',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='dailysum',
            name='last_id',
            field=models.BigIntegerField(null=True),
        ),
    ]
