"""Payouts and bank accounts that need a person; the indexes are built while others write."""

from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0002_rates_are_compared'),
        ('payouts', '0010_searched'),
        ('stores', '0016_member_lists'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='destination',
            index=models.Index(condition=models.Q(('kind', 'bank'), ('removed_at', None), ('verified_at', None)), fields=['store', 'mode', '-created_at'], name='destination_unverified'),
        ),
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('status', 'requires_review')), fields=['store', 'mode', '-created_at'], name='payout_in_review'),
        ),
        AddIndexConcurrently(
            model_name='payoutapproval',
            index=models.Index(condition=models.Q(('status', 'waiting')), fields=['store', 'mode', '-created_at'], name='payout_approval_asked'),
        ),
    ]
