"""The seed that a refresh token's one successor is made from; empty where a process of the previous
release wrote the row."""

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
