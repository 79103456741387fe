"""Checks of invoices and their lines hold for the rows from before."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("billing", "0011_taxes")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name="invoice", name="invoice_one_rate"),
        ValidateConstraint(model_name="invoice", name="invoice_supplied_forward"),
        ValidateConstraint(model_name="invoiceline", name="invoice_line_includes_a_part"),
        ValidateConstraint(model_name="invoiceline", name="invoice_line_rate_goes_with_category"),
    ]
