"""When an invoice whose payment is confirming is judged, which isn't when it was due."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0006_owed")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="invoice",
            name="due_waits_until",
            field=models.DateTimeField(null=True),
        ),
    ]
