"""What the contact of a business was told of a live destination that an onboarding link named."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payouts', '0007_cooling'),
        ('platforms', '0001_initial'),
        ('stores', '0012_cooling'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
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
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='platforms.onboardinglink')),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('waits_until', None)), fields=['store', 'created_at'], name='confirmation_untold')],
            },
        ),
    ]
