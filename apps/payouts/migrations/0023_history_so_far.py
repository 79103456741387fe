"""Lines of payouts' histories so far end at a number
that isn't reached before the migrations that follow have run."""

from django.db import migrations

from apps.core.db import first_ranges


class Migration(migrations.Migration):
    dependencies = [("payouts", "0022_newest_of_an_agent")]

    operations = first_ranges.bound("payouts_payouttransition", "id")
