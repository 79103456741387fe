"""The reason of a held refund whose sender pays for many people."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0016_indexes_of_held_refunds'),
    ]

    operations = [
        migrations.AlterField(
            model_name='heldrefund',
            name='why',
            field=models.CharField(blank=True, choices=[('contract', 'A smart contract sent it'), ('unproven', 'Nothing shows whose address sent it'), ('nobody', 'Its sender can’t be traced'), ('ours', 'It came from an address of this service'), ('shared', 'A wallet that pays for many people sent it'), ('refused', 'The address that paid doesn’t accept it')], default='', max_length=8),
        ),
    ]
