"""Payouts and bank accounts that wait for staff, for the lists of staff; built while others write."""

import django.contrib.postgres.indexes
from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0003_staff_lists'),
        ('payouts', '0011_needing_a_person'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='destination',
            index=models.Index(condition=models.Q(('address', ''), _negated=True), fields=['address'], name='destination_of_all'),
        ),
        AddIndexConcurrently(
            model_name='destination',
            index=models.Index(condition=models.Q(('kind', 'bank'), ('removed_at', None), ('verified_at', None)), fields=['created_at'], name='destination_to_verify'),
        ),
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('status', 'requires_review')), fields=['created_at'], name='payout_reviews'),
        ),
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('destination_address__isnull', False)), fields=['destination_address'], name='payout_to_address'),
        ),
        AddIndexConcurrently(
            model_name='payout',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='payout_by_age'),
        ),
    ]
