"""Rates of tax and what invoices charge by them, settings of a store's taxes, and questions to registries of VAT numbers."""

import uuid

import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


FORWARD = """
CREATE OR REPLACE FUNCTION billing_check_invoice()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    last_number integer;
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
        NEW.tax_rate_id, NEW.tax_case, NEW.issued_on, NEW.supplied_from, NEW.supplied_until)
       IS DISTINCT FROM
       (OLD.store_id, OLD.mode, OLD.customer_id, OLD.subscription_id, OLD.period_key, OLD.currency, OLD.number, OLD.custom_number,
        OLD.public_token, OLD.finalized_at, OLD.subtotal_cents, OLD.discount_cents, OLD.tax_cents, OLD.total_cents,
        OLD.tax_rate_id, OLD.tax_case, OLD.issued_on, OLD.supplied_from, OLD.supplied_until) THEN
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
    END IF;
    RETURN NEW;
END $function$;
"""
TRIGGER = """
CREATE TRIGGER invoice_tax_checked BEFORE INSERT OR DELETE OR UPDATE ON billing_invoicetax
    FOR EACH ROW EXECUTE FUNCTION billing_check_line();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('billing', '0010_test_data_put_away'),
        ('stores', '0021_seller'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='TaxSettings',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('is_automatic', models.BooleanField(default=False)),
                ('is_small_business', models.BooleanField(default=False)),
                ('charges_abroad', models.BooleanField(default=False)),
                ('supply_type', models.CharField(choices=[('goods', 'Goods'), ('service', 'Service'), ('digital', 'Digital')], default='service', max_length=7)),
                ('updated_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='VatCheck',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('number', models.CharField(max_length=20)),
                ('requester_number', models.CharField(blank=True, default='', max_length=20)),
                ('result', models.CharField(choices=[('valid', 'Valid'), ('invalid', 'Invalid'), ('unavailable', 'No answer')], max_length=11)),
                ('name', models.CharField(blank=True, default='', max_length=300)),
                ('address', models.CharField(blank=True, default='', max_length=500)),
                ('consultation_number', models.CharField(blank=True, default='', max_length=50)),
                ('answer', models.JSONField(default=dict)),
                ('error', models.CharField(blank=True, default='', max_length=100)),
            ],
        ),
        migrations.AddField(
            model_name='customer',
            name='country',
            field=models.CharField(max_length=2, null=True),
        ),
        migrations.AddField(
            model_name='customer',
            name='vat_number',
            field=models.CharField(max_length=20, null=True),
        ),
        migrations.AddField(
            model_name='invoice',
            name='issued_on',
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name='invoice',
            name='supplied_from',
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name='invoice',
            name='supplied_until',
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name='invoice',
            name='tax_case',
            field=models.CharField(max_length=20, null=True),
        ),
        migrations.AddField(
            model_name='invoiceline',
            name='tax_category',
            field=models.CharField(choices=[('S', 'Taxed'), ('Z', 'Zero-rated'), ('E', 'Exempt'), ('AE', 'Reverse charge'), ('K', 'Goods to another EU country'), ('G', 'Export'), ('O', 'Not subject to VAT'), ('L', 'Canary Islands (IGIC)'), ('M', 'Ceuta and Melilla (IPSI)')], max_length=2, null=True),
        ),
        migrations.AddField(
            model_name='invoiceline',
            name='tax_included_cents',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='invoiceline',
            name='tax_rate_bps',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='product',
            name='supply_type',
            field=models.CharField(choices=[('goods', 'Goods'), ('service', 'Service'), ('digital', 'Digital')], max_length=7, null=True),
        ),
        migrations.AddField(
            model_name='subscription',
            name='discount_type',
            field=models.CharField(choices=[('amount', 'Amount'), ('percent', 'Percent')], max_length=7, null=True),
        ),
        migrations.AddField(
            model_name='subscription',
            name='discount_value',
            field=models.BigIntegerField(null=True),
        ),
        migrations.CreateModel(
            name='InvoiceTax',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('position', models.PositiveSmallIntegerField()),
                ('category', models.CharField(choices=[('S', 'Taxed'), ('Z', 'Zero-rated'), ('E', 'Exempt'), ('AE', 'Reverse charge'), ('K', 'Goods to another EU country'), ('G', 'Export'), ('O', 'Not subject to VAT'), ('L', 'Canary Islands (IGIC)'), ('M', 'Ceuta and Melilla (IPSI)')], max_length=2)),
                ('rate_bps', models.PositiveIntegerField()),
                ('name', models.CharField(blank=True, default='', max_length=100)),
                ('inclusive', models.BooleanField(default=False)),
                ('discount_cents', models.BigIntegerField()),
                ('base_cents', models.BigIntegerField()),
                ('tax_cents', models.BigIntegerField()),
                ('reason', models.CharField(blank=True, default='', max_length=300)),
                ('reason_code', models.CharField(blank=True, default='', max_length=30)),
                ('invoice', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='taxes', to='billing.invoice')),
            ],
            options={
                'ordering': ['position'],
            },
        ),
        migrations.CreateModel(
            name='TaxRate',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('form_key', models.CharField(editable=False, max_length=32, null=True)),
                ('name', models.CharField(max_length=100)),
                ('category', models.CharField(choices=[('S', 'Taxed'), ('Z', 'Zero-rated'), ('E', 'Exempt'), ('AE', 'Reverse charge'), ('K', 'Goods to another EU country'), ('G', 'Export'), ('O', 'Not subject to VAT'), ('L', 'Canary Islands (IGIC)'), ('M', 'Ceuta and Melilla (IPSI)')], max_length=2)),
                ('rate_bps', models.PositiveIntegerField()),
                ('inclusive', models.BooleanField(default=False)),
                ('reason', models.CharField(blank=True, default='', max_length=300)),
                ('reason_code', models.CharField(blank=True, default='', max_length=30)),
                ('active', models.BooleanField(default=True)),
                ('updated_at', models.DateTimeField()),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.AddField(
            model_name='customer',
            name='tax_rate',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.taxrate'),
        ),
        migrations.AddField(
            model_name='invoice',
            name='tax_rate',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.taxrate'),
        ),
        migrations.AddField(
            model_name='invoiceline',
            name='tax_rate',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.taxrate'),
        ),
        migrations.AddField(
            model_name='price',
            name='tax_rate',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.taxrate'),
        ),
        migrations.AddField(
            model_name='product',
            name='tax_rate',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.taxrate'),
        ),
        migrations.AddField(
            model_name='subscription',
            name='tax_rate',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.taxrate'),
        ),
        AddConstraintNotValid(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('tax_rate_bps__isnull', True), ('tax_rate__isnull', True), _connector='OR'), name='invoice_one_rate'),
        ),
        AddConstraintNotValid(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('supplied_from__isnull', True), ('supplied_until__isnull', True)), models.Q(('supplied_from__isnull', False), ('supplied_until__gte', models.F('supplied_from')), ('supplied_until__isnull', False)), _connector='OR'), name='invoice_supplied_forward'),
        ),
        AddConstraintNotValid(
            model_name='invoiceline',
            constraint=models.CheckConstraint(condition=models.Q(('tax_included_cents__gte', 0), ('tax_included_cents__lte', models.F('amount_cents'))), name='invoice_line_includes_a_part'),
        ),
        AddConstraintNotValid(
            model_name='invoiceline',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('tax_category__isnull', True), ('tax_rate_bps__isnull', True)), models.Q(('tax_category__isnull', False), ('tax_rate_bps__isnull', False), models.Q(models.Q(('tax_category__in', ('Z', 'E', 'AE', 'K', 'G', 'O')), ('tax_rate_bps', 0)), models.Q(('tax_category', 'S'), ('tax_rate_bps__gt', 0), ('tax_rate_bps__lte', 10000)), models.Q(('tax_category__in', ('L', 'M')), ('tax_rate_bps__lte', 10000)), _connector='OR')), _connector='OR'), name='invoice_line_rate_goes_with_category'),
        ),
        migrations.AddField(
            model_name='taxsettings',
            name='store',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
        ),
        migrations.AddField(
            model_name='taxsettings',
            name='tax_rate',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.taxrate'),
        ),
        migrations.AddField(
            model_name='vatcheck',
            name='customer',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.customer'),
        ),
        migrations.AddField(
            model_name='vatcheck',
            name='store',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
        ),
        migrations.AddConstraint(
            model_name='invoicetax',
            constraint=models.UniqueConstraint(fields=('invoice', 'category', 'rate_bps'), name='invoice_tax_once'),
        ),
        migrations.AddConstraint(
            model_name='invoicetax',
            constraint=models.UniqueConstraint(fields=('invoice', 'position'), name='invoice_tax_position_once'),
        ),
        migrations.AddConstraint(
            model_name='invoicetax',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('category__in', ('Z', 'E', 'AE', 'K', 'G', 'O')), ('rate_bps', 0)), models.Q(('category', 'S'), ('rate_bps__gt', 0), ('rate_bps__lte', 10000)), models.Q(('category__in', ('L', 'M')), ('rate_bps__lte', 10000)), _connector='OR'), name='invoice_tax_rate_goes_with_category'),
        ),
        migrations.AddConstraint(
            model_name='invoicetax',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('category__in', ('E', 'AE', 'K', 'G', 'O')), models.Q(('reason', ''), ('reason_code', ''), _negated=True)), models.Q(models.Q(('category__in', ('E', 'AE', 'K', 'G', 'O')), _negated=True), ('reason', ''), ('reason_code', '')), _connector='OR'), name='invoice_tax_reason'),
        ),
        migrations.AddConstraint(
            model_name='invoicetax',
            constraint=models.CheckConstraint(condition=models.Q(('base_cents__gte', 0), ('discount_cents__gte', 0), ('tax_cents__gte', 0)), name='invoice_tax_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='invoicetax',
            constraint=models.CheckConstraint(condition=models.Q(('rate_bps__gt', 0), ('tax_cents', 0), _connector='OR'), name='invoice_tax_of_nothing'),
        ),
        migrations.AddIndex(
            model_name='taxrate',
            index=models.Index(fields=['store', 'mode', '-created_at'], name='tax_rate_newest'),
        ),
        migrations.AddConstraint(
            model_name='taxrate',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('category__in', ('Z', 'E', 'AE', 'K', 'G', 'O')), ('rate_bps', 0)), models.Q(('category', 'S'), ('rate_bps__gt', 0), ('rate_bps__lte', 10000)), models.Q(('category__in', ('L', 'M')), ('rate_bps__lte', 10000)), _connector='OR'), name='tax_rate_goes_with_category'),
        ),
        migrations.AddConstraint(
            model_name='taxrate',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('category__in', ('E', 'AE', 'K', 'G', 'O')), models.Q(('reason', ''), ('reason_code', ''), _negated=True)), models.Q(models.Q(('category__in', ('E', 'AE', 'K', 'G', 'O')), _negated=True), ('reason', ''), ('reason_code', '')), _connector='OR'), name='tax_rate_reason'),
        ),
        migrations.AddConstraint(
            model_name='taxrate',
            constraint=models.CheckConstraint(condition=models.Q(('inclusive', False), ('rate_bps__gt', 0), _connector='OR'), name='tax_rate_includes_something'),
        ),
        migrations.AddConstraint(
            model_name='taxrate',
            constraint=models.UniqueConstraint(condition=models.Q(('form_key__isnull', False)), fields=('store', 'mode', 'form_key'), name='tax_rate_once_per_form'),
        ),
        migrations.AddConstraint(
            model_name='taxsettings',
            constraint=models.UniqueConstraint(fields=('store', 'mode'), name='tax_settings_once'),
        ),
        migrations.AddIndex(
            model_name='vatcheck',
            index=models.Index(fields=['customer', '-created_at', '-id'], name='vat_check_newest'),
        ),
        migrations.RunSQL(FORWARD, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGER, migrations.RunSQL.noop),
    ]
