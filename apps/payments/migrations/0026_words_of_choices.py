"""What the choices are called by people; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0025_due_only'),
    ]

    operations = [
        migrations.AlterField(
            model_name='refund',
            name='reason',
            field=models.CharField(choices=[('merchant_requested', 'Requested by the merchant'), ('failed_underpaid', 'Failed, underpaid'), ('failed_overpaid', 'Failed, overpaid')], max_length=18),
        ),
    ]
