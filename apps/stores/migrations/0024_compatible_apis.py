"""Tell whether a store can be called with the API of BTCPay Server."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0023_read_notifications")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="store",
            name="has_compatible_apis",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
