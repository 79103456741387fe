"""A store's settings of payouts, in a row of this app; 0015 copies what stores have."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payouts', '0013_failed'),
        ('stores', '0025_clock_a_month_behind'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='PayoutSettings',
            fields=[
                ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='stores.store')),
                ('payout_network_fee', models.CharField(choices=[('service', 'Service'), ('merchant', 'Merchant')], default='service', max_length=8)),
                ('payout_review_threshold_cents', models.BigIntegerField(blank=True, null=True)),
                ('review_new_destinations', models.BooleanField(default=False)),
                ('platform_may_pay_out', models.BooleanField(default=False)),
            ],
            options={
                'abstract': False,
            },
        ),
    ]
