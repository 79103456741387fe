from django.db import migrations, models


class Migration(migrations.Migration):
    """An index for what is owed to a store."""

    dependencies = [("billing", "0002_guards")]

    operations = [
        migrations.AddIndex(
            model_name="invoice",
            index=models.Index(condition=models.Q(("status", "open")), fields=["store", "mode", "due_at"], name="invoice_owed"),
        ),
    ]
