"""When an invoice's customer is next reminded, and what accepted late deposits have added to an invoice."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """New columns of invoices and their payments."""

    dependencies = [("billing", "0003_owed")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField("invoice", "next_letter_at", models.DateTimeField(null=True)),
        migrations.AddField("invoicepayment", "late_cents", models.BigIntegerField(default=0)),
        migrations.AddField("invoicepayment", "late_seen_at", models.DateTimeField(null=True)),
        migrations.AddIndex(
            "invoice",
            models.Index(fields=["next_letter_at"], condition=models.Q(next_letter_at__isnull=False), name="invoice_letter_due"),
        ),
    ]
