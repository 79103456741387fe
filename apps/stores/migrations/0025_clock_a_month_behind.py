"""A store that is filled with a past may begin a month back."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0024_customer_language'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RemoveConstraint(model_name='store', name='store_clock_never_behind'),
        migrations.AddConstraint(
            model_name='store',
            constraint=models.CheckConstraint(condition=models.Q(('test_offset_seconds__gte', -2678400)), name='store_clock_a_month_behind'),
        ),
    ]
