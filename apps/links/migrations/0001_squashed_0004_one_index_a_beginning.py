"""Everything until 0004_one_index_a_beginning in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('links', '0001_links'),
        ('links', '0002_searched'),
        ('links', '0003_folded_email'),
        ('links', '0004_one_index_a_beginning'),
    ]

    dependencies = [
        ('payments', '0001_squashed_0045_sums_by_entries_alone'),
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='PaymentLink',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('form_key', models.CharField(editable=False, max_length=32, null=True)),
                    ('token', models.CharField(db_collation='C', max_length=12, unique=True)),
                    ('title', models.CharField(max_length=150)),
                    ('description', models.CharField(max_length=500, null=True)),
                    ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                    ('amount_cents', models.BigIntegerField(null=True)),
                    ('min_cents', models.BigIntegerField(null=True)),
                    ('max_cents', models.BigIntegerField(null=True)),
                    ('suggested_cents', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                    ('stock', models.PositiveIntegerField(null=True)),
                    ('ends_at', models.DateTimeField(null=True)),
                    ('success_url', models.CharField(max_length=2048, null=True)),
                    ('email', models.CharField(choices=[('no', "Don't ask"), ('optional', 'Optional'), ('required', 'Required')], default='no', max_length=8)),
                    ('name', models.CharField(choices=[('no', "Don't ask"), ('optional', 'Optional'), ('required', 'Required')], default='no', max_length=8)),
                    ('paused_at', models.DateTimeField(null=True)),
                    ('archived_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='LinkPayment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('customer_email', models.CharField(blank=True, default='', max_length=254)),
                    ('customer_name', models.CharField(blank=True, default='', max_length=255)),
                    ('created_at', models.DateTimeField()),
                    ('released_at', models.DateTimeField(null=True)),
                    ('payment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                    ('link', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='links.paymentlink')),
                ],
            ),
            migrations.CreateModel(
                name='Till',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                    ('tip_bps', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveSmallIntegerField(), default=list, size=None)),
                    ('updated_at', models.DateTimeField()),
                    ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.AddIndex(
                model_name='paymentlink',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='payment_link_newest'),
            ),
            migrations.AddIndex(
                model_name='paymentlink',
                index=models.Index(fields=['store', 'mode', 'title'], name='payment_link_by_title'),
            ),
            migrations.AddConstraint(
                model_name='paymentlink',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('amount_cents__gt', 0), ('max_cents', None), ('min_cents', None), ('suggested_cents', [])), models.Q(('amount_cents', None), ('max_cents__gte', models.F('min_cents')), ('min_cents__gt', 0)), _connector='OR'), name='payment_link_has_a_price'),
            ),
            migrations.AddConstraint(
                model_name='paymentlink',
                constraint=models.CheckConstraint(condition=models.Q(('title', ''), _negated=True), name='payment_link_has_a_title'),
            ),
            migrations.AddConstraint(
                model_name='paymentlink',
                constraint=models.CheckConstraint(condition=models.Q(('email__in', ['no', 'optional', 'required']), ('name__in', ['no', 'optional', 'required'])), name='payment_link_asks_are_known'),
            ),
            migrations.AddConstraint(
                model_name='paymentlink',
                constraint=models.UniqueConstraint(condition=models.Q(('form_key__isnull', False)), fields=('store', 'mode', 'form_key'), name='payment_link_once_per_form'),
            ),
            migrations.AddIndex(
                model_name='linkpayment',
                index=models.Index(fields=['link', '-created_at'], name='link_payment_newest'),
            ),
            migrations.AddIndex(
                model_name='linkpayment',
                index=models.Index(condition=models.Q(('released_at', None)), fields=['link'], name='link_payment_holds'),
            ),
            migrations.AddIndex(
                model_name='linkpayment',
                index=models.Index(django.db.models.functions.text.Lower('customer_email'), condition=models.Q(('customer_email', ''), _negated=True), name='link_payment_by_folded'),
            ),
        ]),
    ]
