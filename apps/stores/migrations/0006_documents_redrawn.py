"""When pictures took the place of an uploaded document, or that they couldn't."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0005_publishable_key_amounts")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="verificationdocument",
            name="redrawn_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="verificationdocument",
            name="is_refused",
            field=models.BooleanField(default=False, db_default=False),
        ),
    ]
