"""What staff read above the list of deliveries."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0006_staff_lists'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='delivery',
            options={'verbose_name_plural': 'deliveries'},
        ),
    ]
