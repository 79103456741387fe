"""Stores may let customers pay by a signature at the checkout; such a payment says so."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0007_posted_by_the_web")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="agentsettings",
            name="checkout_signatures",
            field=models.CharField(
                choices=[("off", "Off"), ("store", "The store pays the network fee")],
                db_default="off",
                default="off",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="signedpayment",
            name="is_of_checkout",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
