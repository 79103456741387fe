"""An agent's payouts: crypto to a raw address, within the store's caps and its own, whichever is tighter."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.access import operations
from apps.access.access import Access
from apps.access.models import AgentCredential
from apps.agents.models import AgentPayoutCap
from apps.agents.providers.base import PAYOUT
from apps.agents.services import authorize
from apps.agents.services.tokens import asset_for
from apps.assets.models import Asset
from apps.assets.selectors import listed_assets
from apps.core.errors import Coded, Flat, RefusalKind
from apps.core.literal import AtomicAmount, Invalid, Text
from apps.payouts.models import Payout
from apps.payouts.requests import PayoutRequest, RawAddress
from apps.payouts.services.caps import Cap, daily_spent, store_cap
from apps.payouts.services.create import create_payout
from apps.stores import audit

_AMOUNT = AtomicAmount(required=True)
_SAVED = ("crypto_payout_detail_id", "fiat_payout_detail_id")


class ControlsRequired(Coded):
    kind = RefusalKind.FORBIDDEN
    code = "payout_controls_required"
    message = "Payouts of this asset need a cap first"


class PerTxExceeded(Coded):
    kind = RefusalKind.FORBIDDEN
    code = "per_tx_cap_exceeded"
    message = "The amount is above the cap of one payout"


class DailyExceeded(Coded):
    kind = RefusalKind.FORBIDDEN
    code = "daily_cap_exceeded"
    message = "The amount is above what is left of the day's cap"


class InvalidAmount(Coded):
    code = "invalid_amount"
    message = "amount_atomic must be a positive integer string"


class DestinationRequired(Coded):
    code = "destination_required"
    message = "destination_address is required"


class PayoutRejected(Coded):
    code = "payout_rejected"


@dataclass(frozen=True)
class Limits:
    """What bounds one credential's payouts of an asset; None is no bound."""

    asset: Asset
    per_tx_atomic: int | None
    daily_atomic: int | None
    spent_atomic: int
    remaining_atomic: int | None

    @property
    def is_configured(self) -> bool:
        return self.per_tx_atomic is not None or self.daily_atomic is not None


def send_payout(access: Access, body: dict[str, Any], key: str, header: dict[str, Any] | None) -> tuple[Payout, bool]:
    """The payout of this key, and whether this call made it. Raises Coded."""
    asset = asset_for(access.mode, Text(20, required=True).read(body, "asset_id"))
    amount = _amount(body.get("amount_atomic"))
    destination = Text(255).read(body, "destination_address")
    if not destination or any(body.get(name) is not None for name in _SAVED):
        raise DestinationRequired
    earlier = Payout.objects.seen_by(access).filter(idempotency_caller=access.caller, idempotency_key=key).exists()
    caps = caps_of(access, asset)
    if not earlier:
        if not caps and not authorize.has_provider(access.store):
            raise ControlsRequired
        authorize.consult(access, PAYOUT, header, asset_id=asset.pk, amount_atomic=amount, details={"destination_address": destination})
    request = PayoutRequest(asset.pk, amount, RawAddress(destination))
    try:
        return create_payout(access, request, key, caller=access.caller, caps=caps, agent_credential_id=access.credential_id)
    except Flat as refusal:
        raise PayoutRejected(str(refusal)) from None


def _amount(given: Any) -> int:
    """A string of digits or, as a courtesy to machines, a JSON integer."""
    text = str(given) if isinstance(given, int) and not isinstance(given, bool) else given
    try:
        amount = int(_AMOUNT.check(text, "amount_atomic"))
    except Invalid:
        raise InvalidAmount from None
    if amount == 0:
        raise InvalidAmount
    return amount


def caps_of(access: Access, asset: Asset) -> list[Cap]:
    """The store's caps as an agent is told of them, and the credential's own, which counts its payouts alone."""
    caps = []
    staff = store_cap(access.store_id, asset.pk)
    if staff is not None and (staff.per_tx_atomic is not None or staff.daily_atomic is not None):
        caps.append(Cap(staff.per_tx_atomic, staff.daily_atomic, None, PerTxExceeded, DailyExceeded))
    own = AgentPayoutCap.objects.filter(credential_id=access.credential_id, asset=asset).first()
    if own is not None:
        caps.append(Cap(own.per_tx_atomic, own.daily_atomic, access.credential_id, PerTxExceeded, DailyExceeded))
    return caps


def limits_of(access: Access, at: datetime, asset_id: str | None = None) -> list[Limits]:
    """Caps and what is left of the UTC day of `at`, per asset of the mode. Raises AssetNotFound or AssetNotActive."""
    assets = listed_assets(access.mode) if asset_id is None else [asset_for(access.mode, asset_id)]
    return [_limits(access, asset, at) for asset in assets]


def _limits(access: Access, asset: Asset, at: datetime) -> Limits:
    """Of two caps the tighter one: for the day, the one with less left."""
    caps = caps_of(access, asset)
    spent = [(one, daily_spent(access.store_id, access.mode, asset.pk, at, one.credential_id)) for one in caps]
    days = [(one.daily_atomic - used, one.daily_atomic, used) for one, used in spent if one.daily_atomic is not None]
    remaining, daily, used = min(days) if days else (None, None, 0)
    if daily is None:
        used = daily_spent(access.store_id, access.mode, asset.pk, at, access.credential_id)
    per_tx = min((one.per_tx_atomic for one in caps if one.per_tx_atomic is not None), default=None)
    return Limits(asset, per_tx, daily, used, None if remaining is None else max(0, remaining))


def set_cap(
    credential: AgentCredential,
    asset: Asset,
    per_tx_atomic: int | None,
    daily_atomic: int | None,
    by: Access | None = None,
) -> None:
    """What the merchant lets a credential pay out; without either number the cap is taken away.

    None is the operator. Raises what operations.check refuses with.
    """
    operations.check(by, operations.AGENT_CAPS, mode=credential.mode)
    with transaction.atomic():
        if per_tx_atomic is None and daily_atomic is None:
            AgentPayoutCap.objects.filter(credential=credential, asset=asset).delete()
        else:
            AgentPayoutCap.objects.update_or_create(
                credential=credential, asset=asset, defaults={"per_tx_atomic": per_tx_atomic, "daily_atomic": daily_atomic}
            )
        told = {"asset_id": asset.pk, "per_tx_atomic": str(per_tx_atomic), "daily_atomic": str(daily_atomic)}
        audit.record(
            "agent.cap_changed", store=credential.store_id, mode=credential.mode, target=credential, name=credential.name, details=told
        )
