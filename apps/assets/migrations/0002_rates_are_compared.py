"""Whether a second source agrees with a rate, and since when one is in doubt."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assets", "0001_squashed_0007_test_dollar")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField("rate", "is_agreed", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("rate", "doubted_at", models.DateTimeField(null=True)),
    ]
