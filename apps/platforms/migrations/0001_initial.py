"""Access requests and onboarding links."""

import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('stores', '0008_verifications'),
    ]

    operations = [
        migrations.CreateModel(
            name='AccessRequest',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('approved', 'Approved'), ('rejected', 'Rejected')], default='pending', max_length=8)),
                ('reason', models.CharField(max_length=2000, null=True)),
                ('rejection_reason', models.CharField(max_length=500, null=True)),
                ('created_at', models.DateTimeField()),
                ('reviewed_at', models.DateTimeField(null=True)),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'indexes': [models.Index(fields=['store', '-created_at'], name='access_request_of_store')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'pending')), fields=('store',), name='access_request_one_pending')],
            },
        ),
        migrations.CreateModel(
            name='OnboardingLink',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('purpose', models.CharField(choices=[('onboarding', 'Onboarding'), ('kyb', 'Kyb'), ('payout_destination', 'Payout Destination')], max_length=18)),
                ('return_url', models.CharField(max_length=2048, null=True)),
                ('token_hash', models.BinaryField(max_length=32, unique=True)),
                ('token_prefix', models.CharField(max_length=10)),
                ('expires_at', models.DateTimeField()),
                ('completed_at', models.DateTimeField(null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'indexes': [models.Index(fields=['account', '-created_at'], name='onboarding_link_of_account')],
            },
        ),
    ]
