"""Lines of swaps' histories by ranges of their number: what
there is becomes the first one, in an instant."""

from django.db import migrations

from apps.core.db import first_ranges


class Migration(migrations.Migration):
    dependencies = [("swaps", "0007_history_so_far_validated"), ("core", "0016_number_ranges")]

    operations = first_ranges.divide("swaps_swapstep", "id")
