"""When an off-ramp was last asked about a payout."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payouts", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="payout",
            name="asked_at",
            field=models.DateTimeField(null=True),
        ),
    ]
