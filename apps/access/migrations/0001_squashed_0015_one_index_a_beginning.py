"""Everything until 0015_one_index_a_beginning in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import oauth2_provider.generators
import oauth2_provider.models
import uuid
from apps.core.db.first_tables import FirstTables
from django.conf import settings
from django.db import migrations, models

SQL = [
    # The request log by days: the first partition ends eight days from now, and further days are made ahead (apps/core/db/partitions.py).
    r"""CREATE TABLE access_requestentry (
    id uuid NOT NULL,
    mode character varying(4) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    method character varying(7) NOT NULL,
    route character varying(100) NOT NULL,
    path character varying(200) NOT NULL,
    status smallint NOT NULL,
    credential_kind character varying(11) NOT NULL,
    credential_id uuid,
    credential_name character varying(255) NOT NULL,
    caller character varying(64) NOT NULL,
    request_id character varying(64) NOT NULL,
    duration_ms integer NOT NULL,
    idempotency_key character varying(255) NOT NULL,
    is_replay boolean NOT NULL,
    body_digest bytea,
    error_code character varying(64) NOT NULL,
    error_message character varying(200) NOT NULL,
    store_id uuid NOT NULL,
    CONSTRAINT access_requestentry_duration_ms_check CHECK ((duration_ms >= 0)),
    CONSTRAINT access_requestentry_status_check CHECK ((status >= 0))
)
PARTITION BY RANGE (created_at);""",
    r"""ALTER TABLE access_requestentry ADD CONSTRAINT access_requestentry_pkey PRIMARY KEY (id, created_at);""",
    r"""CREATE INDEX request_by_age ON access_requestentry USING brin (created_at);""",
    r"""CREATE INDEX request_by_id ON access_requestentry USING btree (store_id, request_id);""",
    r"""CREATE INDEX request_by_key ON access_requestentry USING btree (store_id, idempotency_key) WHERE (NOT ((idempotency_key)::text = ''::text));""",
    r"""CREATE INDEX request_of_store ON access_requestentry USING btree (store_id, mode, created_at DESC);""",
    r"""ALTER TABLE access_requestentry ADD CONSTRAINT access_requestentry_store_id_fecc3e0c_fk_stores_store_id FOREIGN KEY (store_id) REFERENCES stores_store(id) DEFERRABLE INITIALLY DEFERRED;""",
    r"""DO $$ BEGIN
    EXECUTE format('CREATE TABLE access_requestentry_first PARTITION OF access_requestentry'
        ' FOR VALUES FROM (MINVALUE) TO (%L)', date_trunc('day', now(), 'UTC') + interval '8 days');
END $$;""",
    # As databases have them that were there before the table was divided.
    r"""ALTER INDEX access_requestentry_first_created_at_idx RENAME TO request_by_age_first;""",
    r"""ALTER INDEX access_requestentry_first_store_id_request_id_idx RENAME TO request_by_id_first;""",
    r"""ALTER INDEX access_requestentry_first_store_id_idempotency_key_idx RENAME TO request_by_key_first;""",
    r"""ALTER INDEX access_requestentry_first_store_id_mode_created_at_idx RENAME TO request_of_store_first;""",
    r"""CREATE TABLE access_requestentry_rest PARTITION OF access_requestentry DEFAULT;""",
    # Who asks is looked up before any scope is known: these two find one credential by its hash, whoever's it is.
    # They name what they use in full, so that they need no search path of their own.
    r"""CREATE FUNCTION access_agentcredential_by_hash(p_hash bytea) RETURNS SETOF access_agentcredential
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
    AS $$
BEGIN
    RETURN QUERY SELECT * FROM public.access_agentcredential WHERE secret_hash OPERATOR(pg_catalog.=) p_hash;
END $$;""",
    r"""CREATE FUNCTION access_apikey_by_hash(p_hash bytea) RETURNS SETOF access_apikey
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
    AS $$
BEGIN
    RETURN QUERY SELECT * FROM public.access_apikey WHERE secret_hash OPERATOR(pg_catalog.=) p_hash;
