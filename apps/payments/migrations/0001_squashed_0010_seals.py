"""Everything until 0010_seals in one step; what Django does not draw up stands below, as PostgreSQL told it."""

import apps.core.models
import django.db.models.deletion
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models

SQL = [
    r"""CREATE FUNCTION payments_refuse_closed_store() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM FROM stores_store WHERE id = NEW.store_id AND deleted_at IS NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % is closed', NEW.store_id USING ERRCODE = 'check_violation', CONSTRAINT = 'payment_store_is_open';
    END IF;
    RETURN NEW;
END $$;""",
    r"""CREATE FUNCTION payments_refuse_seal_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the seals of payments are append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;""",
    r"""CREATE TRIGGER payment_store_is_open BEFORE INSERT ON payments_payment FOR EACH ROW WHEN ((new.platform_id IS NOT NULL)) EXECUTE FUNCTION payments_refuse_closed_store();""",
    r"""CREATE TRIGGER payment_seal_append_only BEFORE DELETE OR UPDATE ON payments_paymentseal FOR EACH ROW EXECUTE FUNCTION payments_refuse_seal_change();""",
    r"""CREATE TRIGGER payment_seal_no_truncate BEFORE TRUNCATE ON payments_paymentseal FOR EACH STATEMENT EXECUTE FUNCTION payments_refuse_seal_change();""",
]


