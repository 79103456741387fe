"""When each part of the background work last showed that it runs."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0010_staff_lists'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('part', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
            ],
        ),
    ]
