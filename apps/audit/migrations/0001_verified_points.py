"""The points up to which everything was verified. Nobody changes or deletes one."""

import django.db.models.deletion
from django.db import migrations, models

GUARD = [
    r"""CREATE FUNCTION audit_refuse_change_of_point() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'verified points are append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;""",
    r"""CREATE TRIGGER point_append_only BEFORE DELETE OR UPDATE ON audit_verifiedpoint FOR EACH ROW EXECUTE FUNCTION audit_refuse_change_of_point();""",
    r"""CREATE TRIGGER point_no_truncate BEFORE TRUNCATE ON audit_verifiedpoint FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change_of_point();""",
]


class Migration(migrations.Migration):

    initial = True

    dependencies = []

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='VerifiedPoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('verified_at', models.DateTimeField()),
                ('boundary_xid', models.BigIntegerField()),
                ('database_name', models.CharField(max_length=60)),
                ('row_counts', models.JSONField()),
                ('is_whole', models.BooleanField()),
                ('is_with_chain', models.BooleanField()),
                ('audit_seal', models.CharField(blank=True, max_length=90)),
                ('payment_seal', models.CharField(blank=True, max_length=90)),
                ('verified_by', models.CharField(max_length=255)),
                ('took_ms', models.BigIntegerField()),
                ('since', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.verifiedpoint')),
            ],
        ),
        migrations.RunSQL(GUARD, "DROP FUNCTION audit_refuse_change_of_point() CASCADE"),
    ]
