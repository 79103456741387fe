"""Products, prices, customers, subscriptions and invoices, with the history and the payments of each."""

import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('payments', '0006_test_payments'),
        ('stores', '0007_checkout_domain'),
    ]

    operations = [
        migrations.CreateModel(
            name='Customer',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('email', models.EmailField(max_length=254)),
                ('name', models.CharField(max_length=255, null=True)),
                ('phone', models.CharField(max_length=50, null=True)),
                ('address', models.JSONField(null=True)),
                ('metadata', models.JSONField(default=dict)),
                ('deleted_at', models.DateTimeField(null=True)),
                ('updated_at', models.DateTimeField()),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.CreateModel(
            name='Invoice',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
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
                ('finalized_at', models.DateTimeField(null=True)),
                ('paid_at', models.DateTimeField(null=True)),
                ('voided_at', models.DateTimeField(null=True)),
                ('uncollectible_at', models.DateTimeField(null=True)),
                ('updated_at', models.DateTimeField()),
                ('customer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.customer')),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
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
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
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
                ('invoice', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='billing.invoice')),
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
                ('name', models.CharField(max_length=255)),
                ('description', models.TextField(null=True)),
                ('active', models.BooleanField(default=True)),
                ('metadata', models.JSONField(default=dict)),
                ('updated_at', models.DateTimeField()),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.CreateModel(
            name='Price',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('unit_amount_cents', models.BigIntegerField()),
                ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                ('interval', models.CharField(choices=[('daily', 'Daily'), ('weekly', 'Weekly'), ('monthly', 'Monthly'), ('yearly', 'Yearly')], max_length=7)),
                ('interval_count', models.PositiveSmallIntegerField(default=1)),
                ('active', models.BooleanField(default=True)),
                ('metadata', models.JSONField(default=dict)),
                ('updated_at', models.DateTimeField()),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ('product', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.product')),
            ],
        ),
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('quantity', models.PositiveIntegerField(default=1)),
                ('status', models.CharField(choices=[('trialing', 'Trialing'), ('active', 'Active'), ('past_due', 'Past Due'), ('paused', 'Paused'), ('canceled', 'Canceled')], max_length=8)),
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
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
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
        migrations.AddConstraint(
            model_name='customer',
            constraint=models.UniqueConstraint(models.F('store'), models.F('mode'), django.db.models.functions.text.Lower('email'), name='customer_email_once_per_store'),
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
        migrations.AddIndex(
            model_name='subscription',
            index=models.Index(fields=['store', 'mode', '-created_at'], name='subscription_newest'),
        ),
        migrations.AddIndex(
            model_name='subscription',
            index=models.Index(condition=models.Q(('next_step_at__isnull', False)), fields=['next_step_at'], name='subscription_due'),
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
            model_name='subscriptionitem',
            constraint=models.CheckConstraint(condition=models.Q(('quantity__gte', 1)), name='subscription_item_quantity_positive'),
        ),
    ]