END $$;""",
]


class Migration(migrations.Migration):

    replaces = [
        ('access', '0001_squashed_0007_token_use'),
        ('access', '0002_makers'),
        ('access', '0003_makers_of_before'),
        ('access', '0004_credentials_by_hash'),
        ('access', '0005_credentials_by_hash_in_full'),
        ('access', '0006_known_browsers'),
        ('access', '0007_cooling_settings'),
        ('access', '0008_copied_cooling_settings'),
        ('access', '0009_searched_requests'),
        ('access', '0010_waiting_period_settings'),
        ('access', '0011_request_of_a_time'),
        ('access', '0012_requests_so_far'),
        ('access', '0013_requests_so_far_validated'),
        ('access', '0014_requests_by_day'),
        ('access', '0015_one_index_a_beginning'),
    ]

    replaced_earlier = [
        ('access', '0001_initial'),
        ('access', '0002_initial'),
        ('access', '0003_second_factors'),
        ('access', '0004_oauth'),
        ('access', '0005_request_log'),
        ('access', '0006_sign_ins'),
        ('access', '0007_token_use'),
    ]

    dependencies = [
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='Application',
                fields=[
                    ('client_id', models.CharField(db_index=True, default=oauth2_provider.generators.generate_client_id, max_length=255, unique=True, verbose_name='client ID')),
                    ('redirect_uris', models.TextField(blank=True, help_text='Allowed URIs list, space separated', verbose_name='redirect URIs')),
                    ('post_logout_redirect_uris', models.TextField(blank=True, default='', help_text='Allowed Post Logout URIs list, space separated', verbose_name='post logout redirect URIs')),
                    ('client_type', models.CharField(choices=[('confidential', 'Confidential'), ('public', 'Public')], max_length=32, verbose_name='client type')),
                    ('authorization_grant_type', models.CharField(choices=[('authorization-code', 'Authorization code'), ('urn:ietf:params:oauth:grant-type:device_code', 'Device Code'), ('implicit', 'Implicit'), ('password', 'Resource owner password-based'), ('client-credentials', 'Client credentials'), ('openid-hybrid', 'OpenID connect hybrid')], max_length=44, verbose_name='authorization grant type')),
                    ('client_secret', oauth2_provider.models.ClientSecretField(blank=True, db_index=True, default=oauth2_provider.generators.generate_client_secret, help_text='Client secret for authentication', max_length=255, verbose_name='client secret')),
                    ('hash_client_secret', models.BooleanField(default=True, verbose_name='hash client secret')),
                    ('name', models.CharField(blank=True, max_length=255, verbose_name='name')),
                    ('skip_authorization', models.BooleanField(default=False, verbose_name='skip authorization')),
                    ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                    ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                    ('algorithm', models.CharField(blank=True, choices=[('', 'No OIDC support'), ('RS256', 'RSA with SHA-2 256'), ('HS256', 'HMAC with SHA-2 256')], default='', max_length=5, verbose_name='algorithm')),
                    ('allowed_origins', models.TextField(blank=True, default='', help_text='Allowed origins list to enable CORS, space separated', verbose_name='allowed origins')),
                    ('registration_source', models.CharField(choices=[('manual', 'Manual'), ('dcr', 'Dynamic Client Registration'), ('cimd', 'Client ID Metadata Document')], default='manual', help_text='How this application was registered (manual, DCR per RFC 7591, or CIMD)', max_length=32, verbose_name='registration source')),
                    ('cimd_expires_at', models.DateTimeField(blank=True, default=None, help_text='When the cached Client ID Metadata Document should be re-fetched', null=True, verbose_name='CIMD expires at')),
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('website_url', models.CharField(blank=True, max_length=2048)),
                    ('logo_url', models.CharField(blank=True, max_length=2048)),
                    ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), default=list, size=None)),
                    ('is_active', models.BooleanField(default=True)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Grant',
                fields=[
                    ('id', models.BigAutoField(primary_key=True, serialize=False)),
                    ('code', models.CharField(max_length=255, unique=True, verbose_name='code')),
                    ('expires', models.DateTimeField(verbose_name='expires')),
                    ('redirect_uri', models.TextField(verbose_name='redirect URI')),
                    ('scope', models.TextField(blank=True, verbose_name='scope')),
                    ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                    ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                    ('code_challenge', models.CharField(blank=True, default='', max_length=128, verbose_name='code challenge')),
                    ('code_challenge_method', models.CharField(blank=True, choices=[('plain', 'plain'), ('S256', 'S256')], default='', max_length=10, verbose_name='code challenge method')),
                    ('nonce', models.CharField(blank=True, default='', max_length=255, verbose_name='nonce')),
                    ('claims', models.TextField(blank=True, verbose_name='claims')),
                    ('resource', oauth2_provider.models.ResourceJSONField(blank=True, default=list, verbose_name='resource')),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('token_family', models.UUIDField(default=uuid.uuid4, editable=False)),
                    ('used_at', models.DateTimeField(null=True)),
                    ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL, verbose_name='application')),
                    ('store', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='IDToken',
                fields=[
                    ('id', models.BigAutoField(primary_key=True, serialize=False)),
                    ('jti', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='JWT Token ID')),
                    ('expires', models.DateTimeField(verbose_name='expires')),
                    ('scope', models.TextField(blank=True, verbose_name='scope')),
                    ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                    ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                    ('application', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL, verbose_name='application')),
                    ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='AccessToken',
                fields=[
                    ('id', models.BigAutoField(primary_key=True, serialize=False)),
                    ('token', models.TextField(verbose_name='token')),
                    ('token_checksum', oauth2_provider.models.TokenChecksumField(db_index=True, max_length=64, unique=True, verbose_name='token checksum')),
                    ('expires', models.DateTimeField(verbose_name='expires')),
                    ('scope', models.TextField(blank=True, verbose_name='scope')),
                    ('resource', oauth2_provider.models.ResourceJSONField(blank=True, default=list, verbose_name='resource')),
                    ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                    ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('token_family', models.UUIDField(db_index=True, editable=False)),
                    ('revoked_at', models.DateTimeField(null=True)),
                    ('last_used_at', models.DateTimeField(null=True)),
                    ('store', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('application', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL, verbose_name='application')),
                    ('id_token', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='access_token', to=settings.OAUTH2_PROVIDER_ID_TOKEN_MODEL, verbose_name='ID token')),
                ],
            ),
            migrations.CreateModel(
                name='RefreshToken',
                fields=[
                    ('id', models.BigAutoField(primary_key=True, serialize=False)),
                    ('token', models.TextField(verbose_name='token')),
                    ('token_checksum', oauth2_provider.models.TokenChecksumField(max_length=64, verbose_name='token checksum')),
                    ('token_family', models.UUIDField(blank=True, editable=False, null=True, verbose_name='token family')),
                    ('resource', oauth2_provider.models.ResourceJSONField(blank=True, default=list, verbose_name='resource')),
                    ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                    ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                    ('revoked', models.DateTimeField(null=True, verbose_name='revoked')),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('scope', models.TextField(blank=True)),
                    ('expires_at', models.DateTimeField()),
                    ('replaced_at', models.DateTimeField(null=True)),
                    ('access_token', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='refresh_token', to=settings.OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL, verbose_name='access token')),
                    ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL, verbose_name='application')),
                    ('store', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.AddField(
                model_name='accesstoken',
                name='source_refresh_token',
                field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='refreshed_access_token', to=settings.OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL, verbose_name='source refresh token'),
            ),
            migrations.CreateModel(
                name='RequestEntry',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('method', models.CharField(max_length=7)),
                    ('route', models.CharField(max_length=100)),
                    ('path', models.CharField(max_length=200)),
                    ('status', models.PositiveSmallIntegerField()),
                    ('credential_kind', models.CharField(max_length=11)),
                    ('credential_id', models.UUIDField(null=True)),
                    ('credential_name', models.CharField(max_length=255)),
                    ('caller', models.CharField(max_length=64)),
                    ('request_id', models.CharField(max_length=64)),
                    ('duration_ms', models.PositiveIntegerField()),
                    ('idempotency_key', models.CharField(blank=True, max_length=255)),
                    ('is_replay', models.BooleanField()),
                    ('body_digest', models.BinaryField(max_length=32, null=True)),
                    ('error_code', models.CharField(blank=True, max_length=64)),
                    ('error_message', models.CharField(blank=True, max_length=200)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
                options={
                    'verbose_name_plural': 'request entries',
                },
            ),
            migrations.CreateModel(
                name='SecondFactor',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='The human-readable name of this device.', max_length=64)),
                    ('confirmed', models.BooleanField(default=True, help_text='Is this device ready for use?')),
                    ('throttling_failure_timestamp', models.DateTimeField(blank=True, default=None, help_text='A timestamp of the last failed verification attempt. Null if last attempt succeeded.', null=True)),
                    ('throttling_failure_count', models.PositiveIntegerField(default=0, help_text='Number of successive failed attempts.')),
                    ('sealed_key', models.TextField()),
                    ('sealed_backup_codes', models.TextField(blank=True)),
                    ('last_step', models.BigIntegerField(default=-1)),
                    ('created_at', models.DateTimeField()),
                    ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='SignIn',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('began_at', models.DateTimeField()),
                    ('seen_at', models.DateTimeField()),
                    ('address', models.CharField(blank=True, max_length=64)),
                    ('browser', models.CharField(blank=True, max_length=300)),
                    ('session_version', models.PositiveIntegerField()),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='WaitingPeriodSettings',
                fields=[
                    ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='stores.store')),
                    ('cooling_hours', models.PositiveSmallIntegerField(db_default=24, default=24)),
                    ('cooling_hours_next', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('cooling_hours_next_from', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'db_table': 'access_coolingsettings',
                    'constraints': [models.CheckConstraint(condition=models.Q(('cooling_hours__lte', 72), models.Q(('cooling_hours_next', None), ('cooling_hours_next__lte', 72), _connector='OR')), name='cooling_is_short')],
                },
            ),
            migrations.CreateModel(
                name='ApiKey',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('name', models.CharField(blank=True, max_length=100)),
                    ('key_type', models.CharField(choices=[('secret', 'Secret'), ('publishable', 'Publishable')], default='secret', max_length=11)),
                    ('secret_hash', models.BinaryField(max_length=32, unique=True)),
                    ('prefix', models.CharField(max_length=12)),
                    ('last_four', models.CharField(max_length=4)),
                    ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), default=list, size=None)),
                    ('last_used_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['store', 'mode', '-created_at'], name='access_apik_store_i_c80e81_idx')],
                },
            ),
            migrations.CreateModel(
                name='AgentCredential',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('name', models.CharField(blank=True, max_length=100)),
                    ('principal', models.CharField(blank=True, max_length=255)),
                    ('secret_hash', models.BinaryField(max_length=32, unique=True)),
                    ('token_prefix', models.CharField(max_length=16)),
                    ('last_four', models.CharField(max_length=4)),
                    ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), default=list, size=None)),
                    ('last_used_at', models.DateTimeField(blank=True, null=True)),
                    ('expires_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('application', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['store', 'mode', '-created_at'], name='access_agen_store_i_d3974a_idx')],
                    'constraints': [models.UniqueConstraint(fields=('application', 'user', 'store', 'mode'), name='agent_credential_of_an_app')],
                },
            ),
            migrations.CreateModel(
                name='DeviceGrant',
                fields=[
                    ('id', models.BigAutoField(primary_key=True, serialize=False)),
                    ('device_code', models.CharField(max_length=100, verbose_name='device code')),
                    ('user_code', models.CharField(max_length=100, verbose_name='user code')),
                    ('scope', models.TextField(blank=True, verbose_name='scope')),
                    ('interval', models.IntegerField(default=5, verbose_name='interval')),
                    ('expires', models.DateTimeField(verbose_name='expires')),
                    ('status', models.CharField(blank=True, choices=[('authorized', 'Authorized'), ('authorization-pending', 'Authorization pending'), ('expired', 'Expired'), ('denied', 'Denied')], default='authorization-pending', max_length=64, verbose_name='status')),
                    ('client_id', models.CharField(db_index=True, max_length=100, verbose_name='client ID')),
                    ('last_checked', models.DateTimeField(auto_now=True, verbose_name='last checked')),
                    ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                    'constraints': [models.UniqueConstraint(fields=('device_code',), name='access_devicegrant_unique_device_code')],
                },
            ),
            migrations.CreateModel(
                name='KnownBrowser',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('seen_at', models.DateTimeField()),
                    ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['seen_at'], name='known_browser_by_age')],
                    'constraints': [models.UniqueConstraint(fields=('user', 'digest'), name='known_browser_once')],
                },
            ),
            migrations.AddIndex(
                model_name='refreshtoken',
                index=models.Index(fields=['token_family'], name='access_refr_token_f_c85feb_idx'),
            ),
            migrations.AlterUniqueTogether(
                name='refreshtoken',
                unique_together={('token_checksum', 'revoked')},
            ),
            migrations.AddIndex(
                model_name='accesstoken',
                index=models.Index(fields=['application', 'store', 'mode'], name='access_acce_applica_a0c993_idx'),
            ),
            migrations.AddIndex(
                model_name='requestentry',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='request_of_store'),
            ),
            migrations.AddIndex(
                model_name='requestentry',
                index=models.Index(condition=models.Q(('idempotency_key', ''), _negated=True), fields=['store', 'idempotency_key'], name='request_by_key'),
            ),
            migrations.AddIndex(
                model_name='requestentry',
                index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='request_by_age'),
            ),
            migrations.AddIndex(
                model_name='requestentry',
                index=models.Index(fields=['store', 'request_id'], name='request_by_id'),
            ),
            migrations.AddIndex(
                model_name='signin',
                index=models.Index(fields=['user', '-seen_at'], name='sign_in_of_user'),
            ),
        ], by_sql=['RequestEntry']),
        migrations.RunSQL(SQL),
    ]
