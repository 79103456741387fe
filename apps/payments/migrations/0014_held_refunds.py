"""Refunds held until it is known that somebody can use them, and the guards of where they go: they
hold for whoever writes, processes of the previous release too.
"""

import apps.core.models
import django.db.models.deletion
import uuid
from django.db import migrations, models


REFUND_GUARD = '''
CREATE FUNCTION payments_guard_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        RAISE EXCEPTION 'a refund of a held share keeps its share, its coins and its address'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_of_held_is_kept';
    END IF;
    IF NEW.held_id IS NOT NULL THEN
        IF NOT EXISTS (SELECT 1 FROM public.payments_heldrefund h WHERE h.id = NEW.held_id
            AND h.status = 'sent' AND h.payment_id = NEW.payment_id AND h.asset_id = NEW.asset_id
            AND h.amount_atomic = NEW.amount_atomic
            AND h.destination_address = NEW.destination_address AND h.reason = NEW.reason) THEN
            RAISE EXCEPTION 'a held share goes where its row says, as it says'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_as_held';
        END IF;
    ELSIF NEW.reason LIKE 'failed%' AND NOT NEW.is_simulated AND (EXISTS (
            SELECT 1 FROM public.payments_heldrefund h WHERE h.payment_id = NEW.payment_id
            AND h.asset_id = NEW.asset_id AND h.payer_address = NEW.destination_address
            AND h.status IN ('checking', 'waiting'))
        OR EXISTS (SELECT 1 FROM public.chain_payer p
            JOIN public.assets_asset a ON a.chain_id = p.chain_id WHERE a.id = NEW.asset_id
            AND p.address = NEW.destination_address AND p.kind <> 'account')) THEN
        RAISE EXCEPTION 'nothing goes by itself to an address that has shown no key'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'refund_to_a_known_payer';
    END IF;
    RETURN NEW;
END $$
'''
HELD_GUARD = '''
CREATE FUNCTION payments_guard_held_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (OLD.payment_id, OLD.asset_id, OLD.payer_address, OLD.store_id, OLD.mode)
        IS DISTINCT FROM (NEW.payment_id, NEW.asset_id, NEW.payer_address, NEW.store_id, NEW.mode)
    OR EXISTS (SELECT 1 FROM public.payments_refund r WHERE r.held_id = OLD.id
        AND r.status <> 'failed') THEN
        RAISE EXCEPTION 'a share that has a refund is not changed, and none becomes another one'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'held_refund_is_kept';
    END IF;
    RETURN NEW;
END $$
'''
TRIGGERS = '''
CREATE TRIGGER refund_guarded BEFORE INSERT ON payments_refund FOR EACH ROW
    WHEN (NEW.held_id IS NOT NULL OR NEW.reason LIKE 'failed%')
    EXECUTE FUNCTION payments_guard_refund();
CREATE TRIGGER refund_of_held_kept BEFORE UPDATE ON payments_refund FOR EACH ROW
    WHEN ((OLD.held_id IS NOT NULL OR NEW.held_id IS NOT NULL)
        AND (OLD.held_id, OLD.destination_address, OLD.amount_atomic, OLD.asset_id, OLD.payment_id)
            IS DISTINCT FROM (NEW.held_id, NEW.destination_address, NEW.amount_atomic,
                NEW.asset_id, NEW.payment_id))
    EXECUTE FUNCTION payments_guard_refund();
CREATE TRIGGER held_refund_guarded BEFORE UPDATE ON payments_heldrefund FOR EACH ROW
    EXECUTE FUNCTION payments_guard_held_refund();
'''
NO_TRIGGERS = '''
DROP TRIGGER refund_guarded ON payments_refund;
DROP TRIGGER refund_of_held_kept ON payments_refund;
DROP TRIGGER held_refund_guarded ON payments_heldrefund;
DROP FUNCTION payments_guard_refund;
DROP FUNCTION payments_guard_held_refund;
'''


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0002_reviewed_assets'),
        ('chain', '0008_payer'),
        ('payments', '0013_late_marks_hold'),
        ('stores', '0004_merchants_counted'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='RefundAddress',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('address', models.CharField(db_collation='C', max_length=42)),
            ],
        ),
        migrations.CreateModel(
            name='RefundLink',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(max_length=4)),
                ('token_digest', models.CharField(db_collation='C', max_length=64, unique=True)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='transferreturn',
            name='is_elsewhere',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name='HeldRefund',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('payer_address', models.CharField(db_collation='C', max_length=42)),
                ('amount_atomic', apps.core.models.AtomicField()),
                ('reason', models.CharField(choices=[('merchant_requested', 'Requested by the merchant'), ('failed_underpaid', 'Failed, underpaid'), ('failed_overpaid', 'Failed, overpaid')], max_length=18)),
                ('status', models.CharField(choices=[('checking', 'The sender is being checked'), ('waiting', 'Waits for an address'), ('sent', 'A refund was created'), ('closed', 'Dealt with by the merchant')], default='checking', max_length=8)),
                ('why', models.CharField(blank=True, choices=[('contract', 'A smart contract sent it'), ('unproven', 'Nothing shows whose address sent it'), ('nobody', 'Its sender can’t be traced'), ('ours', 'It came from an address of this service'), ('refused', 'The address that paid doesn’t accept it')], default='', max_length=8)),
                ('destination_address', models.CharField(db_collation='C', max_length=42, null=True)),
                ('proof', models.CharField(blank=True, choices=[('payer', 'The sender has a key'), ('email', 'The link that was emailed to the customer'), ('signature', 'A message signed by the sender')], default='', max_length=9)),
                ('updated_at', models.DateTimeField()),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('payment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.AddField(
            model_name='refund',
            name='held',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.heldrefund'),
        ),
        migrations.AddField(
            model_name='refundaddress',
            name='payment',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment'),
        ),
        migrations.AddField(
            model_name='refundaddress',
            name='store',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
        ),
        migrations.AddField(
            model_name='refundlink',
            name='payment',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment'),
        ),
        migrations.AddField(
            model_name='refundlink',
            name='store',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
        ),
        migrations.AddIndex(
            model_name='heldrefund',
            index=models.Index(condition=models.Q(('status', 'checking')), fields=['mode', 'created_at'], name='held_refund_checking'),
        ),
        migrations.AddIndex(
            model_name='heldrefund',
            index=models.Index(condition=models.Q(('status', 'waiting')), fields=['store', 'mode', '-created_at'], name='held_refund_waiting'),
        ),
        migrations.AddConstraint(
            model_name='heldrefund',
            constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='held_refund_is_positive'),
        ),
        migrations.AddConstraint(
            model_name='heldrefund',
            constraint=models.UniqueConstraint(fields=('payment', 'asset', 'payer_address'), name='held_refund_once'),
        ),
        migrations.AddConstraint(
            model_name='heldrefund',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'sent'), _negated=True), models.Q(('destination_address__isnull', False), models.Q(('proof', ''), _negated=True)), _connector='OR'), name='held_refund_sent_somewhere'),
        ),
        migrations.AddConstraint(
            model_name='heldrefund',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'waiting'), _negated=True), models.Q(('why', ''), _negated=True), _connector='OR'), name='held_refund_waits_for_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='refundaddress',
            constraint=models.UniqueConstraint(fields=('payment', 'address'), name='refund_address_once'),
        ),
        migrations.AddConstraint(
            model_name='refundlink',
            constraint=models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at'))), name='refund_link_expires'),
        ),
        migrations.RunSQL(REFUND_GUARD, migrations.RunSQL.noop),
        migrations.RunSQL(HELD_GUARD, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
    ]
