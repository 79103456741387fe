"""From when on a credential may send coins to addresses that its store doesn't know. Credentials of before may."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0007_successor_seed")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="apikey",
            name="sends_anywhere_from",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="agentcredential",
            name="sends_anywhere_from",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="grant",
            name="sends_anywhere_from",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="accesstoken",
            name="sends_anywhere_from",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="refreshtoken",
            name="sends_anywhere_from",
            field=models.DateTimeField(null=True),
        ),
    ]
