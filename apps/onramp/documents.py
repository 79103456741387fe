"""A card payment as the API tells it: to the customer who opened it, and to the store whose intent it pays."""

from typing import Any

from apps.chain.addresses import checksummed
from apps.core.clock import iso
from apps.onramp.models import FundingSession


def session_document(session: FundingSession) -> dict[str, Any]:
    """What the customer's page needs."""
    return {
        "id": str(session.pk),
        "provider": session.provider,
        "status": session.status,
        "amount_cents": session.amount_cents,
        "currency": session.currency,
        "expires_at": iso(session.expires_at),
        "paid_at": iso(session.paid_at),
        "provider_txid": session.provider_txid,
        "created_at": iso(session.created_at),
        "url": session.url,
    }


def payment_session(session: FundingSession | None) -> dict[str, Any] | None:
    """`onramp_session` of a payment's detail view."""
    if session is None:
        return None
    told = {"provider_name": session.provider_name, "destination_address": checksummed(session.destination_address)}
    return {**session_document(session), **told}
