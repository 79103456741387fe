"""A payment that was given more time ends three days after it was made at the latest."""

import datetime

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0018_created_with'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        AddConstraintNotValid(
            model_name='payment',
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ('first_expires_at', None),
                    ('expires_at__lte', models.F('created_at') + datetime.timedelta(days=3)),
                    _connector='OR',
                ),
                name='payment_is_extended_within_limits',
            ),
        ),
    ]
