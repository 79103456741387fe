"""Everything until 0009_reorgs in one step; what Django does not draw up stands below, as PostgreSQL told it."""

import apps.core.models
import django.db.models.deletion
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models

SQL = [
    r"""CREATE SEQUENCE chain_deposit_index
    START WITH 49
    INCREMENT BY 50
    MINVALUE 0
    MAXVALUE 2147483647
    CACHE 1;""",
]


class Migration(migrations.Migration):

    replaces = [
        ('chain', '0001_initial'),
        ('chain', '0002_additions'),
        ('chain', '0003_deposit_index'),
        ('chain', '0004_balances_and_lookups'),
        ('chain', '0005_outgoing'),
        ('chain', '0006_swaps_and_sweeps'),
        ('chain', '0007_signed_transfers'),
        ('chain', '0008_unknown_transactions'),
        ('chain', '0009_reorgs'),
    ]

    dependencies = [
        ('assets', '0001_squashed_0007_test_dollar'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='Head',
                fields=[
                    ('chain', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='assets.chain')),
                    ('number', models.BigIntegerField()),
                    ('hash', models.CharField(max_length=66)),
                    ('genesis_hash', models.CharField(blank=True, max_length=66)),
                    ('block_time', models.DateTimeField()),
                    ('synced_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='HotWallet',
                fields=[
                    ('chain', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='assets.chain')),
                    ('address', models.CharField(db_collation='C', max_length=42)),
                    ('next_nonce', models.BigIntegerField()),
                    ('halted_at', models.DateTimeField(blank=True, null=True)),
                    ('halted_reason', models.CharField(blank=True, max_length=200)),
                ],
            ),
            migrations.CreateModel(
                name='Address',
                fields=[
                    ('address', models.CharField(db_collation='C', max_length=42, primary_key=True, serialize=False)),
                    ('mode', models.CharField(max_length=4)),
                    ('index', models.BigIntegerField()),
                    ('purpose', models.CharField(choices=[('deposit', 'Deposit'), ('hot', 'Hot')], default='deposit', max_length=7)),
                    ('created_at', models.DateTimeField()),
                    ('watch_balance_until', models.DateTimeField(null=True)),
                    ('native_chain', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ],
            ),
            migrations.CreateModel(
                name='BalanceCheck',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('block_number', models.BigIntegerField()),
                    ('balance_atomic', apps.core.models.AtomicField(default=0)),
                    ('sent_count', models.BigIntegerField(default=0)),
                    ('address', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.address')),
                    ('chain', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ],
            ),
            migrations.CreateModel(
                name='Block',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.BigIntegerField()),
                    ('hash', models.CharField(db_collation='C', max_length=66)),
                    ('parent_hash', models.CharField(db_collation='C', max_length=66)),
                    ('mined_at', models.DateTimeField()),
                    ('is_canonical', models.BooleanField(default=True)),
                    ('scanned_at', models.DateTimeField()),
                    ('chain', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ],
            ),
            migrations.CreateModel(
                name='Deposit',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('tx_hash', models.CharField(db_collation='C', max_length=66)),
                    ('log_index', models.IntegerField()),
                    ('from_address', models.CharField(db_collation='C', max_length=42)),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('block_number', models.BigIntegerField(null=True)),
                    ('block_hash', models.CharField(blank=True, db_collation='C', max_length=66)),
                    ('status', models.CharField(choices=[('confirming', 'Confirming'), ('confirmed', 'Confirmed'), ('failed', 'Failed'), ('unmatched', 'Unmatched')], default='confirming', max_length=10)),
                    ('handled_status', models.CharField(blank=True, default='', max_length=10)),
                    ('required_confirmations', models.PositiveIntegerField()),
                    ('detected_at', models.DateTimeField()),
                    ('confirmed_at', models.DateTimeField(blank=True, null=True)),
                    ('failed_at', models.DateTimeField(blank=True, null=True)),
                    ('is_lost', models.BooleanField(default=False)),
                    ('is_simulated', models.BooleanField(default=False)),
                    ('simulated_reference', models.CharField(blank=True, max_length=255, null=True)),
                    ('simulated_confirmations', models.PositiveIntegerField(default=0)),
                    ('address', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='deposits', to='chain.address')),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('chain', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ],
            ),
            migrations.CreateModel(
                name='OutgoingTransaction',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(max_length=4)),
                    ('purpose', models.CharField(choices=[('refund', 'Refund'), ('payout', 'Payout'), ('settlement', 'Settlement'), ('test_payment', 'Test Payment'), ('swap', 'Swap'), ('approval', 'Approval'), ('sweep', 'Sweep'), ('sweep_gas', 'Sweep Gas'), ('x402', 'X402')], max_length=12)),
                    ('reference', models.CharField(max_length=100)),
                    ('to_address', models.CharField(db_collation='C', max_length=42)),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('call_data', models.TextField(blank=True, default='')),
                    ('received_atomic', apps.core.models.AtomicField(default=0)),
                    ('status', models.CharField(choices=[('requested', 'Requested'), ('signed', 'Signed'), ('submitted', 'Submitted'), ('confirmed', 'Confirmed'), ('failed', 'Failed'), ('review', 'Review')], default='requested', max_length=9)),
                    ('handled_status', models.CharField(blank=True, default='', max_length=9)),
                    ('handled_fee_atomic', apps.core.models.AtomicField(default=0)),
                    ('handled_received_atomic', apps.core.models.AtomicField(default=0)),
                    ('undone_count', models.PositiveSmallIntegerField(default=0)),
                    ('reason', models.CharField(blank=True, max_length=200)),
                    ('from_address', models.CharField(blank=True, db_collation='C', max_length=42)),
                    ('nonce', models.BigIntegerField(blank=True, null=True)),
                    ('gas_limit', models.BigIntegerField(blank=True, null=True)),
                    ('tx_hash', models.CharField(blank=True, db_collation='C', max_length=66)),
                    ('block_number', models.BigIntegerField(blank=True, null=True)),
                    ('block_hash', models.CharField(blank=True, db_collation='C', default='', max_length=66)),
                    ('network_fee_atomic', apps.core.models.AtomicField(default=0)),
                    ('requested_at', models.DateTimeField()),
                    ('signed_at', models.DateTimeField(blank=True, null=True)),
                    ('submitted_at', models.DateTimeField(blank=True, null=True)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('chain', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                    ('receives_asset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ],
            ),
            migrations.CreateModel(
                name='SignedTransaction',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('tx_hash', models.CharField(db_collation='C', max_length=66, unique=True)),
                    ('raw', models.TextField()),
                    ('max_fee_wei', apps.core.models.AtomicField()),
                    ('priority_fee_wei', apps.core.models.AtomicField()),
                    ('signed_at', models.DateTimeField()),
                    ('broadcast_at', models.DateTimeField(blank=True, null=True)),
                    ('outgoing', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='candidates', to='chain.outgoingtransaction')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
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
                    ('outgoing', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='undone', to='chain.outgoingtransaction')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='UnknownTransaction',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('from_address', models.CharField(db_collation='C', max_length=42)),
                    ('nonce', models.BigIntegerField()),
                    ('tx_hash', models.CharField(db_collation='C', max_length=66, unique=True)),
                    ('to_address', models.CharField(blank=True, db_collation='C', max_length=42)),
                    ('value_atomic', apps.core.models.AtomicField()),
                    ('data', models.TextField(db_collation='C')),
                    ('found_at', models.DateTimeField()),
                    ('settled_at', models.DateTimeField(blank=True, null=True)),
                    ('chain', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ],
            ),
            migrations.CreateModel(
                name='UnmatchedTransfer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('contract_address', models.CharField(blank=True, max_length=42)),
                    ('tx_hash', models.CharField(db_collation='C', max_length=66)),
                    ('log_index', models.IntegerField()),
                    ('from_address', models.CharField(max_length=42)),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('block_number', models.BigIntegerField()),
                    ('reason', models.CharField(max_length=100)),
                    ('detected_at', models.DateTimeField()),
                    ('address', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.address')),
                    ('asset', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('chain', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ],
            ),
            migrations.AddIndex(
                model_name='address',
                index=models.Index(condition=models.Q(('native_chain__isnull', False)), fields=['native_chain', 'watch_balance_until', 'address'], name='address_balance_watched'),
            ),
            migrations.AddConstraint(
                model_name='address',
                constraint=models.UniqueConstraint(fields=('mode', 'purpose', 'index'), name='address_index_once'),
            ),
            migrations.AddConstraint(
                model_name='balancecheck',
                constraint=models.UniqueConstraint(fields=('chain', 'address'), name='balance_check_once'),
            ),
            migrations.AddConstraint(
                model_name='block',
                constraint=models.UniqueConstraint(condition=models.Q(('is_canonical', True)), fields=('chain', 'number'), name='block_one_canonical'),
            ),
            migrations.AddConstraint(
                model_name='block',
                constraint=models.UniqueConstraint(fields=('chain', 'hash'), name='block_hash_once'),
            ),
            migrations.AddIndex(
                model_name='deposit',
                index=models.Index(condition=models.Q(models.Q(('status', models.F('handled_status')), _negated=True), ('handled_status', ''), _connector='OR'), fields=['detected_at'], name='deposit_unhandled'),
            ),
            migrations.AddIndex(
                model_name='deposit',
                index=models.Index(condition=models.Q(('status', 'confirming')), fields=['chain', 'block_number'], name='deposit_confirming'),
            ),
            migrations.AddIndex(
                model_name='deposit',
                index=models.Index(condition=models.Q(('is_lost', True)), fields=['chain', 'block_number'], name='deposit_lost'),
            ),
            migrations.AddIndex(
                model_name='deposit',
                index=models.Index(fields=['chain', 'block_number'], name='deposit_by_block'),
            ),
            migrations.AddIndex(
                model_name='deposit',
                index=models.Index(fields=['address'], name='chain_depos_address_ef8b1e_idx'),
            ),
            migrations.AddConstraint(
                model_name='deposit',
                constraint=models.UniqueConstraint(fields=('chain', 'tx_hash', 'log_index'), name='deposit_once'),
            ),
            migrations.AddConstraint(
                model_name='deposit',
                constraint=models.UniqueConstraint(condition=models.Q(('is_simulated', True)), fields=('address', 'simulated_reference'), name='simulated_deposit_once'),
            ),
            migrations.AddConstraint(
                model_name='deposit',
                constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='deposit_is_positive'),
            ),
            migrations.AddConstraint(
                model_name='deposit',
                constraint=models.CheckConstraint(condition=models.Q(('is_simulated', True), ('block_number__isnull', False), _connector='OR'), name='deposit_has_block'),
            ),
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=models.Index(condition=models.Q(('status__in', ['requested', 'signed', 'submitted'])), fields=['chain', 'requested_at'], name='outgoing_open'),
            ),
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=models.Index(condition=models.Q(('status', models.F('handled_status')), _negated=True), fields=['purpose', 'finished_at'], name='outgoing_unhandled'),
            ),
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=models.Index(fields=['asset', 'signed_at'], name='outgoing_by_asset'),
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
                constraint=models.UniqueConstraint(fields=('purpose', 'reference'), name='outgoing_once'),
            ),
            migrations.AddConstraint(
                model_name='outgoingtransaction',
                constraint=models.UniqueConstraint(condition=models.Q(('nonce__isnull', False)), fields=('chain', 'from_address', 'nonce'), name='outgoing_nonce_once'),
            ),
            migrations.AddConstraint(
                model_name='outgoingtransaction',
                constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='outgoing_is_positive'),
            ),
            migrations.AddConstraint(
                model_name='outgoingtransaction',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('status__in', ['signed', 'submitted', 'confirmed']), _negated=True), ('nonce__isnull', False), _connector='OR'), name='outgoing_signed_has_nonce'),
            ),
            migrations.AddConstraint(
                model_name='outgoingtransaction',
                constraint=models.UniqueConstraint(condition=models.Q(('purpose', 'sweep'), ('status__in', ['requested', 'signed', 'submitted', 'review']), ('undone_count', 0)), fields=('chain', 'from_address'), name='outgoing_one_sweep_per_address'),
            ),
            migrations.AddConstraint(
                model_name='unknowntransaction',
                constraint=models.UniqueConstraint(fields=('chain', 'from_address', 'nonce'), name='unknown_nonce_once'),
            ),
            migrations.AddConstraint(
                model_name='unmatchedtransfer',
                constraint=models.UniqueConstraint(fields=('chain', 'tx_hash', 'log_index'), name='unmatched_transfer_once'),
            ),
        ]),
        migrations.RunSQL(SQL),
    ]
