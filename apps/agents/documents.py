"""Mandates, settlements, the agent's own context, and what x402 asks for, as the API tells them. Amounts are strings of atomic units."""

from typing import Any

from apps.access.access import Access
from apps.access.models import AgentCredential
from apps.agents.models import Mandate, PaymentOffer, Settlement, SignedPayment
from apps.assets.models import Asset
from apps.chain.addresses import checksummed
from apps.core.clock import iso
from apps.stores.models import AuthorizationProvider


def mandate_document(mandate: Mandate, status: str) -> dict[str, Any]:
    """`status` is the mandate's at this moment, which time may have ended."""
    per_call = mandate.per_call_cap_atomic
    return {
        "id": str(mandate.pk),
        "scope": mandate.scope,
        "mandate_ref": mandate.mandate_ref,
        "status": status,
        "asset_id": mandate.asset_id,
        "total_cap_atomic": str(mandate.total_cap_atomic),
        "per_call_cap_atomic": None if per_call is None else str(per_call),
        "spent_atomic": str(mandate.spent_atomic),
        "remaining_atomic": str(mandate.remaining_atomic),
        "authorization_provider": mandate.authorization_provider,
        "expires_at": iso(mandate.expires_at),
        "revoked_at": iso(mandate.revoked_at),
        "livemode": mandate.is_live,
        "created_at": iso(mandate.created_at),
        "updated_at": iso(mandate.updated_at),
    }


def settlement_document(settlement: Settlement) -> dict[str, Any]:
    return {
        "id": str(settlement.pk),
        "status": settlement.status,
        "asset_id": settlement.asset_id,
        "amount_atomic": str(settlement.amount_atomic),
        "mandate_ref": settlement.mandate.mandate_ref,
        "mandate_id": str(settlement.mandate_id),
        "nonce": settlement.nonce,
        "pay_to": settlement.pay_to,
        "payer": settlement.payer,
        "requirements": settlement.requirements,
        "tx_ref": settlement.tx_ref,
        "failure_reason": settlement.failure_reason,
        "livemode": settlement.is_live,
        "created_at": iso(settlement.created_at),
        "updated_at": iso(settlement.updated_at),
    }


def context_document(access: Access, agent: AgentCredential, accepted_count: int, per_minute: int) -> dict[str, Any]:
    """What a credential is and may do."""
    store, mode = access.store, access.mode
    return {
        "store": {"id": str(store.pk), "name": store.name, "kyc_confirmed": store.kyc_confirmed_at is not None},
        "mode": mode,
        "livemode": mode == "live",
        "agent": {
            "name": agent.name,
            "principal": agent.principal,
            "token_prefix": agent.token_prefix,
            "scopes": [scope for scope in agent.scopes if scope in access.scopes],
            "last_used_at": iso(agent.last_used_at),
            "expires_at": iso(agent.expires_at),
        },
        "authorization": {
            "provider": store.authorization_provider,
            "mandates": store.authorization_provider != AuthorizationProvider.NONE,
        },
        "accepted_assets_count": accepted_count,
        "rate_limit": {"per_minute": per_minute},
    }


def market_document(query: str, currency: str, source: str, figures: Any) -> dict[str, Any]:
    """Public reference figures, as numbers."""
    return {
        "query": query,
        "coin_id": figures.coin_id,
        "vs_currency": currency,
        "price": figures.price,
        "market_cap": figures.market_cap,
        "volume_24h": figures.volume_24h,
        "change_24h_pct": figures.change_24h_pct,
        "source": source,
    }


# --- x402: the names are the protocol's -------------------------------------------------------------


def network_of(asset: Asset) -> str:
    """The chain as CAIP-2 names it."""
    return f"eip155:{asset.chain.chain_id}"


def requirements_document(offer: PaymentOffer) -> dict[str, Any]:
    """What a payer must sign."""
    asset = offer.asset
    return {
        "scheme": "exact",
        "network": network_of(asset),
        "amount": str(offer.amount_atomic),
        "asset": checksummed(str(asset.contract_address)),
        "payTo": checksummed(offer.pay_to_id),
        "maxTimeoutSeconds": offer.timeout_seconds,
        "extra": {
            "name": asset.eip712_name,
            "version": asset.eip712_version,
            "assetTransferMethod": "eip3009",
            "paymentIntentId": str(offer.payment_id),
            "reference": offer.payment.reference,
        },
    }


def supported_document(assets: list[Asset], signers: list[str]) -> dict[str, Any]:
    """`extra` names the tokens, for servers that want to know them before anybody pays."""
    tokens: dict[str, list[dict[str, Any]]] = {}
    for asset in assets:
        told = {"assetId": asset.pk, "asset": checksummed(str(asset.contract_address)), "decimals": asset.atomic_decimals}
        tokens.setdefault(network_of(asset), []).append({**told, "name": asset.eip712_name, "version": asset.eip712_version})
    return {
        "kinds": [{"x402Version": 2, "scheme": "exact", "network": one, "extra": {"assets": tokens[one]}} for one in tokens],
        "extensions": [],
        "signers": {"eip155:*": [checksummed(one) for one in signers]},
    }


def verified_document(payer: str, reason: str = "", text: str = "") -> dict[str, Any]:
    told: dict[str, Any] = {"isValid": not reason}
    if reason:
        told |= {"invalidReason": reason, "invalidMessage": text}
    return {**told, "payer": checksummed(payer)} if payer else told


def settled_document(network: str, payer: str, signed: SignedPayment | None, reason: str = "", text: str = "") -> dict[str, Any]:
    """`extra` tells what has become of the authorization, whatever this call is told."""
    told: dict[str, Any] = {"success": not reason, "transaction": signed.tx_hash if signed else "", "network": network}
    if reason:
        told |= {"errorReason": reason, "errorMessage": text}
    if payer:
        told["payer"] = checksummed(payer)
    if signed is not None:
        told["amount"] = str(signed.amount_atomic)
        told["extra"] = {"settlementId": str(signed.pk), "state": signed.status, "paymentIntentId": str(signed.offer.payment_id)}
    return told
