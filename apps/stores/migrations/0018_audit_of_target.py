"""The lines of the audit log about one row are found by it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0017_people_and_sellers'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(
                condition=models.Q(('target_id', ''), _negated=True),
                fields=['target_id'],
                name='audit_of_target',
            ),
        ),
    ]
