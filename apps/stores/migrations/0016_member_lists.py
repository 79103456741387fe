"""How a member has set up the lists of the store: columns and saved filters."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0015_staff_of_before'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='member',
            name='lists',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
    ]
