"""Everything until 0028_one_index_a_beginning in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.text
import uuid
from apps.core.db.first_tables import FirstTables
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models

SQL = [
    r"""ALTER TABLE stores_user RENAME CONSTRAINT stores_user_email_key_key TO stores_user_email_key_0745a59d_uniq;""",
    r"""CREATE FUNCTION audit_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;""",
    # What was asked of a second person never changes, and is decided once.
    r"""CREATE FUNCTION staff_request_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
$$;""",
    r"""CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE ON stores_auditentry FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();""",
    r"""CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON stores_auditentry FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();""",
    r"""CREATE TRIGGER audit_seal_append_only BEFORE DELETE OR UPDATE ON stores_auditseal FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();""",
    r"""CREATE TRIGGER audit_seal_no_truncate BEFORE TRUNCATE ON stores_auditseal FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();""",
    r"""CREATE TRIGGER staff_request_guarded BEFORE INSERT OR DELETE OR UPDATE ON stores_staffrequest FOR EACH ROW EXECUTE FUNCTION staff_request_refuse_change();""",
    r"""CREATE TRIGGER staff_request_no_truncate BEFORE TRUNCATE ON stores_staffrequest FOR EACH STATEMENT EXECUTE FUNCTION staff_request_refuse_change();""",
]


class Migration(migrations.Migration):

    replaces = [
        ('stores', '0001_squashed_0009_audit_seals'),
        ('stores', '0010_email_key'),
        ('stores', '0011_test_clock_target'),
        ('stores', '0012_cooling'),
        ('stores', '0013_accountants'),
        ('stores', '0014_staff_requests'),
        ('stores', '0015_staff_of_before'),
        ('stores', '0016_member_lists'),
        ('stores', '0017_people_and_sellers'),
        ('stores', '0018_audit_of_target'),
        ('stores', '0019_notifications'),
        ('stores', '0020_staff_lists'),
        ('stores', '0021_new_quotes'),
        ('stores', '0022_verification_documents'),
        ('stores', '0023_person_region'),
        ('stores', '0024_customer_language'),
        ('stores', '0025_clock_a_month_behind'),
        ('stores', '0026_settings_of_apps'),
        ('stores', '0027_due_only'),
        ('stores', '0028_one_index_a_beginning'),
    ]

    replaced_earlier = [
        ('stores', '0001_initial'),
        ('stores', '0002_second_factors'),
        ('stores', '0003_logo_name'),
        ('stores', '0004_decisions_of_staff'),
        ('stores', '0005_audit_log'),
        ('stores', '0006_invitations'),
        ('stores', '0007_checkout_domain'),
        ('stores', '0008_verifications'),
        ('stores', '0009_audit_seals'),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='AuditSeal',
                fields=[
                    ('number', models.BigIntegerField(primary_key=True, serialize=False)),
                    ('sealed_at', models.DateTimeField()),
                    ('entry_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                    ('previous', models.CharField(max_length=64)),
                    ('seal', models.CharField(max_length=64)),
                ],
            ),
            migrations.CreateModel(
                name='User',
                fields=[
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('email', models.EmailField(max_length=254)),
                    ('name', models.CharField(blank=True, max_length=100)),
                    ('is_active', models.BooleanField(default=True)),
                    ('is_staff', models.BooleanField(default=False)),
                    ('session_version', models.PositiveIntegerField(default=0)),
                    ('email_key', models.CharField(editable=False, max_length=400, unique=True)),
                    ('staff_roles', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('support', 'Support'), ('finance', 'Finance'), ('admin', 'Admin')], max_length=7), blank=True, db_default=[], default=list, size=None)),
                    ('language', models.CharField(blank=True, db_default='', default='', max_length=10)),
                    ('time_zone', models.CharField(blank=True, db_default='', default='', max_length=64)),
                    ('region', models.CharField(blank=True, db_default='', default='', max_length=10)),
                    ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                    ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                ],
            ),
            migrations.CreateModel(
                name='AuditEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField()),
                    ('store_id', models.UUIDField(null=True)),
                    ('mode', models.CharField(blank=True, max_length=4)),
                    ('actor_kind', models.CharField(max_length=8)),
                    ('actor_id', models.CharField(blank=True, max_length=64)),
                    ('actor_name', models.CharField(blank=True, max_length=500)),
                    ('address', models.CharField(blank=True, max_length=64)),
                    ('request_id', models.CharField(blank=True, max_length=64)),
                    ('action', models.CharField(max_length=64)),
                    ('target_type', models.CharField(blank=True, max_length=64)),
                    ('target_id', models.CharField(blank=True, max_length=64)),
                    ('target_name', models.CharField(blank=True, max_length=500)),
                    ('reason', models.CharField(blank=True, max_length=500)),
                    ('details', models.JSONField(blank=True, default=dict)),
                ],
                options={
                    'verbose_name_plural': 'audit entries',
                    'indexes': [models.Index(fields=['store_id', '-id'], name='audit_of_store'), models.Index(condition=models.Q(('target_id', ''), _negated=True), fields=['target_id'], name='audit_of_target')],
                },
            ),
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
                    ('asked_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('decided_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='Store',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=100)),
                    ('country', models.CharField(blank=True, max_length=2)),
                    ('created_at', models.DateTimeField()),
                    ('deleted_at', models.DateTimeField(blank=True, null=True)),
                    ('settlement_currency', models.CharField(choices=[('USD', 'US Dollar'), ('EUR', 'Euro'), ('GBP', 'British Pound'), ('HKD', 'Hong Kong Dollar'), ('SGD', 'Singapore Dollar'), ('JPY', 'Japanese Yen'), ('DKK', 'Danish Krone'), ('CHF', 'Swiss Franc'), ('SEK', 'Swedish Krona'), ('NOK', 'Norwegian Krone')], default='EUR', max_length=3)),
                    ('accept_overpayments', models.BooleanField(default=True)),
                    ('accept_underpayments', models.BooleanField(default=False)),
                    ('underpayment_tolerance_bps', models.PositiveIntegerField(default=50)),
                    ('overpayment_tolerance_bps', models.PositiveIntegerField(default=100)),
                    ('customer_pays_fee', models.BooleanField(default=False)),
                    ('fee_fraction', models.DecimalField(decimal_places=8, default=Decimal('0.01'), max_digits=9)),
                    ('platform_fee_fraction', models.DecimalField(blank=True, decimal_places=8, max_digits=9, null=True)),
                    ('external_id', models.CharField(blank=True, max_length=255, null=True)),
                    ('is_platform', models.BooleanField(default=False)),
                    ('kyc_confirmed_at', models.DateTimeField(blank=True, null=True)),
                    ('support_email', models.EmailField(blank=True, max_length=254)),
                    ('brand_name', models.CharField(blank=True, max_length=100)),
                    ('logo_url', models.URLField(blank=True, max_length=2048)),
                    ('logo_name', models.CharField(blank=True, max_length=200)),
                    ('primary_color', models.CharField(blank=True, max_length=7)),
                    ('secondary_color', models.CharField(blank=True, max_length=7)),
                    ('remove_service_branding', models.BooleanField(default=False)),
                    ('checkout_domain', models.CharField(blank=True, max_length=253)),
                    ('checkout_domain_verified_at', models.DateTimeField(blank=True, null=True)),
                    ('checkout_domain_checked_at', models.DateTimeField(blank=True, null=True)),
                    ('checkout_domain_problem', models.CharField(blank=True, max_length=200)),
                    ('test_offset_seconds', models.BigIntegerField(default=0)),
                    ('card_funding_live', models.BooleanField(default=False)),
                    ('card_funding_test', models.BooleanField(default=False)),
                    ('test_clock_target_seconds', models.BigIntegerField(blank=True, null=True)),
                    ('city', models.CharField(blank=True, db_default='', default='', max_length=100)),
                    ('embed_origins', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), blank=True, db_default=[], default=list, size=None)),
                    ('postal_code', models.CharField(blank=True, db_default='', default='', max_length=20)),
                    ('street', models.CharField(blank=True, db_default='', default='', max_length=200)),
                    ('website', models.CharField(blank=True, db_default='', default='', max_length=2048)),
                    ('offers_new_quotes', models.BooleanField(db_default=True, default=True)),
                    ('customer_language', models.CharField(blank=True, db_default='', default='', max_length=10)),
                    ('platform', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='NotificationChoice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=30)),
                    ('choice', models.CharField(max_length=11)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Notification',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('kind', models.CharField(max_length=30)),
                    ('subject', models.CharField(max_length=100)),
                    ('title', models.CharField(max_length=200)),
                    ('text', models.CharField(blank=True, max_length=500)),
                    ('path', models.CharField(max_length=300)),
                    ('told_at', models.DateTimeField(null=True)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Member',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('developer', 'Developer'), ('viewer', 'Viewer'), ('accountant', 'Accountant')], max_length=10)),
                    ('created_at', models.DateTimeField()),
                    ('lists', models.JSONField(blank=True, db_default={}, default=dict)),
                    ('live_read_at', models.DateTimeField(blank=True, null=True)),
                    ('summary_due_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                    ('test_read_at', models.DateTimeField(blank=True, null=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='members', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('email', models.EmailField(max_length=254)),
                    ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('developer', 'Developer'), ('viewer', 'Viewer'), ('accountant', 'Accountant')], max_length=10)),
                    ('token_hash', models.BinaryField(max_length=32, unique=True)),
                    ('created_at', models.DateTimeField()),
                    ('sent_at', models.DateTimeField()),
                    ('expires_at', models.DateTimeField()),
                    ('accepted_at', models.DateTimeField(null=True)),
                    ('revoked_at', models.DateTimeField(null=True)),
                    ('invited_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Verification',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('approved', 'Approved'), ('rejected', 'Rejected')], default='pending', max_length=8)),
                    ('business_legal_name', models.CharField(max_length=200)),
                    ('business_country', models.CharField(max_length=2)),
                    ('registration_number', models.CharField(max_length=100, null=True)),
                    ('tax_id', models.CharField(max_length=100, null=True)),
                    ('business_website', models.CharField(max_length=2048, null=True)),
                    ('contact_email', models.CharField(max_length=254, null=True)),
                    ('contact_phone', models.CharField(max_length=50, null=True)),
                    ('business_description', models.CharField(max_length=5000, null=True)),
                    ('rejection_reason', models.CharField(max_length=500, null=True)),
                    ('submitted_at', models.DateTimeField()),
                    ('reviewed_at', models.DateTimeField(null=True)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('city', models.CharField(max_length=100, null=True)),
                    ('legal_form', models.CharField(max_length=100, null=True)),
                    ('postal_code', models.CharField(max_length=20, null=True)),
                    ('representative', models.CharField(max_length=200, null=True)),
                    ('street', models.CharField(max_length=200, null=True)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='VerificationDocument',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=100)),
                    ('kind', models.CharField(choices=[('pdf', 'PDF'), ('jpeg', 'JPEG'), ('png', 'PNG')], max_length=4)),
                    ('size_bytes', models.PositiveIntegerField()),
                    ('digest', models.CharField(max_length=64)),
                    ('file_name', models.CharField(max_length=200, unique=True)),
                    ('uploaded_at', models.DateTimeField()),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('verification', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.verification')),
                ],
            ),
            migrations.AddConstraint(
                model_name='user',
                constraint=models.CheckConstraint(condition=models.Q(('email_key', django.db.models.functions.text.Lower('email')), ('email__regex', '[^ -~]'), _connector='OR'), name='user_email_key_is_of_email'),
            ),
            migrations.AddConstraint(
                model_name='user',
                constraint=models.CheckConstraint(condition=models.Q(('staff_roles', []), ('is_staff', True), _connector='OR'), name='user_with_staff_roles_is_staff'),
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
            migrations.AddIndex(
                model_name='store',
                index=models.Index(fields=['name'], name='store_by_name'),
            ),
            migrations.AddIndex(
                model_name='store',
                index=models.Index(fields=['-created_at'], name='store_newest'),
            ),
            migrations.AddIndex(
                model_name='store',
                index=models.Index(condition=models.Q(('test_offset_seconds__gt', 0)), fields=['id'], name='store_with_clock_ahead'),
            ),
            migrations.AddConstraint(
                model_name='store',
                constraint=models.CheckConstraint(condition=models.Q(('fee_fraction__gte', 0), ('fee_fraction__lt', 1)), name='store_fee_is_fraction'),
            ),
            migrations.AddConstraint(
                model_name='store',
                constraint=models.CheckConstraint(condition=models.Q(('overpayment_tolerance_bps__lte', 10000), ('underpayment_tolerance_bps__lte', 10000)), name='store_tolerances_are_bps'),
            ),
            migrations.AddConstraint(
                model_name='store',
                constraint=models.UniqueConstraint(condition=models.Q(('checkout_domain_verified_at__isnull', False)), fields=('checkout_domain',), name='store_domain_unique'),
            ),
            migrations.AddConstraint(
                model_name='store',
                constraint=models.UniqueConstraint(condition=models.Q(('external_id__isnull', False)), fields=('platform', 'external_id'), name='store_external_id_unique'),
            ),
            migrations.AddConstraint(
                model_name='store',
                constraint=models.CheckConstraint(condition=models.Q(('test_offset_seconds__gte', -2678400)), name='store_clock_a_month_behind'),
            ),
            migrations.AddConstraint(
                model_name='notificationchoice',
                constraint=models.UniqueConstraint(fields=('store', 'user', 'kind'), name='notification_choice_once'),
            ),
            migrations.AddIndex(
                model_name='notification',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='notification_of_store'),
            ),
            migrations.AddIndex(
                model_name='notification',
                index=models.Index(condition=models.Q(('told_at', None)), fields=['created_at'], name='notification_waiting'),
            ),
            migrations.AddIndex(
                model_name='notification',
                index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='notification_by_age'),
            ),
            migrations.AddConstraint(
                model_name='notification',
                constraint=models.UniqueConstraint(fields=('store', 'mode', 'kind', 'subject'), name='notification_once'),
            ),
            migrations.AddConstraint(
                model_name='member',
                constraint=models.UniqueConstraint(fields=('store', 'user'), name='member_once_per_store'),
            ),
            migrations.AddConstraint(
                model_name='invitation',
                constraint=models.UniqueConstraint(models.F('store'), django.db.models.functions.text.Lower('email'), condition=models.Q(('accepted_at', None), ('revoked_at', None)), name='invitation_once_per_store'),
            ),
            migrations.AddIndex(
                model_name='verification',
                index=models.Index(fields=['store', '-created_at'], name='verification_of_store'),
            ),
            migrations.AddConstraint(
                model_name='verification',
                constraint=models.UniqueConstraint(condition=models.Q(('status', 'pending')), fields=('store',), name='verification_one_pending'),
            ),
        ]),
        migrations.RunSQL(SQL),
    ]
