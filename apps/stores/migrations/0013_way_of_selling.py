"""How a store sells, and which steps of its setup its people left out."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('stores', '0012_last_mode'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='store',
            name='way_of_selling',
            field=models.CharField(
                blank=True,
                choices=[
                    ('links', 'Payment links and point of sale'),
                    ('website', 'Website or shop'),
                    ('platform', 'Platform for other merchants'),
                ],
                db_default='',
                default='',
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name='store',
            name='skipped_steps',
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=30),
                blank=True,
                db_default=[],
                default=list,
                size=None,
            ),
        ),
    ]
