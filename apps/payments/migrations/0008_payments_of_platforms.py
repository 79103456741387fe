"""The payments of a platform's sub-merchants have an index of their own; others are in none."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0007_card_funding'),
        ('stores', '0008_verifications'),
    ]

    operations = [
        migrations.AlterField(
            model_name='payment',
            name='platform',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(condition=models.Q(('platform__isnull', False)), fields=['platform', 'mode', '-created_at'], name='payment_of_platform'),
        ),
    ]
