"""Everything until 0004_one_index_a_beginning in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import apps.core.models
import django.db.models.deletion
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('onramp', '0001_initial'),
        ('onramp', '0002_held_open_assets'),
        ('onramp', '0003_words_of_choices'),
        ('onramp', '0004_one_index_a_beginning'),
    ]

    dependencies = [
        ('assets', '0001_squashed_0005_one_index_a_beginning'),
        ('payments', '0001_squashed_0045_sums_by_entries_alone'),
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='Credential',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('provider', models.CharField(max_length=20)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('sealed_api_key', models.TextField()),
                    ('sealed_webhook_secret', models.TextField(blank=True)),
                    ('api_key_hint', models.CharField(blank=True, max_length=20)),
                    ('is_active', models.BooleanField(default=True)),
                    ('created_at', models.DateTimeField()),
                    ('store', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='FundingSession',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('provider', models.CharField(max_length=20)),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('paid', 'Paid'), ('expired', 'Expired'), ('failed', 'Failed')], default='pending', max_length=7)),
                    ('method_id', models.CharField(max_length=80)),
                    ('method_name', models.CharField(max_length=100)),
                    ('service_id', models.CharField(max_length=80)),
                    ('provider_name', models.CharField(max_length=100)),
                    ('amount_cents', models.BigIntegerField()),
                    ('currency', models.CharField(max_length=3)),
                    ('destination_address', models.CharField(db_collation='C', max_length=42)),
                    ('expected_atomic', apps.core.models.AtomicField()),
                    ('shortfall_bps', models.PositiveSmallIntegerField(default=0)),
                    ('country', models.CharField(max_length=2)),
                    ('region', models.CharField(blank=True, max_length=50)),
                    ('url', models.CharField(blank=True, max_length=2048)),
                    ('provider_txid', models.CharField(max_length=100, null=True)),
                    ('expires_at', models.DateTimeField()),
                    ('paid_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('next_poll_at', models.DateTimeField()),
                    ('is_delivery_due', models.BooleanField(default=False)),
                    ('delivery_tx_hash', models.CharField(blank=True, max_length=66)),
                    ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                    ('payment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Callback',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('status', models.CharField(max_length=7)),
                    ('verdict', models.CharField(choices=[('applied', 'Applied'), ('no_change', 'No change'), ('refused', 'Refused'), ('unknown', 'Unknown')], max_length=9)),
                    ('created_at', models.DateTimeField()),
                    ('credential', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='onramp.credential')),
                    ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='onramp.fundingsession')),
                ],
            ),
            migrations.CreateModel(
                name='SessionChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('from_status', models.CharField(max_length=7, null=True)),
                    ('to_status', models.CharField(max_length=7)),
                    ('source', models.CharField(choices=[('customer', 'Customer'), ('callback', 'Callback'), ('poll', 'Poll'), ('clock', 'Clock'), ('card_page', 'Card page')], max_length=9)),
                    ('created_at', models.DateTimeField()),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='onramp.fundingsession')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.AddConstraint(
                model_name='credential',
                constraint=models.UniqueConstraint(condition=models.Q(('is_active', True)), fields=('provider', 'mode', 'store'), name='onramp_credential_one_active', nulls_distinct=False),
            ),
            migrations.AddIndex(
                model_name='fundingsession',
                index=models.Index(fields=['payment', '-created_at'], name='onramp_fund_payment_17908f_idx'),
            ),
            migrations.AddIndex(
                model_name='fundingsession',
                index=models.Index(condition=models.Q(('status', 'pending')), fields=['next_poll_at'], name='funding_session_open'),
            ),
            migrations.AddIndex(
                model_name='fundingsession',
                index=models.Index(condition=models.Q(('is_delivery_due', True)), fields=['id'], name='funding_session_delivery'),
            ),
            migrations.AddConstraint(
                model_name='fundingsession',
                constraint=models.CheckConstraint(condition=models.Q(('amount_cents__gt', 0)), name='funding_session_charges_something'),
            ),
            migrations.AddConstraint(
                model_name='fundingsession',
                constraint=models.UniqueConstraint(condition=models.Q(('status', 'pending')), fields=('payment',), name='funding_session_one_pending'),
            ),
            migrations.AddConstraint(
                model_name='fundingsession',
                constraint=models.UniqueConstraint(condition=models.Q(('status', 'paid')), fields=('payment',), name='funding_session_one_paid'),
            ),
            migrations.AddConstraint(
                model_name='fundingsession',
                constraint=models.UniqueConstraint(condition=models.Q(('provider_txid__isnull', False)), fields=('mode', 'provider', 'provider_txid'), name='funding_session_txid_once'),
            ),
            migrations.AddConstraint(
                model_name='callback',
                constraint=models.UniqueConstraint(fields=('credential', 'digest'), name='onramp_callback_once'),
            ),
        ]),
    ]
