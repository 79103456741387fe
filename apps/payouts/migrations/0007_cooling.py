"""From when on a destination, a schedule or a list that a person named can be used; null: at once."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payouts', '0006_sealed_apart'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        *(
            migrations.AddField(
                model_name=name,
                name='usable_from',
                field=models.DateTimeField(blank=True, null=True),
            )
            for name in ('destination', 'schedule', 'payoutbatch')
        ),
    ]
