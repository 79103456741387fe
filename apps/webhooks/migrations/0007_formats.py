"""In which format an endpoint gets its events."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0006_secrets_of_platforms")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="endpoint",
            name="format",
            field=models.CharField(
                choices=[("tillgate", "Tillgate"), ("btcpay", "BTCPay")],
                db_default="tillgate",
                default="tillgate",
                max_length=8,
            ),
        ),
    ]
