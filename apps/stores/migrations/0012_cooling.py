"""How long what people name in live mode cools, and a shorter time that is to come."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0011_test_clock_target'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='store',
            name='cooling_hours',
            field=models.PositiveSmallIntegerField(db_default=24, default=24),
        ),
        migrations.AddField(
            model_name='store',
            name='cooling_hours_next',
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='store',
            name='cooling_hours_next_from',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name='store',
            constraint=models.CheckConstraint(
                condition=models.Q(cooling_hours__lte=72) & (models.Q(cooling_hours_next=None) | models.Q(cooling_hours_next__lte=72)),
                name='store_cooling_is_short',
            ),
        ),
    ]
