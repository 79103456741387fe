"""The language in which a store writes to customers who chose none."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0023_person_region'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='store',
            name='customer_language',
            field=models.CharField(blank=True, db_default='', default='', max_length=10),
        ),
    ]
