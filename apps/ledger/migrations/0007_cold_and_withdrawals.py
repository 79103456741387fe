"""Two more accounts of the service: coins in cold storage, and earnings on their way to the operator."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0001_squashed_0007_test_dollar'),
        ('ledger', '0001_squashed_0006_held_for_payments'),
        ('stores', '0011_test_clock_target'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RemoveConstraint(
            model_name='account',
            name='account_owner_fits_kind',
        ),
        migrations.AlterField(
            model_name='account',
            name='kind',
            field=models.CharField(choices=[('available', 'available'), ('held', 'held'), ('reserved', 'reserved'), ('custody_deposits', 'custody_deposits'), ('custody_simulated', 'custody_simulated'), ('custody_hot', 'custody_hot'), ('custody_cold', 'custody_cold'), ('service_fees', 'service_fees'), ('network_fees', 'network_fees'), ('offramp_clearing', 'offramp_clearing'), ('swap_clearing', 'swap_clearing'), ('x402_clearing', 'x402_clearing'), ('withdrawal_clearing', 'withdrawal_clearing'), ('treasury', 'treasury')], max_length=20),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('available', 'held', 'reserved')), ('store__isnull', False)), models.Q(('kind__in', ['custody_deposits', 'custody_simulated', 'custody_hot', 'custody_cold', 'service_fees', 'network_fees', 'offramp_clearing', 'swap_clearing', 'x402_clearing', 'withdrawal_clearing', 'treasury']), ('store__isnull', True)), _connector='OR'), name='account_owner_fits_kind'),
        ),
    ]