class Migration(migrations.Migration):

    replaces = [
        ('payments', '0001_initial'),
        ('payments', '0002_initial'),
        ('payments', '0003_additions'),
        ('payments', '0004_optional_amounts'),
        ('payments', '0005_refunds'),
        ('payments', '0006_test_payments'),
        ('payments', '0007_card_funding'),
        ('payments', '0008_payments_of_platforms'),
        ('payments', '0009_open_stores'),
        ('payments', '0010_seals'),
    ]

    dependencies = [
        ('assets', '0001_squashed_0007_test_dollar'),
        ('chain', '0001_squashed_0009_reorgs'),
        ('stores', '0001_squashed_0009_audit_seals'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='PaymentSeal',
                fields=[
                    ('number', models.BigIntegerField(primary_key=True, serialize=False)),
                    ('sealed_at', models.DateTimeField()),
                    ('upto', models.BigIntegerField()),
                    ('count', models.PositiveIntegerField()),
                    ('audit_seal', models.CharField(blank=True, max_length=84)),
                    ('previous', models.CharField(max_length=64)),
                    ('seal', models.CharField(max_length=64)),
                ],
            ),
            migrations.CreateModel(
                name='Payment',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('reference', models.CharField(db_collation='C', max_length=16, unique=True)),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('processing', 'Processing'), ('completed', 'Completed'), ('expired', 'Expired'), ('failed', 'Failed'), ('refunded', 'Refunded')], default='pending', max_length=10)),
                    ('state_reason', models.CharField(max_length=30, null=True)),
                    ('settlement_amount_cents', models.BigIntegerField()),
                    ('settlement_currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                    ('settlement_status', models.CharField(max_length=10, null=True)),
                    ('auto_swap_status', models.CharField(max_length=10, null=True)),
                    ('refund_state', models.CharField(choices=[('none', 'None'), ('partial', 'Partial'), ('full', 'Full')], default='none', max_length=7)),
                    ('expires_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('completed_at', models.DateTimeField(null=True)),
                    ('customer_pays_fee', models.BooleanField()),
                    ('fee_fraction', models.DecimalField(decimal_places=8, max_digits=9)),
                    ('platform_fee_fraction', models.DecimalField(decimal_places=8, max_digits=9, null=True)),
                    ('agent_credential_id', models.UUIDField(null=True)),
                    ('success_url', models.CharField(max_length=2048, null=True)),
                    ('failed_url', models.CharField(max_length=2048, null=True)),
                    ('order_id', models.CharField(max_length=255, null=True)),
                    ('title', models.CharField(max_length=150, null=True)),
                    ('description', models.CharField(max_length=500, null=True)),
                    ('image_url', models.CharField(max_length=2048, null=True)),
                    ('metadata', models.JSONField(default=dict)),
                    ('line_items', models.JSONField(default=list)),
                    ('idempotency_caller', models.CharField(blank=True, default='', max_length=50)),
                    ('idempotency_key', models.CharField(max_length=255, null=True)),
                    ('reconciliation_status', models.CharField(max_length=20, null=True)),
                    ('reconciled_at', models.DateTimeField(null=True)),
                    ('reconciliation_due', models.BooleanField(default=False)),
                    ('held_open_until', models.DateTimeField(null=True)),
                    ('is_card_funded', models.BooleanField(default=False)),
                    ('card_shortfall_bps', models.PositiveSmallIntegerField(default=0)),
                    ('needs_attention', models.CharField(blank=True, default='', max_length=20)),
                    ('platform', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='LateDeposit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('created_at', models.DateTimeField()),
                    ('accepted_at', models.DateTimeField(null=True)),
                    ('deposit', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.deposit')),
                    ('payment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='late_deposits', to='payments.payment')),
                ],
            ),
            migrations.CreateModel(
                name='PaymentAddress',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('position', models.PositiveSmallIntegerField()),
                    ('required_atomic', apps.core.models.AtomicField()),
                    ('base_atomic', apps.core.models.OptionalAtomicField(null=True)),
                    ('fee_atomic', apps.core.models.OptionalAtomicField(null=True)),
                    ('exchange_rate', models.DecimalField(decimal_places=18, max_digits=38)),
                    ('rate_source', models.CharField(max_length=20)),
                    ('required_confirmations', models.PositiveIntegerField()),
                    ('created_at', models.DateTimeField()),
                    ('address', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.address')),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('payment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='addresses', to='payments.payment')),
                ],
                options={
                    'ordering': ['position'],
                },
            ),
            migrations.CreateModel(
                name='PaymentEvent',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('sequence', models.BigAutoField(primary_key=True, serialize=False)),
                    ('event_type', models.CharField(max_length=40)),
                    ('from_status', models.CharField(max_length=10, null=True)),
                    ('to_status', models.CharField(max_length=10, null=True)),
                    ('payload', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField()),
                    ('payment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='payments.payment')),
                ],
                options={
                    'ordering': ['sequence'],
                },
            ),
            migrations.CreateModel(
                name='Refund',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('submitted', 'Submitted'), ('confirmed', 'Confirmed'), ('failed', 'Failed')], default='pending', max_length=9)),
                    ('reason', models.CharField(choices=[('merchant_requested', 'Merchant Requested'), ('failed_underpaid', 'Failed Underpaid'), ('failed_overpaid', 'Failed Overpaid')], max_length=18)),
                    ('destination_address', models.CharField(db_collation='C', max_length=42)),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('is_from_held', models.BooleanField()),
                    ('is_simulated', models.BooleanField()),
                    ('tx_hash', models.CharField(max_length=66, null=True)),
                    ('attempts', models.PositiveIntegerField(default=0)),
                    ('failure_reason', models.CharField(max_length=200, null=True)),
                    ('submitted_at', models.DateTimeField(null=True)),
                    ('submitted_real_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('idempotency_caller', models.CharField(blank=True, default='', max_length=50)),
                    ('idempotency_key', models.CharField(max_length=255, null=True)),
                    ('part', models.PositiveSmallIntegerField(default=0)),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('payment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='TestPayment',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('amount_atomic', apps.core.models.AtomicField()),
                    ('payment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.AddIndex(
                model_name='payment',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='payments_pa_store_i_350a86_idx'),
            ),
            migrations.AddIndex(
                model_name='payment',
                index=models.Index(condition=models.Q(('order_id__isnull', False)), fields=['store', 'mode', 'order_id'], name='payment_order_id'),
            ),
            migrations.AddIndex(
                model_name='payment',
                index=models.Index(condition=models.Q(('platform__isnull', False)), fields=['platform', 'mode', '-created_at'], name='payment_of_platform'),
            ),
            migrations.AddIndex(
                model_name='payment',
                index=models.Index(condition=models.Q(('status__in', ['pending', 'processing'])), fields=['expires_at'], name='payment_open'),
            ),
            migrations.AddIndex(
                model_name='payment',
                index=models.Index(condition=models.Q(('reconciliation_due', True)), fields=['id'], name='payment_reconciliation_due'),
            ),
            migrations.AddConstraint(
                model_name='payment',
                constraint=models.CheckConstraint(condition=models.Q(('settlement_amount_cents__gt', 0)), name='payment_amount_is_positive'),
            ),
            migrations.AddConstraint(
                model_name='payment',
                constraint=models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'processing', 'completed', 'expired', 'failed', 'refunded'])), name='payment_status_is_known'),
            ),
            migrations.AddConstraint(
                model_name='payment',
                constraint=models.UniqueConstraint(condition=models.Q(('idempotency_key__isnull', False)), fields=('store', 'mode', 'idempotency_caller', 'idempotency_key'), name='payment_idempotency_key_once'),
            ),
            migrations.AddConstraint(
                model_name='paymentaddress',
                constraint=models.UniqueConstraint(fields=('payment', 'asset'), name='payment_address_once_per_asset'),
            ),
            migrations.AddIndex(
                model_name='refund',
                index=models.Index(fields=['payment', '-created_at'], name='payments_re_payment_b8f2d9_idx'),
            ),
            migrations.AddIndex(
                model_name='refund',
                index=models.Index(condition=models.Q(('status__in', ['pending', 'submitted'])), fields=['submitted_real_at'], name='refund_open'),
            ),
            migrations.AddConstraint(
                model_name='refund',
                constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='refund_is_positive'),
            ),
            migrations.AddConstraint(
                model_name='refund',
                constraint=models.UniqueConstraint(condition=models.Q(('idempotency_key__isnull', False)), fields=('store', 'mode', 'idempotency_caller', 'idempotency_key', 'asset', 'part'), name='refund_idempotency_key_once'),
            ),
            migrations.AddConstraint(
                model_name='refund',
                constraint=models.UniqueConstraint(condition=models.Q(('reason__startswith', 'failed_')), fields=('payment', 'asset', 'part', 'reason'), name='refund_automatic_once'),
            ),
            migrations.AddIndex(
                model_name='testpayment',
                index=models.Index(fields=['store', 'created_at'], name='payments_te_store_i_9973bb_idx'),
            ),
        ]),
        migrations.RunSQL(SQL),
    ]
