"""Credit of customers, credit notes of refunds, and series of numbers with prefixes of their own."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


CHECK_INVOICE = """
-- Refuses to change the figures of a finalized invoice, to delete it, to reopen a closed one, and a
-- number that leaves a gap.
CREATE OR REPLACE FUNCTION billing_check_invoice()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    last_number integer;
    printed text;
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.status <> 'draft' THEN
            RAISE EXCEPTION 'only a draft invoice is deleted' USING ERRCODE = '23001';
        END IF;
        RETURN OLD;
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.status <> 'draft' THEN
            RAISE EXCEPTION 'an invoice begins as a draft' USING ERRCODE = '23514';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.store_id <> OLD.store_id AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF OLD.status <> 'draft' AND
       (NEW.store_id, NEW.mode, NEW.customer_id, NEW.subscription_id, NEW.period_key, NEW.currency, NEW.number, NEW.custom_number,
        NEW.public_token, NEW.finalized_at, NEW.subtotal_cents, NEW.discount_cents, NEW.tax_cents, NEW.total_cents,
        NEW.tax_rate_id, NEW.tax_case, NEW.issued_on, NEW.supplied_from, NEW.supplied_until, NEW.seller, NEW.buyer,
        NEW.credit_applied_cents, NEW.series, NEW.series_number)
       IS DISTINCT FROM
       (OLD.store_id, OLD.mode, OLD.customer_id, OLD.subscription_id, OLD.period_key, OLD.currency, OLD.number, OLD.custom_number,
        OLD.public_token, OLD.finalized_at, OLD.subtotal_cents, OLD.discount_cents, OLD.tax_cents, OLD.total_cents,
        OLD.tax_rate_id, OLD.tax_case, OLD.issued_on, OLD.supplied_from, OLD.supplied_until, OLD.seller, OLD.buyer,
        OLD.credit_applied_cents, OLD.series, OLD.series_number) THEN
        RAISE EXCEPTION 'a finalized invoice is locked' USING ERRCODE = '23001';
    END IF;
    IF OLD.status IN ('paid', 'void', 'uncollectible') AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'nothing leaves %', OLD.status USING ERRCODE = '23514';
    END IF;
    IF NEW.status = 'draft' AND OLD.status <> 'draft' THEN
        RAISE EXCEPTION 'a finalized invoice is no draft again' USING ERRCODE = '23514';
    END IF;
    IF OLD.number IS NULL AND NEW.number IS NOT NULL THEN
        SELECT max(number) INTO last_number FROM billing_invoice WHERE store_id = NEW.store_id AND mode = NEW.mode;
        IF NEW.number <> coalesce(last_number, 0) + 1 THEN
            RAISE EXCEPTION 'invoice number % would leave a gap', NEW.number USING ERRCODE = '23514';
        END IF;
        IF NEW.series IS NULL AND NEW.custom_number IS NULL AND EXISTS (SELECT 1 FROM billing_invoice
           WHERE store_id = NEW.store_id AND mode = NEW.mode AND series = 'INV-' AND series_number = NEW.number) THEN
            RAISE EXCEPTION 'invoice number INV-% is taken', NEW.number USING ERRCODE = '23505';
        END IF;
        IF NEW.series IS NOT NULL THEN
            SELECT max(series_number) INTO last_number FROM billing_invoice
            WHERE store_id = NEW.store_id AND mode = NEW.mode AND series = NEW.series;
            IF last_number IS NULL AND NEW.series = 'INV-' THEN
                SELECT max(number) INTO last_number FROM billing_invoice
                WHERE store_id = NEW.store_id AND mode = NEW.mode AND series IS NULL AND custom_number IS NULL;
            END IF;
            IF NEW.series_number IS DISTINCT FROM coalesce(last_number, 0) + 1 THEN
                RAISE EXCEPTION 'invoice number % of % would leave a gap', NEW.series_number, NEW.series USING ERRCODE = '23514';
            END IF;
            printed := NEW.series || lpad(NEW.series_number::text, greatest(4, length(NEW.series_number::text)), '0');
            IF EXISTS (SELECT 1 FROM billing_invoice
               WHERE store_id = NEW.store_id AND mode = NEW.mode AND custom_number = printed) THEN
                RAISE EXCEPTION 'invoice number % is taken', printed USING ERRCODE = '23505';
            END IF;
        END IF;
    END IF;
    RETURN NEW;
