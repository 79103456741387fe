"""Lines of swaps' histories so far end at a number
that isn't reached before the migrations that follow have run."""

from django.db import migrations

from apps.core.db import first_ranges


class Migration(migrations.Migration):
    dependencies = [("swaps", "0005_one_index_of_values")]

    operations = first_ranges.bound("swaps_swapstep", "id")
