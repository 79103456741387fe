"""Withdrawals of the operator's own earnings."""

import apps.core.models
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0001_squashed_0007_test_dollar'),
        ('payments', '0012_requested_test_payments'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='Withdrawal',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('reference', models.CharField(max_length=100, unique=True)),
                ('mode', models.CharField(max_length=4)),
                ('amount_atomic', apps.core.models.AtomicField()),
                ('to_address', models.CharField(db_collation='C', max_length=42)),
                ('reason', models.CharField(max_length=200)),
                ('status', models.CharField(choices=[('requested', 'Requested'), ('approved', 'Approved'), ('confirmed', 'Confirmed'), ('rejected', 'Rejected'), ('failed', 'Failed')], default='requested', max_length=9)),
                ('requested_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('is_requested', models.BooleanField(db_default=False, default=False)),
                ('tx_hash', models.CharField(blank=True, max_length=66)),
                ('failure_reason', models.CharField(blank=True, max_length=200)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset')),
                ('decided_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('requested_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('amount_atomic__gt', 0)), name='withdrawal_is_positive'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='withdrawal_has_reason'), models.CheckConstraint(condition=models.Q(('status__in', ['requested', 'rejected']), models.Q(('decided_at__isnull', False), ('decided_by__isnull', False), models.Q(('decided_by', models.F('requested_by')), _negated=True)), _connector='OR'), name='withdrawal_takes_two')],
            },
        ),
    ]