END $function$;
"""
CHECK_CREDIT_NOTE = """
-- Refuses to change or delete a credit note, a number that leaves a gap, and more than the invoice
-- has billed. It runs after the row, so that the row's policy is asked first.
CREATE OR REPLACE FUNCTION billing_check_credit_note()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    billed record;
    credited bigint;
    last_number integer;
BEGIN
    IF TG_OP = 'UPDATE' AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        RAISE EXCEPTION 'a credit note is final' USING ERRCODE = '23001';
    END IF;
    SELECT i.store_id, i.mode, i.currency, i.total_cents, i.number INTO billed
    FROM billing_invoice i WHERE i.id = NEW.invoice_id FOR UPDATE;
    IF billed.number IS NULL OR (billed.store_id, billed.mode, billed.currency) IS DISTINCT FROM
       (NEW.store_id, NEW.mode::varchar, NEW.currency) THEN
        RAISE EXCEPTION 'a credit note is of a finalized invoice of its store' USING ERRCODE = '23514';
    END IF;
    SELECT coalesce(sum(total_cents), 0) INTO credited
    FROM billing_creditnote WHERE invoice_id = NEW.invoice_id;
    IF credited > billed.total_cents THEN
        RAISE EXCEPTION 'more than was billed' USING ERRCODE = '23514';
    END IF;
    SELECT max(number) INTO last_number FROM billing_creditnote
    WHERE store_id = NEW.store_id AND mode = NEW.mode AND id <> NEW.id;
    IF NEW.number <> coalesce(last_number, 0) + 1 THEN
        RAISE EXCEPTION 'credit note number % would leave a gap', NEW.number USING ERRCODE = '23514';
    END IF;
    IF NEW.series IS NULL AND EXISTS (SELECT 1 FROM billing_creditnote
       WHERE store_id = NEW.store_id AND mode = NEW.mode AND series = 'CN-' AND series_number = NEW.number) THEN
        RAISE EXCEPTION 'credit note number CN-% is taken', NEW.number USING ERRCODE = '23505';
    END IF;
    IF NEW.series IS NOT NULL THEN
        SELECT max(series_number) INTO last_number FROM billing_creditnote
        WHERE store_id = NEW.store_id AND mode = NEW.mode AND series = NEW.series AND id <> NEW.id;
        IF last_number IS NULL AND NEW.series = 'CN-' THEN
            SELECT max(number) INTO last_number FROM billing_creditnote
            WHERE store_id = NEW.store_id AND mode = NEW.mode AND series IS NULL;
        END IF;
        IF NEW.series_number IS DISTINCT FROM coalesce(last_number, 0) + 1 THEN
            RAISE EXCEPTION 'credit note number % of % would leave a gap', NEW.series_number, NEW.series USING ERRCODE = '23514';
        END IF;
    END IF;
    IF NEW.refunded_cents IS NOT NULL AND NOT EXISTS (SELECT 1 FROM billing_invoice i
       WHERE i.id = NEW.invoice_id AND i.refunded_cents = NEW.refunded_cents AND i.refunded_cents > 0) THEN
        RAISE EXCEPTION 'a credit note of a refund is of what was refunded' USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END $function$;
"""
CHECK_LINE = """
-- Refuses to change or delete a line of a customer's credit, one of another customer's invoice or
-- currency, more than came for the invoice beyond what is owed, and a balance below zero.
CREATE OR REPLACE FUNCTION billing_check_credit_line()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    billed record;
    balance bigint;
    moved bigint;
    owed bigint;
