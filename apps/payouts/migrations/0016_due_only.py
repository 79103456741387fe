"""Payouts that wait, which figures count; built while others write."""

from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0003_staff_lists'),
        ('payouts', '0015_copied_payout_settings'),
        ('stores', '0027_due_only'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('status__in', ['pending', 'retrying'])), fields=['mode', 'created_at'], name='payout_waiting'),
        ),
    ]
