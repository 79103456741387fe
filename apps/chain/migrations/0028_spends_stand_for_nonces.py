"""The rule of 0026 for orders that are signed holds for all of them."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("chain", "0027_index_of_spends")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(
            model_name="outgoingtransaction", name="outgoing_signed_has_nonce"
        ),
    ]
