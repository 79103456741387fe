"""The amount of a notification, which its page shows beside the title."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('stores', '0013_way_of_selling'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='notification',
            name='amount',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
    ]
