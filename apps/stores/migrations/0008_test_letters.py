"""Emails of test mode, which the dashboard shows."""

import django.contrib.postgres.indexes
import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('stores', '0007_documents_as_uploaded'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='TestLetter',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('live', 'Live'), ('test', 'Test')], max_length=4)),
                ('created_at', models.DateTimeField()),
                ('key', models.CharField(max_length=200)),
                ('to', models.EmailField(max_length=254)),
                ('template', models.CharField(max_length=100)),
                ('subject', models.CharField(max_length=500)),
                ('text', models.TextField()),
                ('is_sent', models.BooleanField()),
                ('store', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=['key'], name='test_letter_once')],
                'indexes': [
                    models.Index(fields=['store', 'mode', '-created_at'], name='test_letter_of_store'),
                    django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='test_letter_by_age'),
                ],
            },
        ),
    ]
