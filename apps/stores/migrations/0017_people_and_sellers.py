"""How people are spoken to, and who a seller is: zone and language, postal address, the sites that may frame a checkout."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0016_member_lists'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='store',
            name='city',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
        migrations.AddField(
            model_name='store',
            name='embed_origins',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), blank=True, db_default=[], default=list, size=None),
        ),
        migrations.AddField(
            model_name='store',
            name='postal_code',
            field=models.CharField(blank=True, db_default='', default='', max_length=20),
        ),
        migrations.AddField(
            model_name='store',
            name='street',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddField(
            model_name='store',
            name='website',
            field=models.CharField(blank=True, db_default='', default='', max_length=2048),
        ),
        migrations.AddField(
            model_name='user',
            name='language',
            field=models.CharField(blank=True, db_default='', default='', max_length=10),
        ),
        migrations.AddField(
            model_name='user',
            name='time_zone',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        migrations.AddField(
            model_name='verification',
            name='city',
            field=models.CharField(max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='verification',
            name='legal_form',
            field=models.CharField(max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='verification',
            name='postal_code',
            field=models.CharField(max_length=20, null=True),
        ),
        migrations.AddField(
            model_name='verification',
            name='representative',
            field=models.CharField(max_length=200, null=True),
        ),
        migrations.AddField(
            model_name='verification',
            name='street',
            field=models.CharField(max_length=200, null=True),
        ),
    ]
