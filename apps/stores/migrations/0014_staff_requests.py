"""Roles of staff, and what one of them asks for and another decides: what was asked never changes, and is decided once."""

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

GUARD = """
CREATE FUNCTION staff_request_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP IN ('DELETE', 'TRUNCATE') THEN
        RAISE EXCEPTION 'a staff request stays' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.digest <> encode(sha256(convert_to(NEW.content, 'UTF8')), 'hex') THEN
        RAISE EXCEPTION 'a staff request is bound to its content' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'pending' THEN
            RAISE EXCEPTION 'a staff request begins undecided' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.state <> 'pending' THEN
        RAISE EXCEPTION 'a staff request is decided once' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF (OLD.id, OLD.kind, OLD.target_id, OLD.name, OLD.content, OLD.digest, OLD.reason, OLD.asked_by_id, OLD.asked_at, OLD.expires_at)
       IS DISTINCT FROM
       (NEW.id, NEW.kind, NEW.target_id, NEW.name, NEW.content, NEW.digest, NEW.reason, NEW.asked_by_id, NEW.asked_at, NEW.expires_at)
    THEN
        RAISE EXCEPTION 'what was asked never changes' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER staff_request_guarded BEFORE INSERT OR UPDATE OR DELETE ON stores_staffrequest
    FOR EACH ROW EXECUTE FUNCTION staff_request_refuse_change();
CREATE TRIGGER staff_request_no_truncate BEFORE TRUNCATE ON stores_staffrequest
    FOR EACH STATEMENT EXECUTE FUNCTION staff_request_refuse_change();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0013_accountants'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='StaffRequest',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=20)),
                ('target_id', models.CharField(max_length=100)),
                ('name', models.CharField(max_length=200)),
                ('content', models.TextField()),
                ('digest', models.CharField(max_length=64)),
                ('sealed', models.TextField(blank=True)),
                ('reason', models.CharField(max_length=500)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('approved', 'Approved'), ('rejected', 'Rejected'), ('expired', 'Expired')], default='pending', max_length=8)),
                ('asked_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField(null=True)),
                ('decision_reason', models.CharField(blank=True, max_length=500)),
            ],
        ),
        migrations.AddField(
            model_name='user',
            name='staff_roles',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('support', 'Support'), ('finance', 'Finance'), ('admin', 'Admin')], max_length=7), blank=True, db_default=[], default=list, size=None),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('staff_roles', []), ('is_staff', True), _connector='OR'), name='user_with_staff_roles_is_staff'),
        ),
        migrations.AddField(
            model_name='staffrequest',
            name='asked_by',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='staffrequest',
            name='decided_by',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='staffrequest',
            index=models.Index(fields=['kind', 'target_id'], name='staff_request_of_target'),
        ),
        migrations.AddConstraint(
            model_name='staffrequest',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='staff_request_has_reason'),
        ),
        migrations.AddConstraint(
            model_name='staffrequest',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'approved'), _negated=True), models.Q(('decided_at__lt', models.F('expires_at')), ('decided_by__isnull', False), models.Q(('decided_by', models.F('asked_by')), _negated=True)), _connector='OR'), name='staff_request_takes_two'),
        ),
        migrations.AddConstraint(
            model_name='staffrequest',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('decided_at', None), ('decided_by', None), ('state', 'pending')), models.Q(models.Q(('state', 'pending'), _negated=True), ('decided_at__isnull', False)), _connector='OR'), name='staff_request_decided'),
        ),
        migrations.AddConstraint(
            model_name='staffrequest',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'pending')), fields=('kind', 'target_id'), name='staff_request_one_waits'),
        ),
        migrations.RunSQL(
            GUARD,
            "DROP TRIGGER staff_request_guarded ON stores_staffrequest; DROP TRIGGER staff_request_no_truncate ON stores_staffrequest; "
            "DROP FUNCTION staff_request_refuse_change()",
        ),
    ]
