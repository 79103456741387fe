"""Everything until 0004_hosts_that_answer in one step; what Django does not draw up stands below, as PostgreSQL told it."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('webhooks', '0001_initial'),
        ('webhooks', '0002_queue_by_endpoint'),
        ('webhooks', '0003_by_age'),
        ('webhooks', '0004_hosts_that_answer'),
    ]

    dependencies = [
        ('stores', '0001_squashed_0009_audit_seals'),
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
                    ('platform', models.CharField(blank=True, choices=[('woocommerce', 'Woocommerce'), ('prestashop', 'Prestashop'), ('shopify', 'Shopify'), ('magento', 'Magento'), ('custom', 'Custom'), ('n8n', 'N8N')], max_length=11, null=True)),
                    ('platform_store_url', models.CharField(blank=True, max_length=2048, null=True)),
                    ('metadata', models.JSONField(default=dict)),
                    ('api_version', models.CharField(max_length=10)),
                    ('verified_at', models.DateTimeField(null=True)),
                    ('disabled_at', models.DateTimeField(null=True)),
                    ('updated_at', models.DateTimeField()),
                    ('deleted_at', models.DateTimeField(null=True)),
                    ('is_notice_due', models.BooleanField(default=False)),
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
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
                    ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
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
                    ('event', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='webhooks.event')),
                ],
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
                index=models.Index(condition=models.Q(('status', 'pending')), fields=['endpoint', 'next_attempt_at'], name='delivery_waiting'),
            ),
            migrations.AddIndex(
                model_name='delivery',
                index=models.Index(condition=models.Q(('status', 'attempting')), fields=['endpoint', 'claimed_until'], name='delivery_in_flight'),
            ),
            migrations.AddIndex(
                model_name='delivery',
                index=models.Index(fields=['endpoint', '-created_at'], name='webhooks_de_endpoin_a9f10e_idx'),
            ),
            migrations.AddIndex(
                model_name='delivery',
                index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='delivery_by_age'),
            ),
        ]),
    ]
