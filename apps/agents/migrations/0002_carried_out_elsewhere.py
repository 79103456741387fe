"""Signed payments that somebody else's transaction has carried out."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0001_squashed_0007_one_index_a_beginning")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="signedpayment",
            name="is_elsewhere",
            field=models.BooleanField(default=False, db_default=False),
        ),
    ]
