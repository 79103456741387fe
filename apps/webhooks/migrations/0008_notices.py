"""BitPay's format beside BTCPay's: nothing of the table changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0007_formats")]

    operations = [
        migrations.AlterField(
            model_name="endpoint",
            name="format",
            field=models.CharField(
                choices=[("tillgate", "Tillgate"), ("btcpay", "BTCPay"), ("bitpay", "BitPay")],
                db_default="tillgate",
                default="tillgate",
                max_length=8,
            ),
        ),
    ]
