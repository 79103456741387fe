"""A payment that ends waits for a look at its addresses; coins that nothing explains, and blocks that
are read again, wait in tables of their own (decision 517)."""

import apps.core.models
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('assets', '0002_reviewed_assets'),
        ('chain', '0005_unexpected_deposits'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='AddressLook',
            fields=[
                ('address', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='look', serialize=False, to='chain.address')),
                ('block_number', models.BigIntegerField()),
                ('looked_until', models.DateTimeField()),
                ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
            ],
            options={
                'indexes': [models.Index(fields=['chain', 'block_number'], name='look_by_block')],
            },
        ),
        migrations.CreateModel(
            name='BlockToRead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField()),
                ('asked_at', models.DateTimeField()),
                ('tried_at', models.DateTimeField()),
                ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('chain', 'number'), name='block_to_read_once')],
            },
        ),
        migrations.CreateModel(
            name='UnexplainedBalance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('block_number', models.BigIntegerField()),
                ('amount_atomic', apps.core.models.AtomicField()),
                ('found_at', models.DateTimeField()),
                ('looked_at', models.DateTimeField()),
                ('settled_at', models.DateTimeField(blank=True, null=True)),
                ('accepted_reason', models.CharField(blank=True, db_default='', default='', max_length=500)),
                ('address', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.address')),
                ('asset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('settled_at', None)), fields=['found_at'], name='unexplained_open')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('settled_at', None)), fields=('address', 'asset'), name='unexplained_once'), models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='unexplained_is_positive')],
            },
        ),
    ]
