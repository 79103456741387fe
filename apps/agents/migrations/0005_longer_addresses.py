"""Addresses of any family of networks: what refers to one is as long."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0004_elsewhere_was_named"),
        ("chain", "0022_longer_addresses"),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(
            'ALTER TABLE "agents_paymentoffer" ALTER COLUMN "pay_to_id"'
            ' TYPE varchar(128) COLLATE "C"',
            migrations.RunSQL.noop,
        ),
    ]
