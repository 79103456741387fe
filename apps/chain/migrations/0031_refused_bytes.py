"""How often nodes have refused what was signed, and why."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chain', '0030_joined_coins'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='signedtransaction',
            name='refused_count',
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='signedtransaction',
            name='refusal',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
    ]
