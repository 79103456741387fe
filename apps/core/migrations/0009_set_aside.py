"""Staff set aside what a job has given up, with a reason."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0008_sealed_apart'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='rowfailure',
            name='set_aside_reason',
            field=models.CharField(blank=True, db_default='', default='', max_length=500),
        ),
    ]
