"""What a reorg does to our own final transactions: which block had them, what their app booked, and how often they were undone."""

import apps.core.models
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0005_daily_rates'),
        ('chain', '0008_unknown_transactions'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='UndoneTransaction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(max_length=9)),
                ('tx_hash', models.CharField(db_collation='C', max_length=66)),
                ('block_number', models.BigIntegerField()),
                ('block_hash', models.CharField(blank=True, db_collation='C', max_length=66)),
                ('network_fee_atomic', apps.core.models.AtomicField()),
                ('found_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='outgoingtransaction',
            name='outgoing_one_sweep_per_address',
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='block_hash',
            field=models.CharField(blank=True, db_collation='C', default='', max_length=66),
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='handled_fee_atomic',
            field=apps.core.models.AtomicField(default=0),
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='handled_received_atomic',
            field=apps.core.models.AtomicField(default=0),
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='undone_count',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddIndex(
            model_name='outgoingtransaction',
            index=models.Index(condition=models.Q(('status__in', ['confirmed', 'failed'])), fields=['chain', 'block_number'], name='outgoing_final'),
        ),
        migrations.AddIndex(
            model_name='outgoingtransaction',
            index=models.Index(condition=models.Q(('undone_count__gt', 0)), fields=['chain', 'id'], name='outgoing_undone'),
        ),
        migrations.AddConstraint(
            model_name='outgoingtransaction',
            constraint=models.UniqueConstraint(condition=models.Q(('purpose', 'sweep'), ('status__in', ['requested', 'signed', 'submitted', 'review']), ('undone_count', 0)), fields=('chain', 'from_address'), name='outgoing_one_sweep_per_address'),
        ),
        migrations.AddField(
            model_name='undonetransaction',
            name='outgoing',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='undone', to='chain.outgoingtransaction'),
        ),
        # What has been acted upon until now was booked as it stands.
        migrations.RunSQL(
            "UPDATE chain_outgoingtransaction SET handled_fee_atomic = network_fee_atomic, handled_received_atomic = received_atomic "
            "WHERE handled_status IN ('confirmed', 'failed')",
            migrations.RunSQL.noop,
        ),
    ]
