"""Everything until 0007_one_index_a_beginning in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import apps.core.models
import django.db.models.deletion
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('agents', '0001_squashed_0002_signed_payments'),
        ('agents', '0003_agent_settings'),
        ('agents', '0004_copied_agent_settings'),
        ('agents', '0005_words_of_choices'),
        ('agents', '0006_newest_of_all'),
        ('agents', '0007_one_index_a_beginning'),
    ]

    replaced_earlier = [
        ('agents', '0001_initial'),
        ('agents', '0002_signed_payments'),
    ]

    dependencies = [
        ('access', '0001_squashed_0015_one_index_a_beginning'),
        ('assets', '0001_squashed_0005_one_index_a_beginning'),
        ('chain', '0001_squashed_0030_one_index_of_values'),
        ('payments', '0001_squashed_0045_sums_by_entries_alone'),
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='AgentSettings',
                fields=[
                    ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='stores.store')),
                    ('x402_dispatch', models.BooleanField(default=False)),
                    ('authorization_provider', models.CharField(choices=[('none', 'None'), ('policy', 'Policy'), ('http', 'HTTP')], default='none', max_length=8)),
                    ('authorization_url', models.URLField(blank=True, max_length=2048)),
                    ('authorization_policy', models.JSONField(blank=True, default=dict)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Mandate',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('mandate_ref', models.CharField(max_length=255)),
                    ('scope', models.CharField(max_length=255)),
                    ('status', models.CharField(choices=[('active', 'Active'), ('exhausted', 'Exhausted'), ('revoked', 'Revoked'), ('expired', 'Expired')], default='active', max_length=9)),
                    ('total_cap_atomic', apps.core.models.AtomicField()),
                    ('per_call_cap_atomic', apps.core.models.OptionalAtomicField(null=True)),
                    ('spent_atomic', apps.core.models.AtomicField(default=0)),
                    ('authorization_provider', models.CharField(max_length=8)),
                    ('expires_at', models.DateTimeField()),
                    ('revoked_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('credential', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='access.agentcredential')),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='MandateStep',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('from_status', models.CharField(max_length=9, null=True)),
                    ('to_status', models.CharField(max_length=9)),
                    ('at', models.DateTimeField()),
                    ('mandate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='agents.mandate')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='PaymentOffer',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('resource', models.CharField(max_length=2048)),
                    ('description', models.CharField(max_length=500, null=True)),
                    ('mime_type', models.CharField(max_length=100, null=True)),
                    ('timeout_seconds', models.PositiveIntegerField()),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('pay_to', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.address')),
                    ('payment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Settlement',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('submitted', 'Submitted'), ('confirmed', 'Confirmed'), ('failed', 'Failed')], default='pending', max_length=9)),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('nonce', models.CharField(max_length=255)),
                    ('pay_to', models.CharField(max_length=255, null=True)),
                    ('payer', models.CharField(max_length=255, null=True)),
                    ('requirements', models.JSONField(null=True)),
                    ('is_dispatched', models.BooleanField()),
                    ('tx_ref', models.CharField(max_length=66, null=True)),
                    ('failure_reason', models.CharField(max_length=200, null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('idempotency_key', models.CharField(max_length=255)),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('credential', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='access.agentcredential')),
                    ('mandate', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.mandate')),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='SettlementStep',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('from_status', models.CharField(max_length=9, null=True)),
                    ('to_status', models.CharField(max_length=9)),
                    ('at', models.DateTimeField()),
                    ('note', models.CharField(blank=True, max_length=200)),
                    ('settlement', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='agents.settlement')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='SignedPayment',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('contract_address', models.CharField(db_collation='C', max_length=42)),
                    ('payer', models.CharField(db_collation='C', max_length=42)),
                    ('nonce', models.CharField(db_collation='C', max_length=66)),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('valid_after', apps.core.models.AtomicField()),
                    ('valid_before', apps.core.models.AtomicField()),
                    ('signature', models.CharField(max_length=132)),
                    ('status', models.CharField(choices=[('verified', 'Verified'), ('submitted', 'Submitted'), ('unknown', 'Unknown'), ('settled', 'Settled'), ('failed', 'Failed')], default='verified', max_length=9)),
                    ('tx_hash', models.CharField(blank=True, default='', max_length=66)),
                    ('failure_reason', models.CharField(blank=True, default='', max_length=200)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('chain', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                    ('offer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.paymentoffer')),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='SignedPaymentStep',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('from_status', models.CharField(max_length=9, null=True)),
                    ('to_status', models.CharField(max_length=9)),
                    ('at', models.DateTimeField()),
                    ('note', models.CharField(blank=True, max_length=200)),
                    ('signed', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='agents.signedpayment')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='AgentPayoutCap',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('per_tx_atomic', apps.core.models.OptionalAtomicField(null=True)),
                    ('daily_atomic', apps.core.models.OptionalAtomicField(null=True)),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('credential', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='access.agentcredential')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('credential', 'asset'), name='agent_payout_cap_once'), models.CheckConstraint(condition=models.Q(('per_tx_atomic__isnull', False), ('daily_atomic__isnull', False), _connector='OR'), name='agent_payout_cap_caps')],
                },
            ),
            migrations.AddIndex(
                model_name='mandate',
                index=models.Index(fields=['credential', '-created_at'], name='agents_mand_credent_65a47d_idx'),
            ),
            migrations.AddIndex(
                model_name='mandate',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='agents_mand_store_i_974f37_idx'),
            ),
            migrations.AddIndex(
                model_name='mandate',
                index=models.Index(condition=models.Q(('status__in', ['active', 'exhausted'])), fields=['expires_at'], name='mandate_to_expire'),
            ),
            migrations.AddIndex(
                model_name='mandate',
                index=models.Index(fields=['-created_at', '-id'], name='mandate_newest_of_all'),
            ),
            migrations.AddConstraint(
                model_name='mandate',
                constraint=models.UniqueConstraint(fields=('credential', 'mandate_ref'), name='mandate_ref_once_per_credential'),
            ),
            migrations.AddConstraint(
                model_name='mandate',
                constraint=models.CheckConstraint(condition=models.Q(('total_cap_atomic__gt', 0)), name='mandate_cap_is_positive'),
            ),
            migrations.AddConstraint(
                model_name='mandate',
                constraint=models.CheckConstraint(condition=models.Q(('spent_atomic__gte', 0), ('spent_atomic__lte', models.F('total_cap_atomic'))), name='mandate_never_overspent'),
            ),
            migrations.AddConstraint(
                model_name='mandate',
                constraint=models.CheckConstraint(condition=models.Q(('per_call_cap_atomic__isnull', True), ('per_call_cap_atomic__gt', 0), _connector='OR'), name='mandate_call_cap_is_positive'),
            ),
            migrations.AddConstraint(
                model_name='paymentoffer',
                constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='offer_is_positive'),
            ),
            migrations.AddIndex(
                model_name='settlement',
                index=models.Index(fields=['credential', '-created_at'], name='agents_sett_credent_436579_idx'),
            ),
            migrations.AddIndex(
                model_name='settlement',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='agents_sett_store_i_d56056_idx'),
            ),
            migrations.AddIndex(
                model_name='settlement',
                index=models.Index(condition=models.Q(('is_dispatched', True), ('status__in', ['pending', 'submitted'])), fields=['created_at'], name='settlement_to_dispatch'),
            ),
            migrations.AddIndex(
                model_name='settlement',
                index=models.Index(fields=['-created_at', '-id'], name='settlement_newest_of_all'),
            ),
            migrations.AddConstraint(
                model_name='settlement',
                constraint=models.UniqueConstraint(fields=('credential', 'idempotency_key'), name='settlement_idempotency_key_once'),
            ),
            migrations.AddConstraint(
                model_name='settlement',
                constraint=models.UniqueConstraint(fields=('mandate', 'nonce'), name='settlement_nonce_once'),
            ),
            migrations.AddConstraint(
                model_name='settlement',
                constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gte', 0)), name='settlement_never_negative'),
            ),
            migrations.AddIndex(
                model_name='signedpayment',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='agents_sign_store_i_87e350_idx'),
            ),
            migrations.AddIndex(
                model_name='signedpayment',
                index=models.Index(condition=models.Q(('status__in', ['verified', 'submitted', 'unknown'])), fields=['updated_at'], name='signed_payment_open'),
            ),
            migrations.AddConstraint(
                model_name='signedpayment',
                constraint=models.UniqueConstraint(fields=('chain', 'contract_address', 'payer', 'nonce'), name='signed_payment_once'),
            ),
            migrations.AddConstraint(
                model_name='signedpayment',
                constraint=models.UniqueConstraint(condition=models.Q(('status', 'failed'), _negated=True), fields=('offer',), name='signed_payment_one_per_offer'),
            ),
        ]),
    ]
