"""Whoever was staff could do everything: they are finance and admin now, and nobody loses what they had."""

from django.db import migrations

STAFF = "UPDATE stores_user SET staff_roles = '{admin,finance}' WHERE is_staff AND staff_roles = '{}'"


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0014_staff_requests'),
    ]

    operations = [
        migrations.RunSQL(STAFF, migrations.RunSQL.noop),
    ]
