"""The seller as registers and tax offices know it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0020_further_archives'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='store',
            name='legal_name',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddField(
            model_name='store',
            name='register_number',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
        migrations.AddField(
            model_name='store',
            name='vat_number',
            field=models.CharField(blank=True, db_default='', default='', max_length=20),
        ),
    ]
