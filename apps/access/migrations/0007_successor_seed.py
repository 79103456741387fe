"""What a refresh token's one successor is made from. Processes of the previous release leave it
empty."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0006_no_age_of_blocks")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="refreshtoken",
            name="successor_seed",
            field=models.BinaryField(null=True),
        ),
    ]
