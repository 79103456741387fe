"""Network fee charged to a store that bears it: an estimate (`chain/sending/costs.py`) is withheld
from the amount before the payout is sent, and again for each attempt after one that failed on the
chain. The service has no fee of its own."""

from apps.payouts import states
from apps.payouts.models import Payout


def is_due(payout: Payout) -> bool:
    """True if the fee of this payout has still to be withheld."""
    bears_it = payout.bears_network_fee and not payout.is_simulated
    return bears_it and not payout.withheld_atomic


def withhold(payout: Payout, fee_atomic: int | None) -> None:
    """Withhold the fee (in units of the payout's asset) while the payout waits; None, and it waits
    on: nobody can say what the network asks."""
    if fee_atomic is None:
        return

    # An amount that the fee eats up is withheld whole, and the payout fails.
    withheld_atomic = min(max(fee_atomic, 1), payout.amount_atomic)
    waiting = Payout.objects.filter(pk=payout.pk, withheld_atomic=0, status__in=states.WAITING)
    waiting.update(withheld_atomic=withheld_atomic)
