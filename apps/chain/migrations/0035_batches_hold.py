"""The rule of 0033 for transactions that are signed holds for all of them."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("chain", "0034_index_of_batches")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name="outgoingtransaction", name="outgoing_signed_has_nonce"),
    ]
