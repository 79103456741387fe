"""Everything until 0005_leases in one step; what Django does not draw up stands below, as PostgreSQL told it."""

import django.db.models.functions.text
import uuid
from apps.core.db.first_tables import FirstTables
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('core', '0001_initial'),
        ('core', '0002_row_failures'),
        ('core', '0003_mail_of_recipient'),
        ('core', '0004_drawings'),
        ('core', '0005_leases'),
    ]

    dependencies = [
    ]

    operations = [
        FirstTables([
            migrations.CreateModel(
                name='RowTurn',
                fields=[
                    ('job', models.CharField(max_length=60, primary_key=True, serialize=False)),
                    ('row_id', models.CharField(db_collation='C', max_length=64)),
                ],
            ),
            migrations.CreateModel(
                name='Drawing',
                fields=[
                    ('digest', models.CharField(db_collation='C', max_length=64, primary_key=True, serialize=False)),
                    ('html', models.TextField(blank=True)),
                    ('inside', models.JSONField(null=True)),
                    ('asked_at', models.DateTimeField()),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('claimed_until', models.DateTimeField(null=True)),
                    ('drawn_at', models.DateTimeField(null=True)),
                    ('file_name', models.CharField(blank=True, max_length=200)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('drawn_at', None)), fields=['asked_at'], name='drawing_waits'), models.Index(fields=['drawn_at'], name='drawing_age')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('drawn_at', None), models.Q(('file_name', ''), _negated=True), _connector='OR'), name='drawing_drawn_has_a_file')],
                },
            ),
            migrations.CreateModel(
                name='Lease',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('turn', models.PositiveSmallIntegerField()),
                    ('key', models.CharField(db_collation='C', max_length=100)),
                    ('holder', models.UUIDField(db_index=True)),
                    ('until', models.DateTimeField()),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('turn', 'key'), name='lease_once')],
                },
            ),
            migrations.CreateModel(
                name='OutgoingMail',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('key', models.CharField(max_length=200, unique=True)),
                    ('to', models.EmailField(max_length=254)),
                    ('template', models.CharField(max_length=100)),
                    ('sender_name', models.CharField(max_length=200)),
                    ('reply_to', models.CharField(blank=True, max_length=254)),
                    ('sealed_letter', models.TextField(blank=True)),
                    ('status', models.CharField(choices=[('queued', 'Queued'), ('sent', 'Sent'), ('failed', 'Failed')], default='queued', max_length=6)),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('error', models.CharField(blank=True, max_length=100)),
                    ('created_at', models.DateTimeField()),
                    ('next_attempt_at', models.DateTimeField(null=True)),
                    ('sent_at', models.DateTimeField(null=True)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('status', 'queued')), fields=['next_attempt_at'], name='outgoing_mail_due'), models.Index(django.db.models.functions.text.Lower('to'), models.F('template'), models.F('created_at'), name='outgoing_mail_of_recipient')],
                },
            ),
            migrations.CreateModel(
                name='RowFailure',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('job', models.CharField(max_length=60)),
                    ('row_id', models.CharField(db_collation='C', max_length=64)),
                    ('tries', models.PositiveIntegerField()),
                    ('error', models.CharField(max_length=300)),
                    ('since', models.DateTimeField()),
                    ('not_before', models.DateTimeField()),
                    ('dead_at', models.DateTimeField(null=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('job', 'row_id'), name='row_failure_once')],
                },
            ),
        ]),
    ]
