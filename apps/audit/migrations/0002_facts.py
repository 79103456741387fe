"""A point keeps counts and hashes of the records that are written once."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0001_verified_points'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='verifiedpoint',
            name='facts',
            field=models.JSONField(null=True),
        ),
    ]
