"""Bodies of calls in the request log, masked. Calls from before have none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0009_fixed_search_path")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="requestentry",
            name="request_body",
            field=models.TextField(null=True),
        ),
        migrations.AddField(
            model_name="requestentry",
            name="response_body",
            field=models.TextField(null=True),
        ),
    ]
