"""The model has the glossary's name; its table keeps the one that it was made with."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0009_searched_requests'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterModelTable(name='coolingsettings', table='access_coolingsettings'),
        migrations.RenameModel(old_name='CoolingSettings', new_name='WaitingPeriodSettings'),
    ]
