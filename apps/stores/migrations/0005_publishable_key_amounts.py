"""Tell whether publishable keys may name amounts in live mode: stores from before may."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('stores', '0004_merchants_counted'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='store',
            name='publishable_key_amounts',
            field=models.BooleanField(db_default=True, default=False),
        ),
    ]
