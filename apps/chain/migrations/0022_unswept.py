"""Deposits at addresses that may be worth a sweep: each until what is left there was found to be less."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0003_staff_lists'),
        ('chain', '0021_short_wallets'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='deposit',
            name='is_unswept',
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
