"""Products that a store sells at its till, with VAT, and each sale once under the key of its
device."""

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('links', '0001_squashed_0004_one_index_a_beginning'),
        ('payments', '0021_fixed_search_path'),
        ('stores', '0016_cashiers'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='till',
            name='names',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), db_default=[], default=list, size=None),
        ),
        migrations.AddField(
            model_name='till',
            name='vat_bps',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.PositiveSmallIntegerField(), db_default=[], default=list, size=None),
        ),
        migrations.CreateModel(
            name='Sale',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('form_key', models.CharField(editable=False, max_length=32, null=True)),
                ('token', models.CharField(db_collation='C', max_length=22, unique=True)),
                ('till_name', models.CharField(blank=True, default='', max_length=40)),
                ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                ('lines', models.JSONField(default=list)),
                ('amount_cents', models.BigIntegerField()),
                ('note', models.CharField(blank=True, default='', max_length=150)),
                ('offered_bps', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveSmallIntegerField(), default=list, size=None)),
                ('tip_cents', models.BigIntegerField(null=True)),
                ('canceled_at', models.DateTimeField(null=True)),
                ('payment', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'indexes': [models.Index(fields=['store', 'mode', '-created_at'], name='sale_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('payment', None), models.Q(('amount_cents__gt', 0), ('tip_cents__gte', 0)), _connector='OR'), name='sale_with_payment_is_whole'), models.UniqueConstraint(condition=models.Q(('form_key__isnull', False)), fields=('store', 'mode', 'form_key'), name='sale_once_per_form')],
            },
        ),
        migrations.CreateModel(
            name='TillItem',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('price_cents', models.BigIntegerField()),
                ('currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], max_length=3)),
                ('vat_bps', models.PositiveSmallIntegerField(null=True)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('removed_at', models.DateTimeField(null=True)),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'indexes': [models.Index(fields=['store', 'name'], name='till_item_by_name')],
                'constraints': [models.CheckConstraint(condition=models.Q(('price_cents__gt', 0)), name='till_item_has_a_price'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='till_item_has_a_name')],
            },
        ),
    ]
