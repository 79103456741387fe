"""Destinations that a platform may name for a sub-merchant: saved ones, and raw addresses only
where nothing new is named."""

from django.db.models import F

from apps.access.access import Access
from apps.core import clock
from apps.core.db import tenancy
from apps.core.errors import Failure, RefusalKind
from apps.core.models import Viewer
from apps.payouts.models import Destination, PayoutSettings
from apps.payouts.services.destinations import check_usable
from apps.stores.models import Store


class PlatformMayNotNameIt(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "platform_cannot_change_payout_destination"
    message = "A platform can't name a payout destination that its sub-merchant has not saved"


def check_named_by_platform(viewer: Viewer, address: str) -> None:
    """A raw address in lower case is a saved wallet's whose waiting period is over, or staff let
    this platform pay out anywhere.

    Raises PlatformMayNotNameIt or waiting_period.StillWaiting.
    """
    platform = viewer.platform if isinstance(viewer, Access) else None
    if platform is None or _may_pay_out(platform):
        return
    saved = Destination.objects.visible_to(viewer).filter(
        kind=Destination.Kind.WALLET, removed_at=None, address=address
    )
    first = saved.order_by(
        F("usable_from").asc(nulls_first=True)
    ).first()  # an address may be saved on several networks
    if first is None:
        raise PlatformMayNotNameIt
    check_usable(first, clock.real_now())


def _may_pay_out(platform: Store) -> bool:
    with tenancy.also([platform]):
        return PayoutSettings.of(platform).platform_may_pay_out
