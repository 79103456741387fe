"""Indexes of some payouts with an address in them would be built again when addresses may be longer,
while nobody can read or write payouts: they go before, and come back after.
"""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("payouts", "0005_fixed_search_path")]

    operations = [
        RemoveIndexConcurrently(model_name="payout", name="payout_by_address"),
        RemoveIndexConcurrently(model_name="payout", name="payout_to_address"),
        RemoveIndexConcurrently(model_name="payout", name="payout_failed_in_vain"),
    ]
