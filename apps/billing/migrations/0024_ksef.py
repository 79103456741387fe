"""Deliveries through KSeF: what finds a document there, and its number and receipt; the token of
the seller."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('billing', '0023_series_of_all')]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='einvoicedelivery',
            name='trace',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
        migrations.AddField(
            model_name='einvoicedelivery',
            name='number',
            field=models.CharField(blank=True, db_default='', default='', max_length=50),
        ),
        migrations.AddField(
            model_name='einvoicedelivery',
            name='receipt',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AlterField(
            model_name='einvoicedelivery',
            name='network',
            field=models.CharField(choices=[('peppol', 'Peppol'), ('ksef', 'KSeF')], max_length=10),
        ),
        migrations.AddField(
            model_name='taxsettings',
            name='sealed_ksef_token',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
    ]
