"""Addresses of any family of networks: 128 characters in place of the 42 of EVM."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("onramp", "0001_squashed_0004_one_index_a_beginning")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="fundingsession",
            name="destination_address",
            field=models.CharField(db_collation='C', max_length=128),
        ),
    ]