BEGIN
    IF TG_OP = 'UPDATE' AND stores_is_put_away(OLD.store_id, NEW.store_id, NEW.mode)
       AND to_jsonb(NEW) - 'store_id' = to_jsonb(OLD) - 'store_id' THEN
        RETURN NEW;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        RAISE EXCEPTION 'a line of a customer''s credit is final' USING ERRCODE = '23001';
    END IF;
    PERFORM 1 FROM billing_customer WHERE id = NEW.customer_id FOR NO KEY UPDATE;
    SELECT i.* INTO billed FROM billing_invoice i WHERE i.id = NEW.invoice_id;
    IF billed.number IS NULL OR (billed.store_id, billed.mode, billed.currency, billed.customer_id) IS DISTINCT FROM
       (NEW.store_id, NEW.mode::varchar, NEW.currency, NEW.customer_id) THEN
        RAISE EXCEPTION 'credit is of a finalized invoice of its customer' USING ERRCODE = '23514';
    END IF;
    SELECT coalesce(sum(amount_cents), 0) INTO balance FROM billing_customercreditline
    WHERE customer_id = NEW.customer_id AND currency = NEW.currency;
    IF balance < 0 THEN
        RAISE EXCEPTION 'more than the customer''s credit' USING ERRCODE = '23514';
    END IF;
    IF NEW.kind = 'applied' AND NEW.amount_cents <> -billed.credit_applied_cents THEN
        RAISE EXCEPTION 'the invoice says that % was applied', billed.credit_applied_cents USING ERRCODE = '23514';
    END IF;
    SELECT coalesce(sum(amount_cents), 0) INTO moved FROM billing_customercreditline
    WHERE invoice_id = NEW.invoice_id AND kind <> 'applied';
    owed := (CASE billed.status WHEN 'void' THEN 0 ELSE billed.total_cents END);
    IF moved < 0 OR (NEW.kind = 'overpaid' AND moved > billed.amount_paid_cents - billed.refunded_cents - owed) THEN
        RAISE EXCEPTION 'more than came beyond what is owed' USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER credit_line_checked AFTER INSERT OR DELETE OR UPDATE ON billing_customercreditline FOR EACH ROW EXECUTE FUNCTION billing_check_credit_line();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('billing', '0016_parties_kept'),
        ('stores', '0022_support_phone'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='CustomerCreditLine',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                ('kind', models.CharField(choices=[('overpaid', 'Overpaid'), ('refunded', 'Refunded'), ('applied', 'Applied')], max_length=8)),
                ('amount_cents', models.BigIntegerField()),
                ('customer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.customer')),
                ('invoice', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='credit_lines', to='billing.invoice')),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'ordering': ['created_at', 'id'],
                'indexes': [models.Index(fields=['customer', 'currency', 'created_at'], name='credit_of_customer')],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('amount_cents__gt', 0), ('kind', 'overpaid')), models.Q(('amount_cents__lt', 0), ('kind__in', ['refunded', 'applied'])), _connector='OR'), name='credit_line_goes_its_way'),
                    models.UniqueConstraint(condition=models.Q(('kind', 'applied')), fields=('invoice',), name='credit_applied_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='DocumentSettings',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('invoice_prefix', models.CharField(blank=True, default='', max_length=20)),
                ('credit_note_prefix', models.CharField(blank=True, default='', max_length=20)),
                ('restarts_yearly', models.BooleanField(default=False)),
                ('credits_automatically', models.BooleanField(null=True)),
                ('updated_at', models.DateTimeField()),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('store', 'mode'), name='document_settings_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('credit_note_prefix', ''), ('invoice_prefix', ''), ('restarts_yearly', False)), models.Q(models.Q(('invoice_prefix', ''), _negated=True), models.Q(('credit_note_prefix', ''), _negated=True), models.Q(('invoice_prefix', models.F('credit_note_prefix')), _negated=True)), _connector='OR'), name='document_settings_prefixes'),
                ],
            },
        ),
        migrations.AddField('creditnote', 'refunded_cents', models.BigIntegerField(null=True)),
        migrations.AddField('creditnote', 'series', models.CharField(max_length=30, null=True)),
        migrations.AddField('creditnote', 'series_number', models.IntegerField(null=True)),
        migrations.AddField('invoice', 'credit_applied_cents', models.BigIntegerField(db_default=0, default=0)),
        migrations.AddField('invoice', 'series', models.CharField(max_length=30, null=True)),
        migrations.AddField('invoice', 'series_number', models.IntegerField(null=True)),
        migrations.RunSQL(CHECK_INVOICE, migrations.RunSQL.noop),
        migrations.RunSQL(CHECK_CREDIT_NOTE, migrations.RunSQL.noop),
        migrations.RunSQL(CHECK_LINE, migrations.RunSQL.noop),
    ]
