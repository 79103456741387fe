"""Each outgoing transaction carries an approval. One that was asked for before and isn't signed yet waits for a person."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chain", "0012_indexes_of_caps")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            "outgoingtransaction", "approval", models.CharField(blank=True, db_collation="C", db_default="", default="", max_length=100)
        ),
    ]
