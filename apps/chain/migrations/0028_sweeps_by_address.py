"""What is swept is asked for address by address, however many transactions there have been."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('chain', '0027_signing_lanes'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='outgoingtransaction',
            index=models.Index(condition=models.Q(('purpose', 'sweep')), fields=['chain', 'from_address'], name='outgoing_sweeps'),
        ),
        AddIndexConcurrently(
            model_name='outgoingtransaction',
            index=models.Index(condition=models.Q(('purpose', 'sweep_gas')), fields=['chain', 'to_address'], name='outgoing_sweep_gas'),
        ),
    ]
