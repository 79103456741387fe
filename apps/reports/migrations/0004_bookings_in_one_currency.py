"""Values of entries in the ledger's currency; the sums are added up again by their job."""

import apps.core.models
from django.db import migrations, models

# A place in no currency is behind every entry, and its account is summed anew by the job.
FORGET = "UPDATE reports_hourlybookingplace SET currency = ''"


class Migration(migrations.Migration):
    dependencies = [("reports", "0003_bookings_valued_anew")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="hourlybooking",
            name="book_cents",
            field=apps.core.models.OptionalAtomicField(null=True),
        ),
        migrations.AddField(
            model_name="hourlybooking",
            name="book_fee_cents",
            field=apps.core.models.OptionalAtomicField(null=True),
        ),
        migrations.AddField(
            model_name="hourlybooking",
            name="book_unvalued",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.RunSQL(FORGET, migrations.RunSQL.noop),
    ]
