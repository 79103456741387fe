"""Everything until 0009_audit_seals in one step; what Django does not draw up stands below, as PostgreSQL told it."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import uuid
from decimal import Decimal
from django.conf import settings
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models

SQL = [
    r"""CREATE FUNCTION audit_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;""",
    r"""CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE ON stores_auditentry FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();""",
    r"""CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON stores_auditentry FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();""",
    r"""CREATE TRIGGER audit_seal_append_only BEFORE DELETE OR UPDATE ON stores_auditseal FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();""",
    r"""CREATE TRIGGER audit_seal_no_truncate BEFORE TRUNCATE ON stores_auditseal FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();""",
]


class Migration(migrations.Migration):

    replaces = [
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
                    'indexes': [models.Index(fields=['store_id', '-id'], name='audit_of_store')],
                },
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
                    ('payout_network_fee', models.CharField(choices=[('service', 'Service'), ('merchant', 'Merchant')], default='service', max_length=8)),
                    ('payout_review_threshold_cents', models.BigIntegerField(blank=True, null=True)),
                    ('review_new_destinations', models.BooleanField(default=False)),
                    ('platform_may_pay_out', models.BooleanField(default=False)),
                    ('card_funding_live', models.BooleanField(default=False)),
                    ('card_funding_test', models.BooleanField(default=False)),
                    ('authorization_provider', models.CharField(choices=[('none', 'None'), ('policy', 'Policy'), ('http', 'Http')], default='none', max_length=8)),
                    ('authorization_url', models.URLField(blank=True, max_length=2048)),
                    ('authorization_policy', models.JSONField(blank=True, default=dict)),
                    ('x402_dispatch', models.BooleanField(default=False)),
                    ('invoice_due_days', models.PositiveSmallIntegerField(default=7)),
                    ('platform', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Member',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('developer', 'Developer'), ('viewer', 'Viewer')], max_length=10)),
                    ('created_at', models.DateTimeField()),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='members', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('email', models.EmailField(max_length=254)),
                    ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('developer', 'Developer'), ('viewer', 'Viewer')], max_length=10)),
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
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.AddConstraint(
                model_name='user',
                constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_unique'),
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
                constraint=models.CheckConstraint(condition=models.Q(('test_offset_seconds__gte', 0)), name='store_clock_never_behind'),
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
