"""The zone in which a store's days begin."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('stores', '0014_notification_amount'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='store',
            name='time_zone',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
    ]
