"""How long what people name cools, in a row of this app; 0008 copies what stores have."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0006_known_browsers'),
        ('stores', '0025_clock_a_month_behind'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='CoolingSettings',
            fields=[
                ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='stores.store')),
                ('cooling_hours', models.PositiveSmallIntegerField(db_default=24, default=24)),
                ('cooling_hours_next', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('cooling_hours_next_from', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('cooling_hours__lte', 72), models.Q(('cooling_hours_next', None), ('cooling_hours_next__lte', 72), _connector='OR')), name='cooling_is_short')],
            },
        ),
    ]
