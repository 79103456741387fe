"""Tell whether a person sees notifications of a kind in the dashboard; null until they choose."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0001_squashed_0028_one_index_a_beginning")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="notificationchoice",
            name="is_shown",
            field=models.BooleanField(null=True),
        ),
    ]
