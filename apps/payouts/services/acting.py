"""What a platform may name while it acts for a sub-merchant: saved destinations, and raw addresses only where nothing new is named."""

from apps.access.access import Access
from apps.core.errors import Coded
from apps.core.models import Viewer
from apps.payouts.models import Destination


class PlatformMayNotNameIt(Coded):
    status = 403
    code = "platform_cannot_change_payout_destination"
    message = "A platform can't name a payout destination that its sub-merchant has not saved"


def check_named_by_platform(viewer: Viewer, address: str) -> None:
    """A raw address in lower case is a saved wallet's, or staff let this platform pay out anywhere. Raises PlatformMayNotNameIt."""
    platform = viewer.platform if isinstance(viewer, Access) else None
    if platform is None or platform.platform_may_pay_out:
        return
    saved = Destination.objects.seen_by(viewer).filter(kind=Destination.Kind.WALLET, removed_at=None)
    if not saved.filter(address=address).exists():
        raise PlatformMayNotNameIt
