"""A store's settings of invoices, in a row of this app; 0011 copies what stores have."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('billing', '0009_customer_language'),
        ('stores', '0025_clock_a_month_behind'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='InvoiceSettings',
            fields=[
                ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='stores.store')),
                ('invoice_due_days', models.PositiveSmallIntegerField(default=7)),
            ],
            options={
                'abstract': False,
            },
        ),
    ]
