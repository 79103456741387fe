"""Notifications of stores, how each person wants to hear of them, and until when a member has read them."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0018_audit_of_target'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='member',
            name='live_read_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='member',
            name='summary_due_at',
            field=models.DateTimeField(blank=True, db_index=True, null=True),
        ),
        migrations.AddField(
            model_name='member',
            name='test_read_at',
            field=models.DateTimeField(blank=True, null=True),
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
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'indexes': [models.Index(fields=['store', 'mode', '-created_at'], name='notification_of_store'), models.Index(condition=models.Q(('told_at', None)), fields=['created_at'], name='notification_waiting')],
                'constraints': [models.UniqueConstraint(fields=('store', 'mode', 'kind', 'subject'), name='notification_once')],
            },
        ),
        migrations.CreateModel(
            name='NotificationChoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=30)),
                ('choice', models.CharField(max_length=11)),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('store', 'user', 'kind'), name='notification_choice_once')],
            },
        ),
    ]
