"""Everything until 0016_newest_of_a_name in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models

SQL = [
    r"""CREATE FUNCTION billing_check_invoice() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
    IF OLD.status <> 'draft' AND
       (NEW.store_id, NEW.mode, NEW.customer_id, NEW.subscription_id, NEW.period_key, NEW.currency, NEW.number, NEW.custom_number,
        NEW.public_token, NEW.finalized_at, NEW.subtotal_cents, NEW.discount_cents, NEW.tax_cents, NEW.total_cents)
       IS DISTINCT FROM
       (OLD.store_id, OLD.mode, OLD.customer_id, OLD.subscription_id, OLD.period_key, OLD.currency, OLD.number, OLD.custom_number,
        OLD.public_token, OLD.finalized_at, OLD.subtotal_cents, OLD.discount_cents, OLD.tax_cents, OLD.total_cents) THEN
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
END $$;""",
    r"""CREATE FUNCTION billing_check_line() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    owner uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.invoice_id ELSE NEW.invoice_id END;
BEGIN
    IF EXISTS (SELECT 1 FROM billing_invoice WHERE id = owner AND status <> 'draft') THEN
        RAISE EXCEPTION 'the lines of a finalized invoice are locked' USING ERRCODE = '23001';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;""",
    r"""CREATE TRIGGER invoice_checked BEFORE INSERT OR DELETE OR UPDATE ON billing_invoice FOR EACH ROW EXECUTE FUNCTION billing_check_invoice();""",
    r"""CREATE TRIGGER invoice_line_checked BEFORE INSERT OR DELETE OR UPDATE ON billing_invoiceline FOR EACH ROW EXECUTE FUNCTION billing_check_line();""",
]


class Migration(migrations.Migration):

    replaces = [
        ('billing', '0001_squashed_0005_form_keys'),
        ('billing', '0006_searched'),
        ('billing', '0007_needing_a_person'),
        ('billing', '0008_staff_lists'),
        ('billing', '0009_customer_language'),
        ('billing', '0010_invoice_settings'),
        ('billing', '0011_copied_invoice_settings'),
        ('billing', '0012_due_only'),
        ('billing', '0013_words_of_choices'),
        ('billing', '0014_by_status'),
        ('billing', '0015_one_index_a_beginning'),
        ('billing', '0016_newest_of_a_name'),
    ]

    replaced_earlier = [
        ('billing', '0001_initial'),
        ('billing', '0002_guards'),
        ('billing', '0003_owed'),
        ('billing', '0004_letters_and_late_money'),
        ('billing', '0005_form_keys'),
    ]

    dependencies = [
        ('payments', '0001_squashed_0045_sums_by_entries_alone'),
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='InvoiceSettings',
                fields=[
                    ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='stores.store')),
                    ('invoice_due_days', models.PositiveSmallIntegerField(default=7)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Customer',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('form_key', models.CharField(editable=False, max_length=32, null=True)),
                    ('email', models.EmailField(max_length=254)),
                    ('name', models.CharField(max_length=255, null=True)),
                    ('phone', models.CharField(max_length=50, null=True)),
                    ('address', models.JSONField(null=True)),
                    ('metadata', models.JSONField(default=dict)),
                    ('deleted_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('language', models.CharField(blank=True, db_default='', default='', max_length=10)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Invoice',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('form_key', models.CharField(editable=False, max_length=32, null=True)),
                    ('period_key', models.CharField(max_length=80, null=True, unique=True)),
                    ('status', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('paid', 'Paid'), ('void', 'Void'), ('uncollectible', 'Uncollectible')], default='draft', max_length=13)),
                    ('number', models.PositiveIntegerField(null=True)),
                    ('custom_number', models.CharField(max_length=100, null=True)),
                    ('public_token', models.CharField(max_length=64, null=True, unique=True)),
                    ('po_number', models.CharField(max_length=100, null=True)),
                    ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                    ('description', models.TextField(null=True)),
                    ('notes', models.TextField(null=True)),
                    ('footer', models.TextField(null=True)),
                    ('metadata', models.JSONField(default=dict)),
                    ('discount_type', models.CharField(choices=[('amount', 'Amount'), ('percent', 'Percent')], max_length=7, null=True)),
                    ('discount_value', models.BigIntegerField(null=True)),
                    ('tax_rate_bps', models.PositiveIntegerField(null=True)),
                    ('subtotal_cents', models.BigIntegerField(default=0)),
                    ('discount_cents', models.BigIntegerField(default=0)),
                    ('tax_cents', models.BigIntegerField(default=0)),
                    ('total_cents', models.BigIntegerField(default=0)),
                    ('amount_paid_cents', models.BigIntegerField(default=0)),
                    ('refunded_cents', models.BigIntegerField(default=0)),
                    ('needs_attention', models.CharField(max_length=30, null=True)),
                    ('due_at', models.DateTimeField(null=True)),
                    ('due_judged_at', models.DateTimeField(null=True)),
                    ('next_letter_at', models.DateTimeField(null=True)),
                    ('finalized_at', models.DateTimeField(null=True)),
                    ('paid_at', models.DateTimeField(null=True)),
                    ('voided_at', models.DateTimeField(null=True)),
                    ('uncollectible_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('customer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.customer')),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='InvoiceChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('change', models.CharField(max_length=40)),
                    ('from_status', models.CharField(max_length=13, null=True)),
                    ('to_status', models.CharField(max_length=13)),
                    ('created_at', models.DateTimeField()),
                    ('invoice', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='billing.invoice')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='InvoiceCounter',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('mode', models.CharField(max_length=4)),
                    ('last_number', models.PositiveIntegerField(default=0)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='InvoiceLine',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('description', models.CharField(max_length=500)),
                    ('quantity', models.PositiveIntegerField()),
                    ('unit_amount_cents', models.BigIntegerField()),
                    ('amount_cents', models.BigIntegerField()),
                    ('position', models.PositiveSmallIntegerField()),
                    ('invoice', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='billing.invoice')),
                ],
                options={
                    'ordering': ['position'],
                },
            ),
            migrations.CreateModel(
                name='InvoicePayment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('counted_cents', models.BigIntegerField(default=0)),
                    ('counted_at', models.DateTimeField(null=True)),
                    ('late_cents', models.BigIntegerField(default=0)),
                    ('late_seen_at', models.DateTimeField(null=True)),
                    ('refunded_cents', models.BigIntegerField(default=0)),
                    ('refund_seen_at', models.DateTimeField(null=True)),
                    ('created_at', models.DateTimeField()),
                    ('invoice', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='billing.invoice')),
                    ('payment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='Product',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('form_key', models.CharField(editable=False, max_length=32, null=True)),
                    ('name', models.CharField(max_length=255)),
                    ('description', models.TextField(null=True)),
                    ('active', models.BooleanField(default=True)),
                    ('metadata', models.JSONField(default=dict)),
                    ('updated_at', models.DateTimeField()),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Price',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('form_key', models.CharField(editable=False, max_length=32, null=True)),
                    ('unit_amount_cents', models.BigIntegerField()),
                    ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                    ('interval', models.CharField(choices=[('daily', 'Daily'), ('weekly', 'Weekly'), ('monthly', 'Monthly'), ('yearly', 'Yearly')], max_length=7)),
                    ('interval_count', models.PositiveSmallIntegerField(default=1)),
                    ('active', models.BooleanField(default=True)),
                    ('metadata', models.JSONField(default=dict)),
                    ('updated_at', models.DateTimeField()),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('product', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.product')),
                ],
            ),
            migrations.CreateModel(
                name='Subscription',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('form_key', models.CharField(editable=False, max_length=32, null=True)),
                    ('quantity', models.PositiveIntegerField(default=1)),
                    ('status', models.CharField(choices=[('trialing', 'Trialing'), ('active', 'Active'), ('past_due', 'Past due'), ('paused', 'Paused'), ('canceled', 'Canceled')], max_length=8)),
                    ('started_at', models.DateTimeField()),
                    ('anchor_day', models.PositiveSmallIntegerField()),
                    ('current_period_start', models.DateTimeField()),
                    ('current_period_end', models.DateTimeField()),
                    ('next_billing_at', models.DateTimeField(null=True)),
                    ('next_step_at', models.DateTimeField(null=True)),
                    ('trial_end', models.DateTimeField(null=True)),
                    ('cancel_at_period_end', models.BooleanField(default=False)),
                    ('cancel_at', models.DateTimeField(null=True)),
                    ('canceled_at', models.DateTimeField(null=True)),
                    ('paused_at', models.DateTimeField(null=True)),
                    ('failed_cycle_count', models.PositiveIntegerField(default=0)),
                    ('grace_cycles', models.PositiveIntegerField(default=1)),
                    ('metadata', models.JSONField(default=dict)),
                    ('updated_at', models.DateTimeField()),
                    ('customer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.customer')),
                    ('price', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.price')),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.AddField(
                model_name='invoice',
                name='subscription',
                field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.subscription'),
            ),
            migrations.CreateModel(
                name='SubscriptionChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('change', models.CharField(max_length=40)),
                    ('from_status', models.CharField(max_length=8, null=True)),
                    ('to_status', models.CharField(max_length=8)),
                    ('created_at', models.DateTimeField()),
                    ('subscription', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='billing.subscription')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='SubscriptionItem',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('quantity', models.PositiveIntegerField()),
                    ('position', models.PositiveSmallIntegerField()),
                    ('price', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.price')),
                    ('subscription', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='add_ons', to='billing.subscription')),
                ],
                options={
                    'ordering': ['position'],
                },
            ),
            migrations.AddIndex(
                model_name='customer',
                index=models.Index(condition=models.Q(('deleted_at', None)), fields=['store', 'mode', '-created_at'], name='customer_newest'),
            ),
            migrations.AddIndex(
                model_name='customer',
                index=models.Index(fields=['store', 'mode', 'email'], name='customer_by_email'),
            ),
            migrations.AddIndex(
                model_name='customer',
                index=models.Index(fields=['email'], name='customer_of_all'),
            ),
            migrations.AddIndex(
                model_name='customer',
                index=models.Index(condition=models.Q(('name__isnull', False)), fields=['store', 'mode', 'name', '-created_at'], name='customer_of_name'),
            ),
            migrations.AddConstraint(
                model_name='customer',
                constraint=models.UniqueConstraint(models.F('store'), models.F('mode'), django.db.models.functions.text.Lower('email'), name='customer_email_once_per_store'),
            ),
            migrations.AddConstraint(
                model_name='customer',
                constraint=models.UniqueConstraint(condition=models.Q(('form_key__isnull', False)), fields=('store', 'mode', 'form_key'), name='customer_once_per_form'),
            ),
            migrations.AddConstraint(
                model_name='invoicecounter',
                constraint=models.UniqueConstraint(fields=('store', 'mode'), name='invoice_counter_once'),
            ),
            migrations.AddConstraint(
                model_name='invoiceline',
                constraint=models.CheckConstraint(condition=models.Q(('amount_cents', django.db.models.expressions.CombinedExpression(models.F('quantity'), '*', models.F('unit_amount_cents')))), name='invoice_line_adds_up'),
            ),
            migrations.AddConstraint(
                model_name='invoiceline',
                constraint=models.UniqueConstraint(fields=('invoice', 'position'), name='invoice_line_position_once'),
            ),
            migrations.AddIndex(
                model_name='invoicepayment',
                index=models.Index(condition=models.Q(('counted_at', None)), fields=['payment'], name='invoice_payment_waiting'),
            ),
            migrations.AddIndex(
                model_name='product',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='product_newest'),
            ),
            migrations.AddIndex(
                model_name='product',
                index=models.Index(fields=['store', 'mode', 'name'], name='product_by_name'),
            ),
            migrations.AddConstraint(
                model_name='product',
                constraint=models.UniqueConstraint(condition=models.Q(('form_key__isnull', False)), fields=('store', 'mode', 'form_key'), name='product_once_per_form'),
            ),
            migrations.AddIndex(
                model_name='price',
                index=models.Index(fields=['product', '-created_at'], name='price_newest'),
            ),
            migrations.AddConstraint(
                model_name='price',
                constraint=models.CheckConstraint(condition=models.Q(('unit_amount_cents__gte', 0)), name='price_not_negative'),
            ),
            migrations.AddConstraint(
                model_name='price',
                constraint=models.CheckConstraint(condition=models.Q(('interval_count__gte', 1), ('interval_count__lte', 365)), name='price_interval_count'),
            ),
            migrations.AddConstraint(
                model_name='price',
                constraint=models.UniqueConstraint(condition=models.Q(('form_key__isnull', False)), fields=('store', 'mode', 'form_key'), name='price_once_per_form'),
            ),
            migrations.AddIndex(
                model_name='subscription',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='subscription_newest'),
            ),
            migrations.AddIndex(
                model_name='subscription',
                index=models.Index(condition=models.Q(('next_step_at__isnull', False)), fields=['next_step_at'], name='subscription_due'),
            ),
            migrations.AddIndex(
                model_name='subscription',
                index=models.Index(condition=models.Q(('status', 'past_due')), fields=['store', 'mode', '-updated_at'], name='subscription_past_due'),
            ),
            migrations.AddIndex(
                model_name='subscription',
                index=models.Index(condition=models.Q(('mode', 'test'), ('next_step_at__isnull', False)), fields=['store', 'next_step_at'], name='subscription_due_in_test'),
            ),
            migrations.AddIndex(
                model_name='subscription',
                index=models.Index(fields=['store', 'mode', 'status', '-created_at', '-id'], name='subscription_of_status'),
            ),
            migrations.AddIndex(
                model_name='subscription',
                index=models.Index(fields=['-created_at', '-id'], name='subscription_newest_of_all'),
            ),
            migrations.AddConstraint(
                model_name='subscription',
                constraint=models.CheckConstraint(condition=models.Q(('quantity__gte', 1)), name='subscription_quantity_positive'),
            ),
            migrations.AddConstraint(
                model_name='subscription',
                constraint=models.CheckConstraint(condition=models.Q(('current_period_end__gt', models.F('current_period_start'))), name='subscription_period_is_forward'),
            ),
            migrations.AddConstraint(
                model_name='subscription',
                constraint=models.CheckConstraint(condition=models.Q(('anchor_day__gte', 1), ('anchor_day__lte', 31)), name='subscription_anchor_is_day'),
            ),
            migrations.AddConstraint(
                model_name='subscription',
                constraint=models.UniqueConstraint(condition=models.Q(('form_key__isnull', False)), fields=('store', 'mode', 'form_key'), name='subscription_once_per_form'),
            ),
            migrations.AddIndex(
                model_name='invoice',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='invoice_newest'),
            ),
            migrations.AddIndex(
                model_name='invoice',
                index=models.Index(fields=['customer', '-created_at'], name='invoice_of_customer'),
            ),
            migrations.AddIndex(
                model_name='invoice',
                index=models.Index(condition=models.Q(('status', 'open')), fields=['subscription', 'due_at'], name='invoice_open_cycle'),
            ),
            migrations.AddIndex(
                model_name='invoice',
                index=models.Index(condition=models.Q(('next_letter_at__isnull', False)), fields=['next_letter_at'], name='invoice_letter_due'),
            ),
            migrations.AddIndex(
                model_name='invoice',
                index=models.Index(condition=models.Q(('status', 'open')), fields=['store', 'mode', 'due_at'], name='invoice_owed'),
            ),
            migrations.AddIndex(
                model_name='invoice',
                index=models.Index(condition=models.Q(('needs_attention__isnull', False)), fields=['store', 'mode', '-updated_at'], name='invoice_flagged'),
            ),
            migrations.AddIndex(
                model_name='invoice',
                index=models.Index(condition=models.Q(('mode', 'test'), ('next_letter_at__isnull', False)), fields=['store', 'next_letter_at'], name='invoice_letter_due_in_test'),
            ),
            migrations.AddIndex(
                model_name='invoice',
                index=models.Index(fields=['store', 'mode', 'status', '-created_at', '-id'], name='invoice_of_status'),
            ),
            migrations.AddIndex(
                model_name='invoice',
                index=models.Index(fields=['-created_at', '-id'], name='invoice_newest_of_all'),
            ),
            migrations.AddConstraint(
                model_name='invoice',
                constraint=models.CheckConstraint(condition=models.Q(('total_cents', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('subtotal_cents'), '-', models.F('discount_cents')), '+', models.F('tax_cents')))), name='invoice_totals_add_up'),
            ),
            migrations.AddConstraint(
                model_name='invoice',
                constraint=models.CheckConstraint(condition=models.Q(('discount_cents__gte', 0), ('subtotal_cents__gte', 0), ('tax_cents__gte', 0), ('total_cents__gte', 0)), name='invoice_totals_not_negative'),
            ),
            migrations.AddConstraint(
                model_name='invoice',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('finalized_at__isnull', True), ('number__isnull', True), ('public_token__isnull', True), ('status__in', ['draft', 'void'])), models.Q(('finalized_at__isnull', False), ('number__isnull', False), ('public_token__isnull', False), ('status__in', ['open', 'paid', 'void', 'uncollectible'])), _connector='OR'), name='invoice_numbered_when_finalized'),
            ),
            migrations.AddConstraint(
                model_name='invoice',
                constraint=models.UniqueConstraint(fields=('store', 'mode', 'number'), name='invoice_number_once'),
            ),
            migrations.AddConstraint(
                model_name='invoice',
                constraint=models.UniqueConstraint(fields=('store', 'mode', 'custom_number'), name='invoice_custom_number_once'),
            ),
            migrations.AddConstraint(
                model_name='invoice',
                constraint=models.UniqueConstraint(condition=models.Q(('form_key__isnull', False)), fields=('store', 'mode', 'form_key'), name='invoice_once_per_form'),
            ),
            migrations.AddConstraint(
                model_name='subscriptionitem',
                constraint=models.CheckConstraint(condition=models.Q(('quantity__gte', 1)), name='subscription_item_quantity_positive'),
            ),
        ]),
        migrations.RunSQL(SQL),
    ]
