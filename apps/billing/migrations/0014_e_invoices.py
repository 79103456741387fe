"""The buyer's reference and electronic address, which e-invoices name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('billing', '0013_time_zone_of_periods'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='customer',
            name='buyer_reference',
            field=models.CharField(max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='customer',
            name='electronic_address',
            field=models.CharField(max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='invoice',
            name='buyer_reference',
            field=models.CharField(max_length=100, null=True),
        ),
    ]
