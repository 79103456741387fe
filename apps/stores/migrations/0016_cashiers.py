"""Members may be cashiers, who charge at the point of sale and see nothing else."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0015_time_zone'),
    ]

    operations = [
        migrations.AlterField(
            model_name='invitation',
            name='role',
            field=models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('developer', 'Developer'), ('viewer', 'Viewer'), ('accountant', 'Accountant'), ('cashier', 'Cashier')], max_length=10),
        ),
        migrations.AlterField(
            model_name='member',
            name='role',
            field=models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('developer', 'Developer'), ('viewer', 'Viewer'), ('accountant', 'Accountant'), ('cashier', 'Cashier')], max_length=10),
        ),
    ]
