"""Signatures of contracts (EIP-1271) are longer than those of accounts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0008_signatures_at_the_checkout")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="signedpayment",
            name="signature",
            field=models.CharField(max_length=3002),
        ),
    ]
