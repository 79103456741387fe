"""The zone in which a subscription counts its days."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('billing', '0012_taxes_checked'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='subscription',
            name='time_zone',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
    ]
