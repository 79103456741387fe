"""Raises of a platform's fee that wait, and the ceiling that staff set for a platform."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0008_test_letters")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="store",
            name="platform_fee_before_fraction",
            field=models.DecimalField(blank=True, decimal_places=8, max_digits=9, null=True),
        ),
        migrations.AddField(
            model_name="store",
            name="platform_fee_from",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="store",
            name="platform_fee_ceiling_fraction",
            field=models.DecimalField(blank=True, decimal_places=8, max_digits=9, null=True),
        ),
    ]
