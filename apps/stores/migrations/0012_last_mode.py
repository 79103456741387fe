"""The mode that a member chose last in the store's dashboard."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('stores', '0011_fixed_search_path'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='member',
            name='last_mode',
            field=models.CharField(blank=True, db_default='', default='', max_length=4),
        ),
    ]
