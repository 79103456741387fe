"""The language that a customer chose."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('billing', '0008_staff_lists'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='customer',
            name='language',
            field=models.CharField(blank=True, db_default='', default='', max_length=10),
        ),
    ]
