"""The rule of the migration before holds for what there is."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ('payments', '0019_extended_within_limits'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        ValidateConstraint(model_name='payment', name='payment_is_extended_within_limits'),
    ]
