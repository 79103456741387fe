"""What is asked for over x402, and what payers have signed."""

import apps.core.models
import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0001_initial'),
        ('assets', '0005_daily_rates'),
        ('chain', '0007_signed_transfers'),
        ('payments', '0008_payments_of_platforms'),
        ('stores', '0008_verifications'),
    ]

    operations = [
        migrations.CreateModel(
            name='PaymentOffer',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('amount_atomic', apps.core.models.AtomicField()),
                ('resource', models.CharField(max_length=2048)),
                ('description', models.CharField(max_length=500, null=True)),
                ('mime_type', models.CharField(max_length=100, null=True)),
                ('timeout_seconds', models.PositiveIntegerField()),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('pay_to', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='chain.address')),
                ('payment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.payment')),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.CreateModel(
            name='SignedPayment',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('contract_address', models.CharField(db_collation='C', max_length=42)),
                ('payer', models.CharField(db_collation='C', max_length=42)),
                ('nonce', models.CharField(db_collation='C', max_length=66)),
                ('amount_atomic', apps.core.models.AtomicField()),
                ('valid_after', apps.core.models.AtomicField()),
                ('valid_before', apps.core.models.AtomicField()),
                ('signature', models.CharField(max_length=132)),
                ('status', models.CharField(choices=[('verified', 'Verified'), ('submitted', 'Submitted'), ('unknown', 'Unknown'), ('settled', 'Settled'), ('failed', 'Failed')], default='verified', max_length=9)),
                ('tx_hash', models.CharField(blank=True, default='', max_length=66)),
                ('failure_reason', models.CharField(blank=True, default='', max_length=200)),
                ('answered_at', models.DateTimeField(null=True)),
                ('updated_at', models.DateTimeField()),
                ('chain', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.chain')),
                ('offer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.paymentoffer')),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.CreateModel(
            name='SignedPaymentStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('from_status', models.CharField(max_length=9, null=True)),
                ('to_status', models.CharField(max_length=9)),
                ('at', models.DateTimeField()),
                ('note', models.CharField(blank=True, max_length=200)),
                ('signed', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='agents.signedpayment')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.AddConstraint(
            model_name='paymentoffer',
            constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='offer_is_positive'),
        ),
        migrations.AddIndex(
            model_name='signedpayment',
            index=models.Index(fields=['store', 'mode', '-created_at'], name='agents_sign_store_i_87e350_idx'),
        ),
        migrations.AddIndex(
            model_name='signedpayment',
            index=models.Index(condition=models.Q(('status__in', ['verified', 'submitted', 'unknown'])), fields=['updated_at'], name='signed_payment_open'),
        ),
        migrations.AddConstraint(
            model_name='signedpayment',
            constraint=models.UniqueConstraint(fields=('chain', 'contract_address', 'payer', 'nonce'), name='signed_payment_once'),
        ),
        migrations.AddConstraint(
            model_name='signedpayment',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'failed'), _negated=True), fields=('offer',), name='signed_payment_one_per_offer'),
        ),
    ]
