"""An agent's payouts: crypto to a raw address, within the store's caps and its own, whichever is
tighter."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.access import operations
from apps.access.access import Access
from apps.access.models import AgentCredential
from apps.agents.documents.agents import PayoutLimitDocument
from apps.agents.models import AgentPayoutCap
from apps.agents.providers.base import Envelope, PayoutDetails
from apps.agents.requests.payments import AgentPayout
from apps.agents.services import authorize
from apps.agents.services.tokens import asset_for
from apps.assets.models import Asset
from apps.assets.selectors import listed_assets
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.core.messages.invalid import OF_BODIES, Invalid
from apps.payouts.models import Payout
from apps.payouts.services.caps import Cap, daily_spent, has_store_cap, store_cap
from apps.payouts.services.create import check_may, create_payout, earlier_payout
from apps.stores.auditing import audit
from apps.stores.models import Store


class ControlsRequired(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "payout_controls_required"
    message = "Payouts of this asset need a cap first"


class PerTxExceeded(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "per_tx_cap_exceeded"
    message = "The amount is above the cap of one payout"


class AgentDailyExceeded(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "daily_cap_exceeded"
    message = "The amount is above what is left of the day's cap"


class PayoutRejected(Failure):
    code = "payout_rejected"


@dataclass(frozen=True)
class AgentLimits:
    """Limits of one credential's payouts of an asset; None is no bound."""

    asset: Asset
    per_tx_atomic: int | None
    daily_atomic: int | None
    spent_atomic: int
    remaining_atomic: int | None

    @property
    def is_configured(self) -> bool:
        return self.per_tx_atomic is not None or self.daily_atomic is not None

    def document(self) -> PayoutLimitDocument:
        return PayoutLimitDocument(
            asset_id=self.asset.pk,
            coin_symbol=self.asset.coin_symbol,
            chain_symbol=self.asset.chain.symbol,
            atomic_decimals=self.asset.atomic_decimals,
            per_tx_cap_atomic=_digits(self.per_tx_atomic),
            daily_cap_atomic=_digits(self.daily_atomic),
            daily_spent_atomic=str(self.spent_atomic),
            daily_remaining_atomic=_digits(self.remaining_atomic),
            controls_configured=self.is_configured,
        )


def _digits(amount_atomic: int | None) -> str | None:
    return None if amount_atomic is None else str(amount_atomic)


def send_payout(
    access: Access, request: AgentPayout, key: str, envelope: Envelope | None
) -> tuple[Payout, bool]:
    """The payout of this key, and whether this call made it. Raises Failure."""
    earlier = _earlier(access, key)
    if earlier is not None:
        return earlier, False
    asset = asset_for(access.mode, request.asset_id)
    order = request.request()
    caps = caps_of(access, asset)
    if not caps and not authorize.has_provider(access.store):
        raise ControlsRequired
    details = PayoutDetails(destination_address=request.destination_address)
    authorize.consult(
        access, details, envelope, asset_id=asset.pk, amount_atomic=order.amount_atomic
    )
    try:
        return create_payout(
            access,
            order,
            key,
            caller=access.caller,
            caps=caps,
            agent_credential_id=access.credential_id,
        )
    except NotFound:
        raise
    except Failure as refusal:
        if refusal.code is not None:
            raise
        raise PayoutRejected(str(refusal)) from None


def _earlier(access: Access, key: str) -> Payout | None:
    """The payout that the key has made. Raises what operations.check refuses with."""
    earlier = earlier_payout(access, access.caller, key)
    if earlier is not None:
        check_may(access, is_bank=False)
    return earlier


def answer_unread(access: Access, refusal: Invalid, key: str, asset_id: object) -> Payout:
    """Answer to a body that isn't an AgentPayout: the payout of a used key, then the asset, then
    everything else. Raises what send_payout does, or the refusal."""
    earlier = _earlier(access, key)
    if earlier is not None:
        return earlier
    if refusal.rule not in OF_BODIES and isinstance(asset_id, str) and refusal.field != "asset_id":
        asset_for(access.mode, asset_id)
    raise refusal


def has_limits(store: Store, asset_ids: Iterable[str]) -> bool:
    """True if an agent without caps of its own may pay out some of these, within what staff have
    set for the store."""
    return authorize.has_provider(store) or has_store_cap(store.pk, asset_ids)


def caps_of(access: Access, asset: Asset) -> list[Cap]:
    """The store's caps as an agent sees them, and the credential's own, which counts its
    payouts alone."""
    caps = []
    staff = store_cap(access.store_id, asset.pk)
    if staff is not None and (staff.per_tx_atomic is not None or staff.daily_atomic is not None):
        caps.append(
            Cap(staff.per_tx_atomic, staff.daily_atomic, None, PerTxExceeded, AgentDailyExceeded)
        )
    own = AgentPayoutCap.objects.filter(credential_id=access.credential_id, asset=asset).first()
    if own is not None:
        caps.append(
            Cap(
                own.per_tx_atomic,
                own.daily_atomic,
                access.credential_id,
                PerTxExceeded,
                AgentDailyExceeded,
            )
        )
    return caps


def limits_of(access: Access, at: datetime, asset_id: str | None = None) -> list[AgentLimits]:
    """Caps and what is left of the UTC day of `at`, per asset of the mode. Raises AssetNotFound or
    AssetNotActive."""
    assets = listed_assets(access.mode) if asset_id is None else [asset_for(access.mode, asset_id)]
    return [_limits(access, asset, at) for asset in assets]


def _limits(access: Access, asset: Asset, at: datetime) -> AgentLimits:
    """Of two caps the tighter one: for the day, the one with less left."""
    caps = caps_of(access, asset)
    spent = [
        (cap, daily_spent(access.store_id, access.mode, asset.pk, at, cap.credential_id))
        for cap in caps
    ]
    days = [
        (cap.daily_atomic - used, cap.daily_atomic, used)
        for cap, used in spent
        if cap.daily_atomic is not None
    ]
    remaining, daily, used = min(days) if days else (None, None, 0)
    if daily is None:
        used = daily_spent(access.store_id, access.mode, asset.pk, at, access.credential_id)
    per_tx = min((cap.per_tx_atomic for cap in caps if cap.per_tx_atomic is not None), default=None)
    return AgentLimits(asset, per_tx, daily, used, None if remaining is None else max(0, remaining))


def set_cap(
    credential: AgentCredential,
    asset: Asset,
    per_tx_atomic: int | None,
    daily_atomic: int | None,
    by: Access | None = None,
) -> None:
    """Sets a credential's payout cap; without either number the cap is removed.

    None is the operator. Raises what operations.check refuses with.
    """
    operations.check(by, operations.AGENT_CAPS, mode=credential.mode)
    with transaction.atomic():
        if per_tx_atomic is None and daily_atomic is None:
            AgentPayoutCap.objects.filter(credential=credential, asset=asset).delete()
        else:
            AgentPayoutCap.objects.update_or_create(
                credential=credential,
                asset=asset,
                defaults={"per_tx_atomic": per_tx_atomic, "daily_atomic": daily_atomic},
            )
        details = {
            "asset_id": asset.pk,
            "per_tx_atomic": str(per_tx_atomic),
            "daily_atomic": str(daily_atomic),
        }
        audit.record(
            "agent.cap_changed",
            store=credential.store_id,
            mode=credential.mode,
            target=credential,
            name=credential.name,
            details=details,
        )
