"""What the entries of long accounts sum to, day by day; filled by a job."""

import django.db.models.deletion
from django.db import migrations, models

import apps.core.models


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0007_cold_and_withdrawals'),
        ('payments', '0027_by_status'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='DailySum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('currency', models.CharField(blank=True, default='', max_length=3)),
                ('entries', models.PositiveIntegerField()),
                ('amount_atomic', apps.core.models.AtomicField()),
                ('platform_fees', models.PositiveIntegerField()),
                ('platform_fee_atomic', apps.core.models.AtomicField()),
                ('first_xid', models.BigIntegerField()),
                ('last_xid', models.BigIntegerField()),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'day', 'currency'), name='daily_sum_once')],
            },
        ),
        migrations.CreateModel(
            name='DailySumPlace',
            fields=[
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='ledger.account')),
                ('newest_xid', models.BigIntegerField(default=0)),
                ('newest_id', models.BigIntegerField(default=0)),
            ],
        ),
    ]
