"""Marks of a deposit that is kept apart (late, counted), and when a payment that was given more time would have
ended."""

from django.db import migrations, models

from django.contrib.postgres.operations import AddConstraintNotValid


class Migration(migrations.Migration):
    dependencies = [
        ('payments', '0011_no_age_of_blocks'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='latedeposit',
            name='is_counted',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='latedeposit',
            name='is_late',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name='payment',
            name='first_expires_at',
            field=models.DateTimeField(null=True),
        ),
        AddConstraintNotValid(
            model_name='latedeposit',
            constraint=models.CheckConstraint(
                condition=models.Q(('is_counted', False), ('accepted_at__isnull', False), _connector='OR'),
                name='late_deposit_counts_once_accepted',
            ),
        ),
        AddConstraintNotValid(
            model_name='payment',
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ('first_expires_at', None), ('first_expires_at__lt', models.F('expires_at')), _connector='OR'
                ),
                name='payment_is_extended_forward',
            ),
        ),
    ]
