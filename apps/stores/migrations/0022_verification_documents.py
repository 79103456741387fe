"""Documents of a business's verification."""

import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0021_new_quotes'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
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
    ]
