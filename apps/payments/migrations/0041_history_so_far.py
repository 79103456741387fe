"""Lines of payments' histories so far end at a number
that isn't reached before the migrations that follow have run."""

from django.db import migrations

from apps.core.db import first_ranges


class Migration(migrations.Migration):
    dependencies = [("payments", "0040_read_by_indexes_alone")]

    operations = first_ranges.bound("payments_paymentevent", "sequence")
