"""Which payouts an approval is for; the index is built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payouts', '0008_approvals'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='payout',
            index=models.Index(condition=models.Q(('approval__isnull', False)), fields=['approval'], name='payout_of_approval'),
        ),
    ]
