"""One index a beginning: nobody searches for the beginning of a sale's token."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('links', '0005_sales'),
    ]

    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS links_sale_token_32909264_like",
            migrations.RunSQL.noop,
        )
    ]
