"""Hosts that have answered 2xx, and the host of each endpoint; who was answered before is known."""

from django.db import migrations, models

HOST = "rtrim(lower(substring(%(expressions)s from '://([[][^]]*[]]|[^/?#:]+)')), '.')"
KNOWN = """
INSERT INTO webhooks_host (name, answered_at)
SELECT host, min(verified_at) FROM webhooks_endpoint WHERE verified_at IS NOT NULL AND host IS NOT NULL GROUP BY host
"""


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0010_email_key'),
        ('webhooks', '0003_by_age'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='Host',
            fields=[
                ('name', models.TextField(primary_key=True, serialize=False)),
                ('answered_at', models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name='endpoint',
            name='host',
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Func('url', output_field=models.TextField(), template=HOST),
                output_field=models.TextField(),
            ),
        ),
        migrations.AddIndex(
            model_name='endpoint',
            index=models.Index(fields=['host'], name='endpoint_of_host'),
        ),
        migrations.RunSQL(KNOWN, migrations.RunSQL.noop),
    ]
