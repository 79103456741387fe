"""When a deposit was mined, by its block: whether it was on time."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chain', '0009_reorgs'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='deposit',
            name='mined_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
