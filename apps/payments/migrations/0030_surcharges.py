"""Customers may pay the network's fee on top of what they sign at the checkout."""

from django.db import migrations

import apps.core.models


class Migration(migrations.Migration):
    dependencies = [("payments", "0029_checkout_views")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="paymentaddress",
            name="surcharge_atomic",
            field=apps.core.models.AtomicField(db_default=0, default=0),
        ),
    ]
