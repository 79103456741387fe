"""The zone in which an invoice names its days."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('billing', '0008_fixed_search_path'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='invoice',
            name='time_zone',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
    ]
