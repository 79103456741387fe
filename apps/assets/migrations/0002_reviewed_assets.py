"""Assets of stores that staff have looked at and keep stopped, and why."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assets", "0001_squashed_0005_one_index_a_beginning")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="acceptedasset",
            name="reviewed_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="acceptedasset",
            name="review_reason",
            field=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
    ]
