"""Credit notes, in a series of their own."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


CHECK = """
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
    RETURN NEW;
END $function$;

CREATE TRIGGER credit_note_checked AFTER INSERT OR DELETE OR UPDATE ON billing_creditnote FOR EACH ROW EXECUTE FUNCTION billing_check_credit_note();
"""
CHECK_LINE = """
-- Refuses to change or delete a line of a credit note.
CREATE OR REPLACE FUNCTION billing_check_credit_note_line()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    RAISE EXCEPTION 'the lines of a credit note are final' USING ERRCODE = '23001';
END $function$;

CREATE TRIGGER credit_note_line_checked BEFORE DELETE OR UPDATE ON billing_creditnoteline FOR EACH ROW EXECUTE FUNCTION billing_check_credit_note_line();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('billing', '0014_e_invoices'),
        ('stores', '0022_support_phone'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='invoicecounter',
            name='last_credit_note',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
            name='CreditNote',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('form_key', models.CharField(editable=False, max_length=32, null=True)),
                ('number', models.PositiveIntegerField()),
                ('reason', models.CharField(choices=[('void', 'The invoice was voided'), ('refund', 'Money was refunded'), ('other', 'Another reason')], max_length=6)),
                ('memo', models.TextField(blank=True, default='')),
                ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                ('net_cents', models.BigIntegerField()),
                ('tax_cents', models.BigIntegerField()),
                ('total_cents', models.BigIntegerField()),
                ('issued_on', models.DateField()),
                ('invoice', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='credit_notes', to='billing.invoice')),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.CreateModel(
            name='CreditNoteLine',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('position', models.PositiveSmallIntegerField()),
                ('category', models.CharField(blank=True, choices=[('S', 'Taxed'), ('Z', 'Zero-rated'), ('E', 'Exempt'), ('AE', 'Reverse charge'), ('K', 'Goods to another EU country'), ('G', 'Export'), ('O', 'Not subject to VAT'), ('L', 'Canary Islands (IGIC)'), ('M', 'Ceuta and Melilla (IPSI)')], default='', max_length=2)),
                ('rate_bps', models.PositiveIntegerField(default=0)),
                ('reason', models.CharField(blank=True, default='', max_length=300)),
                ('reason_code', models.CharField(blank=True, default='', max_length=30)),
                ('net_cents', models.BigIntegerField()),
                ('tax_cents', models.BigIntegerField()),
                ('credit_note', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='lines', to='billing.creditnote')),
            ],
            options={
                'ordering': ['position'],
            },
        ),
        migrations.AddIndex(
            model_name='creditnote',
            index=models.Index(fields=['store', 'mode', '-created_at'], name='credit_note_newest'),
        ),
        migrations.AddConstraint(
            model_name='creditnote',
            constraint=models.UniqueConstraint(fields=('store', 'mode', 'number'), name='credit_note_number_once'),
        ),
        migrations.AddConstraint(
            model_name='creditnote',
            constraint=models.CheckConstraint(condition=models.Q(('net_cents__gte', 0), ('tax_cents__gte', 0), ('total_cents', django.db.models.expressions.CombinedExpression(models.F('net_cents'), '+', models.F('tax_cents'))), ('total_cents__gt', 0)), name='credit_note_adds_up'),
        ),
        migrations.AddConstraint(
            model_name='creditnote',
            constraint=models.UniqueConstraint(condition=models.Q(('form_key__isnull', False)), fields=('store', 'mode', 'form_key'), name='credit_note_once_per_form'),
        ),
        migrations.AddConstraint(
            model_name='creditnoteline',
            constraint=models.UniqueConstraint(fields=('credit_note', 'position'), name='credit_note_line_position_once'),
        ),
        migrations.AddConstraint(
            model_name='creditnoteline',
            constraint=models.CheckConstraint(condition=models.Q(('net_cents__gte', 0), ('tax_cents__gte', 0)), name='credit_note_line_not_negative'),
        ),
        migrations.RunSQL(CHECK, migrations.RunSQL.noop),
        migrations.RunSQL(CHECK_LINE, migrations.RunSQL.noop),
    ]
