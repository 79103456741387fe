"""A store's settings of agents, in a row of this app; 0004 copies what stores have."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0001_squashed_0002_signed_payments'),
        ('stores', '0025_clock_a_month_behind'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='AgentSettings',
            fields=[
                ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='stores.store')),
                ('x402_dispatch', models.BooleanField(default=False)),
                ('authorization_provider', models.CharField(choices=[('none', 'None'), ('policy', 'Policy'), ('http', 'Http')], default='none', max_length=8)),
                ('authorization_url', models.URLField(blank=True, max_length=2048)),
                ('authorization_policy', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'abstract': False,
            },
        ),
    ]
