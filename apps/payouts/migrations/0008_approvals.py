"""Payouts that wait for a second person, and what keeps them waiting: nobody approves their own, nor twice, nor goes on without."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

SQL = """
CREATE FUNCTION payouts_check_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    above bigint;
    held payouts_payoutapproval;
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.approval_id, NEW.store_id, NEW.mode, NEW.asset_id, NEW.amount_atomic, NEW.destination_id,
                             NEW.destination_address, NEW.schedule_id)
       IS DISTINCT FROM (OLD.approval_id, OLD.store_id, OLD.mode, OLD.asset_id, OLD.amount_atomic, OLD.destination_id,
                         OLD.destination_address, OLD.schedule_id) THEN
        RAISE EXCEPTION 'payout % is approved as it was asked for, or not at all', NEW.id USING ERRCODE = '23001';
    END IF;
    IF NEW.approval_id IS NULL THEN
        SELECT CASE WHEN next_from <= NEW.created_at THEN next_above_cents ELSE above_cents END INTO above
        FROM payouts_approvalrule WHERE store_id = NEW.store_id AND mode = NEW.mode;
        IF above IS NOT NULL AND (NEW.worth_cents IS NULL OR NEW.worth_cents > above) THEN
            RAISE EXCEPTION 'payout % needs a second person', NEW.id USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    SELECT * INTO held FROM payouts_payoutapproval WHERE id = NEW.approval_id;
    IF (held.store_id, held.mode) IS DISTINCT FROM (NEW.store_id, NEW.mode) THEN
        RAISE EXCEPTION 'the approval of payout % is another store''s', NEW.id USING ERRCODE = '23514';
    END IF;
    IF held.status <> 'approved' AND NEW.status NOT IN ('requires_review', 'failed') THEN
        RAISE EXCEPTION 'payout % waits for a second person', NEW.id USING ERRCODE = '23514';
    END IF;
    -- An approval is for one payout; besides for the lines of its list, and for what its schedule pays to the same destination.
    IF TG_OP = 'INSERT'
       AND NOT (held.status = 'waiting' AND NOT EXISTS (SELECT 1 FROM payouts_payout WHERE approval_id = held.id)
                AND NOT EXISTS (SELECT 1 FROM payouts_payoutbatch WHERE approval_id = held.id))
       AND NOT EXISTS (SELECT 1 FROM payouts_payoutbatch b WHERE b.approval_id = held.id AND NEW.idempotency_caller = 'batch'
                       AND left(NEW.idempotency_key, 37) = b.id || '-')
       AND NOT EXISTS (SELECT 1 FROM payouts_payout p WHERE p.approval_id = held.id AND p.schedule_id = NEW.schedule_id
                       AND (p.asset_id, p.destination_id, p.destination_address)
                           IS NOT DISTINCT FROM (NEW.asset_id, NEW.destination_id, NEW.destination_address)) THEN
        RAISE EXCEPTION 'the approval of payout % is another''s', NEW.id USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payout_made_within_approval BEFORE INSERT ON payouts_payout FOR EACH ROW EXECUTE FUNCTION payouts_check_approval();
CREATE TRIGGER payout_moved_within_approval BEFORE UPDATE ON payouts_payout FOR EACH ROW
WHEN (NEW.approval_id IS NOT NULL OR OLD.approval_id IS NOT NULL) EXECUTE FUNCTION payouts_check_approval();

CREATE FUNCTION payouts_check_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'an approval is never deleted' USING ERRCODE = '23001';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.status <> 'waiting' THEN
            RAISE EXCEPTION 'an approval is asked for before it is given' USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.status <> 'waiting' OR (NEW.id, NEW.store_id, NEW.mode, NEW.created_at, NEW.maker_id, NEW.currency, NEW.worth_cents,
                                   NEW.above_cents, NEW.expires_at)
       IS DISTINCT FROM (OLD.id, OLD.store_id, OLD.mode, OLD.created_at, OLD.maker_id, OLD.currency, OLD.worth_cents,
                         OLD.above_cents, OLD.expires_at) THEN
        RAISE EXCEPTION 'an approval is decided once' USING ERRCODE = '23001';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payout_approval_decided_once BEFORE INSERT OR UPDATE OR DELETE ON payouts_payoutapproval FOR EACH ROW
EXECUTE FUNCTION payouts_check_decision();
"""
UNDO = """
DROP TRIGGER payout_made_within_approval ON payouts_payout;
DROP TRIGGER payout_moved_within_approval ON payouts_payout;
DROP TRIGGER payout_approval_decided_once ON payouts_payoutapproval;
DROP FUNCTION payouts_check_approval();
DROP FUNCTION payouts_check_decision();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0002_rates_are_compared'),
        ('payouts', '0007_cooling'),
        ('stores', '0013_accountants'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='payout',
            name='maker',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='payout',
            name='worth_cents',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='schedule',
            name='maker',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name='ApprovalRule',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                ('above_cents', models.BigIntegerField(null=True)),
                ('next_above_cents', models.BigIntegerField(null=True)),
                ('next_from', models.DateTimeField(null=True)),
                ('changed_at', models.DateTimeField()),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.CreateModel(
            name='PayoutApproval',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('approved', 'Approved'), ('rejected', 'Rejected'), ('expired', 'Expired')], default='waiting', max_length=8)),
                ('made_by', models.CharField(max_length=300)),
                ('currency', models.CharField(max_length=3)),
                ('worth_cents', models.BigIntegerField(null=True)),
                ('above_cents', models.BigIntegerField()),
                ('expires_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField(null=True)),
                ('reason', models.CharField(blank=True, max_length=200)),
                ('decided_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('maker', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.AddField(
            model_name='payout',
            name='approval',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payouts.payoutapproval'),
        ),
        migrations.AddField(
            model_name='payoutbatch',
            name='approval',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='batch', to='payouts.payoutapproval'),
        ),
        migrations.AddConstraint(
            model_name='approvalrule',
            constraint=models.UniqueConstraint(fields=('store', 'mode'), name='approval_rule_once'),
        ),
        migrations.AddConstraint(
            model_name='approvalrule',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('above_cents', None), ('above_cents__gte', 0), _connector='OR'), models.Q(('next_above_cents', None), models.Q(('next_above_cents__gte', 0), ('next_from__isnull', False)), _connector='OR')), name='approval_rule_makes_sense'),
        ),
        migrations.AddIndex(
            model_name='payoutapproval',
            index=models.Index(fields=['store', 'mode', '-created_at'], name='payout_approval_of_store'),
        ),
        migrations.AddIndex(
            model_name='payoutapproval',
            index=models.Index(condition=models.Q(('status', 'waiting')), fields=['expires_at'], name='payout_approval_waiting'),
        ),
        migrations.AddConstraint(
            model_name='payoutapproval',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('decided_at', None), ('status', 'waiting')), models.Q(models.Q(('status', 'waiting'), _negated=True), ('decided_at__isnull', False)), _connector='OR'), name='payout_approval_decided_or_not'),
        ),
        migrations.AddConstraint(
            model_name='payoutapproval',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'approved'), _negated=True), models.Q(('decided_by__isnull', False), models.Q(('maker', None), models.Q(('decided_by', models.F('maker')), _negated=True), _connector='OR')), _connector='OR'), name='payout_approval_by_another'),
        ),
        migrations.RunSQL(SQL, UNDO),
    ]
