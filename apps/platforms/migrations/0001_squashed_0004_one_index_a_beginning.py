"""Everything until 0004_one_index_a_beginning in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import django.db.models.deletion
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('platforms', '0001_initial'),
        ('platforms', '0002_destination_confirmation'),
        ('platforms', '0003_words_of_choices'),
        ('platforms', '0004_one_index_a_beginning'),
    ]

    dependencies = [
        ('payouts', '0001_squashed_0025_history_by_number'),
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='OnboardingLink',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('purpose', models.CharField(choices=[('onboarding', 'Onboarding'), ('kyb', 'KYB'), ('payout_destination', 'Payout destination')], max_length=18)),
                    ('return_url', models.CharField(max_length=2048, null=True)),
                    ('token_hash', models.BinaryField(max_length=32, unique=True)),
                    ('token_prefix', models.CharField(max_length=10)),
                    ('expires_at', models.DateTimeField()),
                    ('completed_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='DestinationConfirmation',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('contact', models.CharField(blank=True, max_length=254)),
                    ('waits_until', models.DateTimeField(null=True)),
                    ('code_hash', models.BinaryField(max_length=32, null=True)),
                    ('code_expires_at', models.DateTimeField(null=True)),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('letters', models.PositiveSmallIntegerField(default=0)),
                    ('told_at', models.DateTimeField(null=True)),
                    ('confirmed_at', models.DateTimeField(null=True)),
                    ('stopped_at', models.DateTimeField(null=True)),
                    ('destination', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payouts.destination')),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('link', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='platforms.onboardinglink')),
                ],
            ),
            migrations.CreateModel(
                name='AccessRequest',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('approved', 'Approved'), ('rejected', 'Rejected')], default='pending', max_length=8)),
                    ('reason', models.CharField(max_length=2000, null=True)),
                    ('rejection_reason', models.CharField(max_length=500, null=True)),
                    ('created_at', models.DateTimeField()),
                    ('reviewed_at', models.DateTimeField(null=True)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
                options={
                    'indexes': [models.Index(fields=['store', '-created_at'], name='access_request_of_store')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'pending')), fields=('store',), name='access_request_one_pending')],
                },
            ),
            migrations.AddIndex(
                model_name='onboardinglink',
                index=models.Index(fields=['account', '-created_at'], name='onboarding_link_of_account'),
            ),
            migrations.AddIndex(
                model_name='destinationconfirmation',
                index=models.Index(condition=models.Q(('waits_until', None)), fields=['store', 'created_at'], name='confirmation_untold'),
            ),
        ]),
    ]
