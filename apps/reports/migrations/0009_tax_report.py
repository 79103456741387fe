"""Reports of the taxes of invoices: a choice more, which the database doesn't know."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reports", "0008_more_formats")]

    operations = [
        migrations.AlterField(
            model_name="report",
            name="report_type",
            field=models.CharField(
                choices=[
                    ("accounting_transactions", "Accounting transactions"),
                    ("merchant_statement", "Merchant statement"),
                    ("tax_report", "Tax report"),
                ],
                max_length=30,
            ),
        ),
    ]
