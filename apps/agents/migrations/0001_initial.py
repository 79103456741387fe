import apps.core.models
import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    """Mandates with their draws, and what agents may pay out."""

    initial = True

    dependencies = [
        ('access', '0006_sign_ins'),
        ('assets', '0005_daily_rates'),
        ('stores', '0007_checkout_domain'),
    ]

    operations = [
        migrations.CreateModel(
            name='Mandate',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('mandate_ref', models.CharField(max_length=255)),
                ('scope', models.CharField(max_length=255)),
                ('status', models.CharField(choices=[('active', 'Active'), ('exhausted', 'Exhausted'), ('revoked', 'Revoked'), ('expired', 'Expired')], default='active', max_length=9)),
                ('total_cap_atomic', apps.core.models.AtomicField()),
                ('per_call_cap_atomic', apps.core.models.OptionalAtomicField(null=True)),
                ('spent_atomic', apps.core.models.AtomicField(default=0)),
                ('authorization_provider', models.CharField(max_length=8)),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('updated_at', models.DateTimeField()),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('credential', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='access.agentcredential')),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.CreateModel(
            name='MandateStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('from_status', models.CharField(max_length=9, null=True)),
                ('to_status', models.CharField(max_length=9)),
                ('at', models.DateTimeField()),
                ('mandate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='agents.mandate')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Settlement',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('submitted', 'Submitted'), ('confirmed', 'Confirmed'), ('failed', 'Failed')], default='pending', max_length=9)),
                ('amount_atomic', apps.core.models.AtomicField()),
                ('nonce', models.CharField(max_length=255)),
                ('pay_to', models.CharField(max_length=255, null=True)),
                ('payer', models.CharField(max_length=255, null=True)),
                ('requirements', models.JSONField(null=True)),
                ('is_dispatched', models.BooleanField()),
                ('tx_ref', models.CharField(max_length=66, null=True)),
                ('failure_reason', models.CharField(max_length=200, null=True)),
                ('updated_at', models.DateTimeField()),
                ('idempotency_key', models.CharField(max_length=255)),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('credential', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='access.agentcredential')),
                ('mandate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.mandate')),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
        ),
        migrations.CreateModel(
            name='SettlementStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('from_status', models.CharField(max_length=9, null=True)),
                ('to_status', models.CharField(max_length=9)),
                ('at', models.DateTimeField()),
                ('note', models.CharField(blank=True, max_length=200)),
                ('settlement', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='agents.settlement')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='AgentPayoutCap',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('per_tx_atomic', apps.core.models.OptionalAtomicField(null=True)),
                ('daily_atomic', apps.core.models.OptionalAtomicField(null=True)),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('credential', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='access.agentcredential')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('credential', 'asset'), name='agent_payout_cap_once'), models.CheckConstraint(condition=models.Q(('per_tx_atomic__isnull', False), ('daily_atomic__isnull', False), _connector='OR'), name='agent_payout_cap_caps')],
            },
        ),
        migrations.AddIndex(
            model_name='mandate',
            index=models.Index(fields=['credential', '-created_at'], name='agents_mand_credent_65a47d_idx'),
        ),
        migrations.AddIndex(
            model_name='mandate',
            index=models.Index(fields=['store', 'mode', '-created_at'], name='agents_mand_store_i_974f37_idx'),
        ),
        migrations.AddIndex(
            model_name='mandate',
            index=models.Index(condition=models.Q(('status__in', ['active', 'exhausted'])), fields=['expires_at'], name='mandate_to_expire'),
        ),
        migrations.AddConstraint(
            model_name='mandate',
            constraint=models.UniqueConstraint(fields=('credential', 'mandate_ref'), name='mandate_ref_once_per_credential'),
        ),
        migrations.AddConstraint(
            model_name='mandate',
            constraint=models.CheckConstraint(condition=models.Q(('total_cap_atomic__gt', 0)), name='mandate_cap_is_positive'),
        ),
        migrations.AddConstraint(
            model_name='mandate',
            constraint=models.CheckConstraint(condition=models.Q(('spent_atomic__gte', 0), ('spent_atomic__lte', models.F('total_cap_atomic'))), name='mandate_never_overspent'),
        ),
        migrations.AddConstraint(
            model_name='mandate',
            constraint=models.CheckConstraint(condition=models.Q(('per_call_cap_atomic__isnull', True), ('per_call_cap_atomic__gt', 0), _connector='OR'), name='mandate_call_cap_is_positive'),
        ),
        migrations.AddIndex(
            model_name='settlement',
            index=models.Index(fields=['credential', '-created_at'], name='agents_sett_credent_436579_idx'),
        ),
        migrations.AddIndex(
            model_name='settlement',
            index=models.Index(fields=['store', 'mode', '-created_at'], name='agents_sett_store_i_d56056_idx'),
        ),
        migrations.AddIndex(
            model_name='settlement',
            index=models.Index(condition=models.Q(('is_dispatched', True), ('status__in', ['pending', 'submitted'])), fields=['created_at'], name='settlement_to_dispatch'),
        ),
        migrations.AddConstraint(
            model_name='settlement',
            constraint=models.UniqueConstraint(fields=('credential', 'idempotency_key'), name='settlement_idempotency_key_once'),
        ),
        migrations.AddConstraint(
            model_name='settlement',
            constraint=models.UniqueConstraint(fields=('mandate', 'nonce'), name='settlement_nonce_once'),
        ),
        migrations.AddConstraint(
            model_name='settlement',
            constraint=models.CheckConstraint(condition=models.Q(('amount_atomic__gte', 0)), name='settlement_never_negative'),
        ),
    ]
