"""What the choices are called by people; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0003_staff_lists'),
    ]

    operations = [
        migrations.AlterField(
            model_name='asset',
            name='token_standard',
            field=models.CharField(choices=[('Native', 'Native'), ('ERC20', 'ERC-20')], max_length=6),
        ),
    ]
