"""Whether a store offers customers a new quote when a payment has expired."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0020_staff_lists'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='store',
            name='offers_new_quotes',
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
