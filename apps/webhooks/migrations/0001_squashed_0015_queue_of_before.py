"""Everything until 0015_queue_of_before in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models

SQL = [
    # What waits, and what is under way, in a table of its own.
    r"""CREATE FUNCTION webhooks_keep_queue() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.status IN ('pending', 'attempting') THEN
        INSERT INTO webhooks_queueddelivery
            (delivery_id, endpoint_id, status, attempts, next_attempt_at, claimed_until)
        VALUES (NEW.id, NEW.endpoint_id, NEW.status, NEW.attempts, NEW.next_attempt_at,
            NEW.claimed_until)
        ON CONFLICT (delivery_id) DO UPDATE SET endpoint_id = EXCLUDED.endpoint_id,
            status = EXCLUDED.status, attempts = EXCLUDED.attempts,
            next_attempt_at = EXCLUDED.next_attempt_at, claimed_until = EXCLUDED.claimed_until;
    ELSE
        DELETE FROM webhooks_queueddelivery WHERE delivery_id = OLD.id;
    END IF;
    RETURN NULL;
END $$;""",
    r"""CREATE TRIGGER queue_kept AFTER UPDATE ON webhooks_delivery FOR EACH ROW
    WHEN ((OLD.status IN ('pending', 'attempting') OR NEW.status IN ('pending', 'attempting'))
        AND (OLD.endpoint_id, OLD.status, OLD.attempts, OLD.next_attempt_at, OLD.claimed_until)
        IS DISTINCT FROM
        (NEW.endpoint_id, NEW.status, NEW.attempts, NEW.next_attempt_at, NEW.claimed_until))
    EXECUTE FUNCTION webhooks_keep_queue();""",
    r"""CREATE TRIGGER queue_of_gone AFTER DELETE ON webhooks_delivery FOR EACH ROW WHEN (OLD.status IN ('pending', 'attempting')) EXECUTE FUNCTION webhooks_keep_queue();""",
    r"""CREATE TRIGGER queue_of_new AFTER INSERT ON webhooks_delivery FOR EACH ROW WHEN (NEW.status IN ('pending', 'attempting')) EXECUTE FUNCTION webhooks_keep_queue();""",
]


class Migration(migrations.Migration):

    replaces = [
        ('webhooks', '0001_squashed_0004_hosts_that_answer'),
        ('webhooks', '0005_sealed_apart'),
        ('webhooks', '0006_staff_lists'),
        ('webhooks', '0007_plural'),
        ('webhooks', '0008_attempts'),
        ('webhooks', '0009_attempts_outlive_deliveries'),
        ('webhooks', '0010_due_only'),
        ('webhooks', '0011_words_of_choices'),
        ('webhooks', '0012_queue'),
        ('webhooks', '0013_events_pruned_unread'),
        ('webhooks', '0014_one_index_a_beginning'),
        ('webhooks', '0015_queue_of_before'),
    ]

    replaced_earlier = [
        ('webhooks', '0001_initial'),
        ('webhooks', '0002_queue_by_endpoint'),
        ('webhooks', '0003_by_age'),
        ('webhooks', '0004_hosts_that_answer'),
    ]

    dependencies = [
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='Host',
                fields=[
                    ('name', models.TextField(primary_key=True, serialize=False)),
                    ('answered_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='Endpoint',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('url', models.CharField(max_length=2048)),
                    ('host', models.GeneratedField(db_persist=True, expression=models.Func('url', output_field=models.TextField(), template="rtrim(lower(substring(%(expressions)s from '://([[][^]]*[]]|[^/?#:]+)')), '.')"), output_field=models.TextField())),
                    ('description', models.CharField(blank=True, max_length=500)),
                    ('status', models.CharField(choices=[('active', 'Active'), ('disabled', 'Disabled'), ('error', 'Error')], default='active', max_length=8)),
                    ('subscribed_events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                    ('sealed_secret', models.TextField()),
                    ('secret_preview', models.CharField(max_length=15)),
                    ('platform', models.CharField(blank=True, choices=[('woocommerce', 'WooCommerce'), ('prestashop', 'PrestaShop'), ('shopify', 'Shopify'), ('magento', 'Magento'), ('custom', 'Custom'), ('n8n', 'n8n')], max_length=11, null=True)),
                    ('platform_store_url', models.CharField(blank=True, max_length=2048, null=True)),
                    ('metadata', models.JSONField(default=dict)),
                    ('api_version', models.CharField(max_length=10)),
                    ('verified_at', models.DateTimeField(null=True)),
                    ('disabled_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('deleted_at', models.DateTimeField(null=True)),
                    ('is_notice_due', models.BooleanField(default=False)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
                options={
                    'base_manager_name': 'objects',
                },
            ),
            migrations.CreateModel(
                name='Event',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('type', models.CharField(max_length=40)),
                    ('object', models.JSONField()),
                    ('account_id', models.UUIDField(null=True)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
            ),
            migrations.CreateModel(
                name='Delivery',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('attempting', 'Attempting'), ('delivered', 'Delivered'), ('failed', 'Failed'), ('ignored', 'Ignored')], default='pending', max_length=10)),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('next_attempt_at', models.DateTimeField(null=True)),
                    ('claimed_until', models.DateTimeField(null=True)),
                    ('response_status', models.PositiveSmallIntegerField(null=True)),
                    ('response_body', models.TextField(null=True)),
                    ('error', models.CharField(max_length=200, null=True)),
                    ('duration_ms', models.PositiveIntegerField(null=True)),
                    ('delivered_at', models.DateTimeField(null=True)),
                    ('is_test', models.BooleanField(default=False)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                    ('endpoint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='webhooks.endpoint')),
                    ('event', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='webhooks.event')),
                ],
                options={
                    'verbose_name_plural': 'deliveries',
                },
            ),
            migrations.CreateModel(
                name='QueuedDelivery',
                fields=[
                    ('delivery', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='+', serialize=False, to='webhooks.delivery')),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('attempting', 'Attempting'), ('delivered', 'Delivered'), ('failed', 'Failed'), ('ignored', 'Ignored')], max_length=10)),
                    ('attempts', models.PositiveSmallIntegerField()),
                    ('next_attempt_at', models.DateTimeField(null=True)),
                    ('claimed_until', models.DateTimeField(null=True)),
                    ('endpoint', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='webhooks.endpoint')),
                ],
            ),
            migrations.CreateModel(
                name='Attempt',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveSmallIntegerField()),
                    ('at', models.DateTimeField()),
                    ('response_status', models.PositiveSmallIntegerField(null=True)),
                    ('response_body', models.TextField(null=True)),
                    ('error', models.CharField(max_length=200, null=True)),
                    ('duration_ms', models.PositiveIntegerField()),
                    ('delivery', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='webhooks.delivery')),
                ],
                options={
                    'indexes': [models.Index(fields=['delivery', '-at'], name='attempt_of_delivery'), django.contrib.postgres.indexes.BrinIndex(fields=['at'], name='attempt_by_age')],
                },
            ),
            migrations.AddIndex(
                model_name='endpoint',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='webhooks_en_store_i_a3c31e_idx'),
            ),
            migrations.AddIndex(
                model_name='endpoint',
                index=models.Index(fields=['host'], name='endpoint_of_host'),
            ),
            migrations.AddIndex(
                model_name='endpoint',
                index=models.Index(condition=models.Q(('is_notice_due', True)), fields=['is_notice_due'], name='endpoint_notice_due'),
            ),
            migrations.AddIndex(
                model_name='endpoint',
                index=models.Index(condition=models.Q(('deleted_at', None), ('status', 'error')), fields=['updated_at'], name='endpoint_in_error'),
            ),
            migrations.AddConstraint(
                model_name='endpoint',
                constraint=models.UniqueConstraint(condition=models.Q(('deleted_at__isnull', True), ('platform__isnull', False)), fields=('store', 'mode'), name='endpoint_one_platform_per_mode'),
            ),
            migrations.AddIndex(
                model_name='event',
                index=models.Index(fields=['store', 'mode', '-created_at'], name='webhooks_ev_store_i_0cfb2a_idx'),
            ),
            migrations.AddIndex(
                model_name='event',
                index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='event_by_age'),
            ),
            migrations.AddIndex(
                model_name='delivery',
                index=models.Index(fields=['endpoint', '-created_at'], name='webhooks_de_endpoin_a9f10e_idx'),
            ),
            migrations.AddIndex(
                model_name='delivery',
                index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='delivery_by_age'),
            ),
            migrations.AddIndex(
                model_name='queueddelivery',
                index=models.Index(condition=models.Q(('status', 'pending')), fields=['endpoint', 'next_attempt_at'], name='queued_waiting'),
            ),
            migrations.AddIndex(
                model_name='queueddelivery',
                index=models.Index(condition=models.Q(('status', 'attempting')), fields=['endpoint', 'claimed_until'], name='queued_in_flight'),
            ),
        ]),
        migrations.RunSQL(SQL),
    ]
