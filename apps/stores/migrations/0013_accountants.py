"""Accountants: who sees the money and the books, and nothing of the developers."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0012_cooling'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='invitation',
            name='role',
            field=models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('developer', 'Developer'), ('viewer', 'Viewer'), ('accountant', 'Accountant')], max_length=10),
        ),
        migrations.AlterField(
            model_name='member',
            name='role',
            field=models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('developer', 'Developer'), ('viewer', 'Viewer'), ('accountant', 'Accountant')], max_length=10),
        ),
    ]
