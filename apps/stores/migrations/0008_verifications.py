"""What stores say of the business behind them."""

import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0007_checkout_domain'),
    ]

    operations = [
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
            options={
                'indexes': [models.Index(fields=['store', '-created_at'], name='verification_of_store')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'pending')), fields=('store',), name='verification_one_pending')],
            },
        ),
    ]
