"""The family of a network: what its addresses, blocks and transactions are like."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assets", "0011_minimum_is_a_number_everywhere")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="chain",
            name="family",
            field=models.CharField(
                choices=[("evm", "EVM")], db_default="evm", default="evm", max_length=10
            ),
        ),
    ]
