import django.contrib.postgres.fields
from django.db import migrations, models

TRIGGERS = """
CREATE TRIGGER audit_seal_append_only BEFORE UPDATE OR DELETE ON stores_auditseal FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_seal_no_truncate BEFORE TRUNCATE ON stores_auditseal FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
"""
NO_TRIGGERS = """
DROP TRIGGER audit_seal_append_only ON stores_auditseal;
DROP TRIGGER audit_seal_no_truncate ON stores_auditseal;
"""


class Migration(migrations.Migration):
    """The seals over the audit log, which the database lets nobody change either."""

    dependencies = [("stores", "0008_verifications")]

    operations = [
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("sealed_at", models.DateTimeField()),
                ("entry_ids", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("previous", models.CharField(max_length=64)),
                ("seal", models.CharField(max_length=64)),
            ],
        ),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
    ]
