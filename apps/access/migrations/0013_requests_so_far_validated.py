"""Read while others write, so that the next migration needs to read nothing."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ('access', '0012_requests_so_far'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL('ALTER TABLE access_requestentry VALIDATE CONSTRAINT request_so_far', migrations.RunSQL.noop),
    ]
