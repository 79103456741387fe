"""What payouts and destinations are searched by; the indexes are built while others write."""

from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('assets', '0002_rates_are_compared'),
        ('payouts', '0009_payouts_of_approvals'),
        ('stores', '0015_staff_of_before'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='destination',
            index=models.Index(condition=models.Q(('label', ''), _negated=True), fields=['store', 'mode', 'label'], name='destination_by_label'),
        ),
        AddIndexConcurrently(
            model_name='destination',
            index=models.Index(condition=models.Q(('address', ''), _negated=True), fields=['store', 'mode', 'address'], name='destination_by_address'),
        ),
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('tx_hash__isnull', False)), fields=['store', 'mode', 'tx_hash'], name='payout_by_hash'),
        ),
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('destination_address__isnull', False)), fields=['store', 'mode', 'destination_address'], name='payout_by_address'),
        ),
    ]
