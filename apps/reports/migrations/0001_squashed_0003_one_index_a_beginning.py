"""Everything until 0003_one_index_a_beginning in one step; SQL that Django does not generate follows, as PostgreSQL prints it."""

import django.db.models.deletion
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('reports', '0001_initial'),
        ('reports', '0002_account_codes'),
        ('reports', '0003_one_index_a_beginning'),
    ]

    dependencies = [
        ('stores', '0001_squashed_0028_one_index_a_beginning'),
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='AccountCodes',
                fields=[
                    ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='stores.store')),
                    ('codes', models.JSONField(default=dict)),
                ],
            ),
            migrations.CreateModel(
                name='Report',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('report_type', models.CharField(choices=[('accounting_transactions', 'Accounting transactions'), ('merchant_statement', 'Merchant statement')], max_length=30)),
                    ('period_from', models.DateField()),
                    ('period_to', models.DateField()),
                    ('currency', models.CharField(blank=True, default='', max_length=3)),
                    ('format', models.CharField(choices=[('pdf', 'PDF'), ('csv', 'CSV')], default='pdf', max_length=3)),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('generated', 'Generated'), ('failed', 'Failed')], default='pending', max_length=10)),
                    ('error', models.CharField(blank=True, default='', max_length=200)),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('touched_at', models.DateTimeField()),
                    ('claimed_until', models.DateTimeField(null=True)),
                    ('lines_total', models.PositiveIntegerField(null=True)),
                    ('lines_done', models.PositiveIntegerField(default=0)),
                    ('generated_at', models.DateTimeField(null=True)),
                    ('file_name', models.CharField(blank=True, default='', max_length=200)),
                    ('size_bytes', models.PositiveBigIntegerField(null=True)),
                    ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ],
                options={
                    'indexes': [models.Index(fields=['store', 'mode', '-created_at'], name='report_newest'), models.Index(condition=models.Q(('status', 'pending')), fields=['touched_at'], name='report_pending')],
                    'constraints': [models.UniqueConstraint(fields=('store', 'mode', 'report_type', 'period_from', 'period_to', 'currency', 'format'), name='report_once'), models.CheckConstraint(condition=models.Q(('period_to__gte', models.F('period_from'))), name='report_period_is_a_range'), models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'generated', 'failed'])), name='report_status_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'generated'), _negated=True), models.Q(('generated_at__isnull', False), models.Q(('file_name', ''), _negated=True)), _connector='OR'), name='report_generated_has_a_file')],
                },
            ),
        ]),
    ]
