"""The third rule for signatures at the checkout."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0009_longer_signatures")]

    operations = [
        migrations.AlterField(
            model_name="agentsettings",
            name="checkout_signatures",
            field=models.CharField(
                choices=[
                    ("off", "Off"),
                    ("store", "The store pays the network fee"),
                    ("customer", "The customer pays the network fee on top"),
                ],
                db_default="off",
                default="off",
                max_length=8,
            ),
        ),
    ]
