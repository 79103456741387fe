"""What the choices are called by people; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('onramp', '0002_held_open_assets'),
    ]

    operations = [
        migrations.AlterField(
            model_name='callback',
            name='verdict',
            field=models.CharField(choices=[('applied', 'Applied'), ('no_change', 'No change'), ('refused', 'Refused'), ('unknown', 'Unknown')], max_length=9),
        ),
        migrations.AlterField(
            model_name='sessionchange',
            name='source',
            field=models.CharField(choices=[('customer', 'Customer'), ('callback', 'Callback'), ('poll', 'Poll'), ('clock', 'Clock'), ('card_page', 'Card page')], max_length=9),
        ),
    ]
