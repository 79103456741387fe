"""Lanes of emails: which ones leave first, and those that are only shown."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('core', '0002_partitions_refer'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='outgoingmail',
            name='lane',
            field=models.SmallIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AlterField(
            model_name='outgoingmail',
            name='status',
            field=models.CharField(
                choices=[
                    ('queued', 'Queued'),
                    ('sent', 'Sent'),
                    ('failed', 'Failed'),
                    ('dropped', 'Dropped'),
                    ('shown', 'Shown'),
                ],
                default='queued',
                max_length=7,
            ),
        ),
    ]
