"""Documents of links: their state now, and their address."""

from datetime import datetime

from django.conf import settings

from apps.links.models import PaymentLink
from apps.stores import domains
from apps.stores.models import Store

OPEN = "active"
PAUSED = "paused"
ENDED = "ended"
ARCHIVED = "archived"


def state_of(link: PaymentLink, now: datetime) -> str:
    """Apart from its stock, which is counted when somebody pays."""
    if link.archived_at is not None or link.store.deleted_at is not None:
        return ARCHIVED
    if link.ends_at is not None and link.ends_at <= now:
        return ENDED
    return OPEN if link.paused_at is None else PAUSED


def link_url(link: PaymentLink) -> str:
    """Its page: at the store's own domain once that is verified."""
    return f"{pages_of(link.store)}/{link.token}"


def x402_url(link: PaymentLink) -> str:
    """Where an agent pays at it with a signature (x402)."""
    return f"{link_url(link)}/x402"


def pages_of(store: Store) -> str:
    """Where customers find a store's links and sales."""
    is_own = store.checkout_domain and store.checkout_domain_verified_at
    base = domains.base_url(store.checkout_domain) if is_own else settings.PUBLIC_URL
    return f"{base}/pay"
