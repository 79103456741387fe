"""Everything until 0030_one_index_of_values in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import apps.core.models
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import uuid
from apps.core.db.first_tables import FirstTables
from django.conf import settings
from django.db import migrations, models

SQL = [
    # Neither chain nor number is ever null, which Django's expression allows for. The first wallet of a chain has the chain's name as its key.
    r"""ALTER TABLE chain_hotwallet DROP COLUMN id;""",
    r"""ALTER TABLE chain_hotwallet ADD COLUMN id varchar(30) GENERATED ALWAYS AS (CASE WHEN number = 0 THEN chain_id ELSE chain_id || ':' || number::varchar END) STORED NOT NULL CONSTRAINT chain_hotwallet_pkey PRIMARY KEY;""",
    r"""CREATE SEQUENCE chain_deposit_index
    START WITH 49
    INCREMENT BY 50
    MINVALUE 0
    MAXVALUE 2147483647
    CACHE 1;""",
]


class Migration(migrations.Migration):

    replaces = [
        ('chain', '0001_squashed_0009_reorgs'),
        ('chain', '0010_deposit_mined_at'),
        ('chain', '0011_lanes'),
        ('chain', '0012_indexes_of_caps'),
        ('chain', '0013_approvals'),
        ('chain', '0014_cold_and_withdrawals'),
        ('chain', '0015_reason_codes'),
        ('chain', '0016_codes_of_old_reasons'),
        ('chain', '0017_needing_a_person'),
        ('chain', '0018_needing_a_person_indexes'),
        ('chain', '0019_holds'),
        ('chain', '0020_staff_lists'),
        ('chain', '0021_short_wallets'),
        ('chain', '0022_unswept'),
        ('chain', '0023_unswept_by_asset'),
        ('chain', '0024_words_of_choices'),
        ('chain', '0025_one_index_of_addresses'),
        ('chain', '0026_one_index_a_column'),
        ('chain', '0027_signing_lanes'),
        ('chain', '0028_sweeps_by_address'),
        ('chain', '0029_one_index_a_beginning'),
        ('chain', '0030_one_index_of_values'),
    ]

    replaced_earlier = [
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
        ('assets', '0001_squashed_0005_one_index_a_beginning'),
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
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
                name='Address',
                fields=[
                    ('address', models.CharField(db_collation='C', max_length=42, primary_key=True, serialize=False)),
                    ('mode', models.CharField(max_length=4)),
                    ('index', models.BigIntegerField()),
                    ('purpose', models.CharField(choices=[('deposit', 'Deposit'), ('hot', 'Hot')], default='deposit', max_length=7)),
                    ('created_at', models.DateTimeField()),
                    ('watch_balance_until', models.DateTimeField(null=True)),
                    ('native_chain', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
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
                    ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
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
                    ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
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
                    ('mined_at', models.DateTimeField(blank=True, null=True)),
                    ('is_unswept', models.BooleanField(db_default=True, default=True)),
                    ('address', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='deposits', to='chain.address')),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ],
            ),
            migrations.CreateModel(
                name='HotWallet',
                fields=[
                    ('address', models.CharField(db_collation='C', max_length=42)),
                    ('next_nonce', models.BigIntegerField()),
                    ('halted_at', models.DateTimeField(blank=True, null=True)),
                    ('halted_reason', models.CharField(blank=True, max_length=200)),
                    ('short_since', models.DateTimeField(blank=True, null=True)),
                    ('number', models.PositiveSmallIntegerField(db_default=0, default=0)),
                    ('id', models.GeneratedField(db_persist=True, expression=models.Case(models.When(number=0, then=models.F('chain_id')), default=django.db.models.functions.text.Concat('chain_id', models.Value(':'), django.db.models.functions.comparison.Cast('number', models.CharField()))), output_field=models.CharField(max_length=30), primary_key=True, serialize=False)),
                    ('without_gas_since', models.DateTimeField(blank=True, null=True)),
                    ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ],
            ),
            migrations.CreateModel(
                name='OutgoingTransaction',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(max_length=4)),
                    ('purpose', models.CharField(choices=[('refund', 'Refund'), ('payout', 'Payout'), ('settlement', 'Settlement'), ('test_payment', 'Test payment'), ('swap', 'Swap'), ('approval', 'Approval'), ('sweep', 'Sweep'), ('sweep_gas', 'Gas for a sweep'), ('cold', 'Cold storage'), ('withdrawal', 'Withdrawal'), ('x402', 'x402')], max_length=12)),
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
                    ('goes_back', models.BooleanField(db_default=False, default=False)),
                    ('not_before', models.DateTimeField(blank=True, null=True)),
                    ('waits_for', models.CharField(blank=True, choices=[('funds', 'Funds'), ('sweep', 'Sweep'), ('network', 'Network')], db_default='', default='', max_length=7)),
                    ('approval', models.CharField(blank=True, db_collation='C', db_default='', default='', max_length=100)),
                    ('reason_code', models.CharField(blank=True, choices=[('short', 'The hot wallet is short of funds'), ('network_dear', 'The network asks more for gas than the ceiling'), ('network_silent', "The network can't say what it costs"), ('wrong_chain', 'The asset belongs to another chain'), ('no_contract', 'The asset has no contract'), ('destination_refused', 'The destination is refused'), ('recipient_refuses', 'The recipient refuses the transfer'), ('recipient_costly', 'The recipient needs more gas than a transfer is given'), ('not_listed', "The destination is not on the operator's list"), ('exchange_refuses', 'The exchange refuses the swap'), ('no_exchange', 'The chain has no exchange'), ('strange_call', 'The call is not what was asked for'), ('token_refuses', 'The token refuses the authorization'), ('not_to_deposit', 'The coins would not come to a deposit address'), ('from_hot_wallet', 'The coins would leave a hot wallet'), ('not_to_cold', 'It is no transfer to cold storage'), ('not_cold_address', "The destination is not the asset's cold address"), ('payouts_wait', 'Payouts wait for these coins'), ('holds_less', 'The hot wallet holds less by now'), ('no_transfer', 'It is no transfer'), ('not_to_hot_wallet', 'A sweep goes to the hot wallet'), ('no_deposit_address', 'It is no deposit address'), ('would_revert', 'The transfer would be reverted'), ('gas_too_dear', 'Gas became too dear'), ('reverted', 'The chain reverted it'), ('nonce_taken', 'Its nonce was used by another transaction'), ('given_up', 'Given up by an operator'), ('not_approved', 'Nobody approved it'), ('not_reserved', 'The books have set nothing aside for it'), ('above_one', 'It is above the limit of one transaction'), ('above_day', 'It is above the limit of one day'), ('no_key', 'The seed has no key for the address'), ('may_be_sent', 'It may have been sent before the records were restored'), ('sent_before', 'The wallet did the same before the records were restored'), ('nonce_ahead', 'The chain is ahead of our records'), ('nonce_unknown', 'Its nonce was used by a transaction that we do not know'), ('undone', 'The chain undid it, and did otherwise the second time'), ('given_back', 'It was reverted and what it should have paid was given back; then the chain undid it. Sent again, it could pay')], db_default='', default='', max_length=25)),
                    ('asset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('chain', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                    ('receives_asset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('store', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='SendingHold',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('reason', models.CharField(max_length=500)),
                    ('placed_at', models.DateTimeField()),
                    ('lifted_at', models.DateTimeField(blank=True, null=True)),
                    ('lift_reason', models.CharField(blank=True, default='', max_length=500)),
                    ('asset', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('chain', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                    ('placed_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
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
                    ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
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
                    ('outcome', models.CharField(blank=True, choices=[('credited', 'Credited to the store'), ('returned', 'Returned to the sender'), ('kept', 'Kept by the service'), ('ignored', 'Nothing to do')], db_default='', default='', max_length=8)),
                    ('outcome_reason', models.CharField(blank=True, db_default='', default='', max_length=500)),
                    ('resolved_at', models.DateTimeField(blank=True, null=True)),
                    ('address', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.address')),
                    ('asset', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                    ('store', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
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
                index=models.Index(fields=['from_address', 'asset'], name='deposit_by_payer'),
            ),
            migrations.AddIndex(
                model_name='deposit',
                index=django.contrib.postgres.indexes.BrinIndex(fields=['detected_at'], name='deposit_by_age'),
            ),
            migrations.AddIndex(
                model_name='deposit',
                index=models.Index(condition=models.Q(('handled_status', 'confirmed'), ('is_lost', False), ('is_simulated', False), ('is_unswept', True), ('status', 'confirmed')), fields=['chain', 'asset', 'address'], name='deposit_unswept'),
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
            migrations.AddConstraint(
                model_name='hotwallet',
                constraint=models.UniqueConstraint(fields=('chain', 'number'), name='hot_wallet_lane_once'),
            ),
            migrations.AddConstraint(
                model_name='hotwallet',
                constraint=models.UniqueConstraint(fields=('chain', 'address'), name='hot_wallet_address_once'),
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
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=models.Index(fields=['store', 'asset', 'signed_at'], name='outgoing_by_store'),
            ),
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=models.Index(condition=models.Q(('goes_back', True)), fields=['to_address', 'asset'], name='outgoing_gone_back'),
            ),
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=models.Index(condition=models.Q(('status', 'review')), fields=['store', 'mode', '-requested_at'], name='outgoing_in_review'),
            ),
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=models.Index(condition=models.Q(('status', 'review')), fields=['requested_at'], name='outgoing_reviews'),
            ),
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=django.contrib.postgres.indexes.BrinIndex(fields=['requested_at'], name='outgoing_by_age'),
            ),
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=models.Index(condition=models.Q(('purpose', 'sweep')), fields=['chain', 'from_address'], name='outgoing_sweeps'),
            ),
            migrations.AddIndex(
                model_name='outgoingtransaction',
                index=models.Index(condition=models.Q(('purpose', 'sweep_gas')), fields=['chain', 'to_address'], name='outgoing_sweep_gas'),
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
                model_name='sendinghold',
                constraint=models.CheckConstraint(condition=models.Q(('chain', None), ('asset', None), _connector='OR'), name='sending_hold_of_one_kind'),
            ),
            migrations.AddConstraint(
                model_name='sendinghold',
                constraint=models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('chain', 'asset'), name='sending_hold_once', nulls_distinct=False),
            ),
            migrations.AddConstraint(
                model_name='unknowntransaction',
                constraint=models.UniqueConstraint(fields=('chain', 'from_address', 'nonce'), name='unknown_nonce_once'),
            ),
            migrations.AddIndex(
                model_name='unmatchedtransfer',
                index=models.Index(condition=models.Q(('store__isnull', False)), fields=['store', '-detected_at'], name='unmatched_of_store'),
            ),
            migrations.AddIndex(
                model_name='unmatchedtransfer',
                index=models.Index(condition=models.Q(('resolved_at', None)), fields=['detected_at'], name='unmatched_open'),
            ),
            migrations.AddConstraint(
                model_name='unmatchedtransfer',
                constraint=models.UniqueConstraint(fields=('chain', 'tx_hash', 'log_index'), name='unmatched_transfer_once'),
            ),
        ]),
        migrations.RunSQL(SQL),
    ]
