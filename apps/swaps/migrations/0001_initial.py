"""Swaps, their history, and the setting that swaps incoming payments."""

import apps.core.models
import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('assets', '0005_daily_rates'),
        ('payments', '0006_test_payments'),
        ('stores', '0005_audit_log'),
    ]

    operations = [
        migrations.CreateModel(
            name='Swap',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('submitted', 'Submitted'), ('completed', 'Completed'), ('failed', 'Failed')], default='pending', max_length=9)),
                ('sell_amount_atomic', apps.core.models.AtomicField()),
                ('expected_buy_amount_atomic', apps.core.models.AtomicField()),
                ('min_buy_amount_atomic', apps.core.models.AtomicField()),
                ('actual_buy_amount_atomic', apps.core.models.OptionalAtomicField(null=True)),
                ('slippage_bps', models.PositiveSmallIntegerField()),
                ('provider', models.CharField(max_length=20)),
                ('tx_hash', models.CharField(max_length=66, null=True)),
                ('failure_reason', models.CharField(max_length=200, null=True)),
                ('updated_at', models.DateTimeField()),
                ('completed_at', models.DateTimeField(null=True)),
                ('idempotency_caller', models.CharField(blank=True, default='', max_length=50)),
                ('idempotency_key', models.CharField(max_length=255)),
                ('buy_asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('payment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                ('source_asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.CreateModel(
            name='SwapStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('from_status', models.CharField(max_length=9, null=True)),
                ('to_status', models.CharField(max_length=9)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('at', models.DateTimeField()),
                ('swap', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='swaps.swap')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='AutoSwap',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('since', models.DateTimeField()),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ('target_asset', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('store', 'mode'), name='auto_swap_once_per_mode')],
            },
        ),
        migrations.AddIndex(
            model_name='swap',
            index=models.Index(fields=['store', 'mode', '-created_at'], name='swaps_swap_store_i_d4c0c2_idx'),
        ),
        migrations.AddIndex(
            model_name='swap',
            index=models.Index(condition=models.Q(('status__in', ['pending', 'submitted'])), fields=['created_at'], name='swap_open'),
        ),
        migrations.AddConstraint(
            model_name='swap',
            constraint=models.CheckConstraint(condition=models.Q(('sell_amount_atomic__gt', 0)), name='swap_sells_something'),
        ),
        migrations.AddConstraint(
            model_name='swap',
            constraint=models.CheckConstraint(condition=models.Q(('source_asset', models.F('buy_asset')), _negated=True), name='swap_changes_asset'),
        ),
        migrations.AddConstraint(
            model_name='swap',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('actual_buy_amount_atomic__isnull', False), ('status', 'completed')), models.Q(models.Q(('status', 'completed'), _negated=True), ('actual_buy_amount_atomic__isnull', True)), _connector='OR'), name='swap_bought_when_completed'),
        ),
        migrations.AddConstraint(
            model_name='swap',
            constraint=models.UniqueConstraint(fields=('store', 'mode', 'idempotency_caller', 'idempotency_key'), name='swap_idempotency_key_once'),
        ),
        migrations.AddConstraint(
            model_name='swap',
            constraint=models.UniqueConstraint(condition=models.Q(('payment__isnull', False)), fields=('payment', 'source_asset'), name='swap_once_per_payment'),
        ),
    ]
