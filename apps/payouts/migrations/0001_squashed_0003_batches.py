"""Everything until 0003_batches in one step; what Django does not draw up stands below, as PostgreSQL told it."""

import apps.core.models
import django.db.models.deletion
import uuid
from django.conf import settings
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('payouts', '0001_initial'),
        ('payouts', '0002_asked_at'),
        ('payouts', '0003_batches'),
    ]

    dependencies = [
        ('assets', '0001_squashed_0007_test_dollar'),
        ('stores', '0001_squashed_0009_audit_seals'),
        ('stores', '__first__'),
        ('swaps', '0001_initial'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='Destination',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('kind', models.CharField(choices=[('wallet', 'Wallet'), ('bank', 'Bank')], max_length=6)),
                    ('label', models.CharField(blank=True, max_length=100)),
                    ('network', models.CharField(blank=True, choices=[('ethereum', 'Ethereum'), ('sepolia', 'Sepolia'), ('base', 'Base'), ('arbitrum', 'Arbitrum'), ('polygon', 'Polygon'), ('bsc', 'BNB Smart Chain')], max_length=10)),
                    ('address', models.CharField(blank=True, db_collation='C', max_length=42)),
                    ('currency', models.CharField(blank=True, max_length=3)),
                    ('holder', models.CharField(blank=True, max_length=200)),
                    ('account_sealed', models.TextField(blank=True)),
                    ('account_hint', models.CharField(blank=True, max_length=8)),
                    ('verified_at', models.DateTimeField(blank=True, null=True)),
                    ('cools_until', models.DateTimeField()),
                    ('removed_at', models.DateTimeField(blank=True, null=True)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='OfframpCallback',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('provider', models.CharField(max_length=20)),
                    ('event_id', models.CharField(max_length=100)),
                    ('received_at', models.DateTimeField()),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('provider', 'event_id'), name='offramp_callback_once')],
                },
            ),
            migrations.CreateModel(
                name='Payout',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('submitted', 'Submitted'), ('confirmed', 'Confirmed'), ('failed', 'Failed'), ('retrying', 'Retrying'), ('requires_review', 'Requires Review')], default='pending', max_length=15)),
                    ('funds', models.CharField(choices=[('reserved', 'Reserved'), ('clearing', 'Clearing'), ('paid', 'Paid'), ('returned', 'Returned')], default='reserved', max_length=8)),
                    ('rail', models.CharField(choices=[('crypto', 'Crypto'), ('fiat_manual', 'Fiat Manual'), ('fiat_autoswap', 'Fiat Autoswap')], max_length=13)),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('withheld_atomic', apps.core.models.AtomicField(default=0)),
                    ('destination_address', models.CharField(db_collation='C', max_length=42, null=True)),
                    ('is_simulated', models.BooleanField(null=True)),
                    ('bears_network_fee', models.BooleanField(default=False)),
                    ('network_fee_atomic', apps.core.models.OptionalAtomicField(null=True)),
                    ('tx_hash', models.CharField(max_length=66, null=True)),
                    ('provider', models.CharField(blank=True, max_length=20)),
                    ('provider_tx_id', models.CharField(max_length=100, null=True)),
                    ('fiat_currency', models.CharField(max_length=3, null=True)),
                    ('paid_fiat_amount_cents', models.BigIntegerField(null=True)),
                    ('paid_fee_cents', models.BigIntegerField(null=True)),
                    ('paid_fx_rate', models.DecimalField(decimal_places=18, max_digits=38, null=True)),
                    ('paid_external_reference', models.CharField(max_length=100, null=True)),
                    ('paid_at', models.DateTimeField(null=True)),
                    ('failure_code', models.CharField(choices=[('insufficient_funds', 'Insufficient Funds'), ('destination_invalid', 'Destination Invalid'), ('temporarily_unavailable', 'Temporarily Unavailable'), ('unknown', 'Unknown')], max_length=23, null=True)),
                    ('failure_reason', models.CharField(max_length=200, null=True)),
                    ('review_reason', models.CharField(blank=True, max_length=200)),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('retries', models.PositiveSmallIntegerField(default=0)),
                    ('retry_at', models.DateTimeField(null=True)),
                    ('is_outcome_unknown', models.BooleanField(default=False)),
                    ('submitted_at', models.DateTimeField(null=True)),
                    ('submitted_real_at', models.DateTimeField(null=True)),
                    ('asked_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('agent_credential_id', models.UUIDField(null=True)),
                    ('idempotency_caller', models.CharField(blank=True, default='', max_length=50)),
                    ('idempotency_key', models.CharField(max_length=255)),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('destination', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payouts.destination')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='PayoutBatch',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('status', models.CharField(choices=[('review', 'Review'), ('released', 'Released'), ('discarded', 'Discarded')], default='review', max_length=9)),
                    ('filename', models.CharField(max_length=100)),
                    ('digest', models.CharField(max_length=64)),
                    ('released_at', models.DateTimeField(null=True)),
                    ('form_key', models.CharField(max_length=32)),
                    ('released_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('uploaded_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='PayoutBatchLine',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('status', models.CharField(choices=[('invalid', 'Invalid'), ('valid', 'Valid'), ('queued', 'Queued'), ('created', 'Created'), ('failed', 'Failed')], max_length=7)),
                    ('amount_atomic', apps.core.models.OptionalAtomicField(null=True)),
                    ('address', models.CharField(blank=True, db_collation='C', max_length=42)),
                    ('written', models.CharField(max_length=200)),
                    ('label', models.CharField(blank=True, max_length=100)),
                    ('problem', models.CharField(blank=True, max_length=200)),
                    ('lookalike', models.CharField(blank=True, db_collation='C', max_length=42)),
                    ('twin_number', models.PositiveIntegerField(null=True)),
                    ('asset', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='payouts.payoutbatch')),
                    ('destination', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payouts.destination')),
                    ('payout', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payouts.payout')),
                ],
                options={
                    'ordering': ['number'],
                },
            ),
            migrations.CreateModel(
                name='PayoutTransition',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('from_status', models.CharField(max_length=15, null=True)),
                    ('to_status', models.CharField(max_length=15)),
                    ('note', models.CharField(blank=True, max_length=200)),
                    ('at', models.DateTimeField()),
                    ('payout', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='transitions', to='payouts.payout')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='Schedule',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('frequency', models.CharField(choices=[('daily', 'Daily'), ('weekly', 'Weekly'), ('monthly', 'Monthly')], max_length=7)),
                    ('destination_address', models.CharField(db_collation='C', max_length=42, null=True)),
                    ('minimum_fiat_cents', models.BigIntegerField(null=True)),
                    ('minimum_fiat_currency', models.CharField(default='USD', max_length=3)),
                    ('next_payout_at', models.DateTimeField()),
                    ('anchor_day', models.PositiveSmallIntegerField()),
                    ('last_payout_at', models.DateTimeField(null=True)),
                    ('last_skip_reason', models.CharField(max_length=21, null=True)),
                    ('last_failure', models.CharField(blank=True, max_length=200)),
                    ('is_active', models.BooleanField(default=True)),
                    ('deleted_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('destination', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payouts.destination')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('swap_target_asset', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ],
            ),
            migrations.AddField(
                model_name='payout',
                name='schedule',
                field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payouts.schedule'),
            ),
            migrations.CreateModel(
                name='ScheduleRun',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('due_at', models.DateTimeField(null=True)),
                    ('at', models.DateTimeField()),
                    ('skip_reason', models.CharField(max_length=21, null=True)),
                    ('failure', models.CharField(blank=True, max_length=200)),
                    ('amount_atomic', apps.core.models.OptionalAtomicField(null=True)),
                    ('is_swapping', models.BooleanField(default=False)),
                    ('schedule', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='payouts.schedule')),
                    ('swap', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='swaps.swap')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='StorePayoutCap',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('per_tx_atomic', apps.core.models.OptionalAtomicField(blank=True, null=True)),
                    ('daily_atomic', apps.core.models.OptionalAtomicField(blank=True, null=True)),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.AddIndex(
                model_name='destination',
                index=models.Index(fields=['store', 'mode', 'created_at'], name='payouts_des_store_i_2fdd00_idx'),
            ),
            migrations.AddConstraint(
                model_name='destination',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('address__startswith', '0x'), ('currency', ''), ('kind', 'wallet')), models.Q(('address', ''), ('kind', 'bank'), models.Q(('currency', ''), _negated=True)), _connector='OR'), name='destination_is_wallet_or_bank'),
            ),
            migrations.AddConstraint(
                model_name='destination',
                constraint=models.UniqueConstraint(condition=models.Q(('kind', 'wallet'), ('removed_at', None)), fields=('store', 'mode', 'network', 'address'), name='destination_wallet_once'),
            ),
            migrations.AddIndex(
                model_name='payoutbatch',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='payouts_pay_store_i_e66ec1_idx'),
            ),
            migrations.AddConstraint(
                model_name='payoutbatch',
                constraint=models.UniqueConstraint(fields=('store', 'mode', 'form_key'), name='payout_batch_form_once'),
            ),
            migrations.AddConstraint(
                model_name='payoutbatch',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('released_at__isnull', False), ('released_by__isnull', False), ('status', 'released')), models.Q(('released_at', None), ('released_by', None), models.Q(('status', 'released'), _negated=True)), _connector='OR'), name='payout_batch_released_by_somebody'),
            ),
            migrations.AddIndex(
                model_name='payoutbatchline',
                index=models.Index(condition=models.Q(('status', 'queued')), fields=['number', 'id'], name='payout_batch_line_queued'),
            ),
            migrations.AddConstraint(
                model_name='payoutbatchline',
                constraint=models.UniqueConstraint(fields=('batch', 'number'), name='payout_batch_line_once'),
            ),
            migrations.AddConstraint(
                model_name='payoutbatchline',
                constraint=models.CheckConstraint(condition=models.Q(('status', 'invalid'), models.Q(('amount_atomic__gt', 0), ('asset__isnull', False), models.Q(('destination__isnull', False), models.Q(('address', ''), _negated=True), _connector='OR')), _connector='OR'), name='payout_batch_line_can_be_paid'),
            ),
            migrations.AddConstraint(
                model_name='payoutbatchline',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('payout__isnull', False), ('status', 'created')), models.Q(('payout', None), models.Q(('status', 'created'), _negated=True)), _connector='OR'), name='payout_batch_line_created_has_payout'),
            ),
            migrations.AddConstraint(
                model_name='payoutbatchline',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('status__in', ['invalid', 'failed']), models.Q(('problem', ''), _negated=True)), models.Q(('problem', ''), ('status__in', ['valid', 'queued', 'created'])), _connector='OR'), name='payout_batch_line_problem_is_told'),
            ),
            migrations.AddIndex(
                model_name='schedule',
                index=models.Index(condition=models.Q(('deleted_at', None), ('is_active', True)), fields=['next_payout_at'], name='schedule_due'),
            ),
            migrations.AddConstraint(
                model_name='schedule',
                constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('store', 'mode', 'asset'), name='schedule_once_per_asset'),
            ),
            migrations.AddConstraint(
                model_name='schedule',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('destination__isnull', False), ('destination_address__isnull', True)), models.Q(('destination__isnull', True), ('destination_address__isnull', False)), _connector='OR'), name='schedule_has_one_destination'),
            ),
            migrations.AddIndex(
                model_name='payout',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='payouts_pay_store_i_1b66b5_idx'),
            ),
            migrations.AddIndex(
                model_name='payout',
                index=models.Index(fields=['store', 'mode', 'asset', 'created_at'], name='payout_by_day'),
            ),
            migrations.AddIndex(
                model_name='payout',
                index=models.Index(condition=models.Q(('schedule__isnull', False)), fields=['schedule', '-created_at'], name='payout_of_schedule'),
            ),
            migrations.AddIndex(
                model_name='payout',
                index=models.Index(condition=models.Q(('funds__in', ['reserved', 'clearing'])), fields=['created_at'], name='payout_open'),
            ),
            migrations.AddConstraint(
                model_name='payout',
                constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='payout_is_positive'),
            ),
            migrations.AddConstraint(
                model_name='payout',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'confirmed'), _negated=True), ('funds__in', ['paid', 'clearing']), _connector='OR'), name='payout_confirmed_is_paid'),
            ),
            migrations.AddConstraint(
                model_name='payout',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('funds', 'returned'), _negated=True), ('status', 'failed'), _connector='OR'), name='payout_returned_has_failed'),
            ),
            migrations.AddConstraint(
                model_name='payout',
                constraint=models.UniqueConstraint(fields=('store', 'mode', 'idempotency_caller', 'idempotency_key'), name='payout_idempotency_key_once'),
            ),
            migrations.AddIndex(
                model_name='schedulerun',
                index=models.Index(condition=models.Q(('is_swapping', True)), fields=['id'], name='schedule_run_swapping'),
            ),
            migrations.AddConstraint(
                model_name='schedulerun',
                constraint=models.UniqueConstraint(condition=models.Q(('due_at__isnull', False)), fields=('schedule', 'due_at'), name='schedule_due_time_once'),
            ),
            migrations.AddConstraint(
                model_name='storepayoutcap',
                constraint=models.UniqueConstraint(fields=('store', 'asset'), name='payout_cap_once_per_asset'),
            ),
        ]),
    ]
