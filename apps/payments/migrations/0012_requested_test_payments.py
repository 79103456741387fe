"""The worker asks the sender for test payments: those made before were asked for by the request itself."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0011_held_open_assets")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField("testpayment", "is_requested", models.BooleanField(db_default=True, default=True)),
        migrations.AlterField("testpayment", "is_requested", models.BooleanField(db_default=False, default=False)),
        migrations.AddIndex(
            "testpayment",
            models.Index(condition=models.Q(("is_requested", False)), fields=["created_at"], name="test_payment_unrequested"),
        ),
    ]
