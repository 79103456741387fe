"""An index whose columns begin another one of the same rows answered nothing that the other doesn't, and
each write kept it."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0013_days_of_tables'),
    ]

    operations = [
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS core_drawing_digest_1806c877_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS core_heartbeat_part_b37c2024_like', migrations.RunSQL.noop),
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS core_rowturn_job_3e87b226_like', migrations.RunSQL.noop),
    ]
