"""The phone number that German e-invoices name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('stores', '0021_seller'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='store',
            name='support_phone',
            field=models.CharField(blank=True, db_default='', default='', max_length=50),
        ),
    ]
