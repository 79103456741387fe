"""The least payout of an asset is a number: a role that may change it could make it NaN, and no
process can read such an asset."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assets", "0009_fixed_search_path")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        AddConstraintNotValid(
            model_name="asset",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    min_withdrawal_atomic__gte=0, min_withdrawal_atomic__lt=10**60
                ),
                name="asset_minimum_is_a_number",
            ),
        ),
    ]
