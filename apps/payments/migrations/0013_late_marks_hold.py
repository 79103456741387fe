"""The rules of the migration before hold for what there is."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ('payments', '0012_late_marks'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name='latedeposit', name='late_deposit_counts_once_accepted'),
        ValidateConstraint(model_name='payment', name='payment_is_extended_forward'),
    ]
