"""Read while others write, so that the next migration needs to read nothing."""

from django.db import migrations

from apps.core.db import first_ranges


class Migration(migrations.Migration):
    dependencies = [("payments", "0041_history_so_far")]

    operations = first_ranges.validate("payments_paymentevent")
