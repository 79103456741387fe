"""Documents of the agent API, the same for every interface: mandates, draws, limits, coins, rates,
figures. Amounts are strings of atomic units."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from apps.access.access import Access
from apps.access.models import AgentCredential
from apps.agents.models import AgentSettings, AuthorizationProvider, Mandate, Settlement
from apps.assets.lowest_prices import LowestPrice
from apps.assets.models import Asset, Rate
from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Day, Decimals, Digits, Document, FreeForm, Id, Time

MandateStatus = Annotated[str, Meta(extra_json_schema={"enum": Mandate.Status.values})]
SettlementStatus = Annotated[str, Meta(extra_json_schema={"enum": Settlement.Status.values})]
Provider = Annotated[str, Meta(extra_json_schema={"enum": AuthorizationProvider.values})]


class MandateDocument(Document, frozen=True, kw_only=True):
    id: Id
    scope: str
    mandate_ref: str
    status: MandateStatus
    asset_id: str
    total_cap_atomic: Digits
    per_call_cap_atomic: Digits | None
    spent_atomic: Digits
    remaining_atomic: Digits
    authorization_provider: Provider
    expires_at: Time
    revoked_at: Time | None
    livemode: bool
    created_at: Time
    updated_at: Time


class SettlementDocument(Document, frozen=True, kw_only=True):
    id: Id
    status: SettlementStatus
    asset_id: str
    amount_atomic: Digits
    mandate_ref: str
    mandate_id: Id
    nonce: str
    pay_to: str | None
    payer: str | None
    requirements: FreeForm | None
    tx_ref: str | None
    failure_reason: str | None
    livemode: bool
    created_at: Time
    updated_at: Time


class AgentStoreDocument(Document, frozen=True, kw_only=True):
    id: Id
    name: str
    kyc_confirmed: bool


class AgentDocument(Document, frozen=True, kw_only=True):
    name: str
    principal: str
    token_prefix: str
    scopes: list[str]
    last_used_at: Time | None
    expires_at: Time | None


class AgentAuthorizationDocument(Document, frozen=True, kw_only=True):
    """The issuer that decides for the store, and whether mandates can be issued."""

    provider: Provider
    mandates: bool


class AgentRateLimitDocument(Document, frozen=True, kw_only=True):
    per_minute: int


class AgentContextDocument(Document, frozen=True, kw_only=True):
    """A credential: its store, its mode and its rights."""

    store: AgentStoreDocument
    mode: str
    livemode: bool
    agent: AgentDocument
    authorization: AgentAuthorizationDocument
    accepted_assets_count: int
    rate_limit: AgentRateLimitDocument


class PayoutLimitDocument(Document, frozen=True, kw_only=True):
    """Bounds of payouts of an asset; null is no bound."""

    asset_id: str
    coin_symbol: str
    chain_symbol: str
    atomic_decimals: int
    per_tx_cap_atomic: Digits | None
    daily_cap_atomic: Digits | None
    daily_spent_atomic: Digits
    daily_remaining_atomic: Digits | None
    controls_configured: bool


class PayoutLimitsDocument(Document, frozen=True, kw_only=True):
    limits: list[PayoutLimitDocument]
    utc_day: Day


class AgentTokenDocument(Document, frozen=True, kw_only=True):
    """`lowest_price` is there where the store has set one."""

    asset_id: str
    coin_symbol: str
    chain_symbol: str
    name: str
    atomic_decimals: int
    active: bool
    lowest_price: Decimals | UnsetType = UNSET


class AgentTokensDocument(Document, frozen=True, kw_only=True):
    """Assets that customers can pay with, and those that they could."""

    accepted: list[AgentTokenDocument]
    available: list[AgentTokenDocument]


class AgentTokenChangeDocument(Document, frozen=True, kw_only=True):
    """`provider` is who has allowed it; `lowest_price` is there where the store has set one."""

    asset_id: str
    active: bool
    provider: Provider
    lowest_price: Decimals | UnsetType = UNSET


class ExchangeRateDocument(Document, frozen=True, kw_only=True):
    asset_id: str
    coin_symbol: str
    chain_symbol: str
    currency: str
    rate: Decimals
    source: str
    as_of: Time


class ExchangeRatesDocument(Document, frozen=True, kw_only=True):
    currency: str
    rates: list[ExchangeRateDocument]


class MarketFiguresDocument(Document, frozen=True, kw_only=True):
    """Public reference figures, as JSON numbers for a person's eyes; no money is counted with
    them."""

    query: str
    coin_id: str
    vs_currency: str
    price: float
    market_cap: float | None
    volume_24h: float | None
    change_24h_pct: float | None
    source: str


def mandate_document(mandate: Mandate, status: str) -> MandateDocument:
    """`status` is the mandate's at this moment, which time may have ended."""
    per_call = mandate.per_call_cap_atomic
    return MandateDocument(
        id=str(mandate.pk),
        scope=mandate.scope,
        mandate_ref=mandate.mandate_ref,
        status=status,
        asset_id=mandate.asset_id,
        total_cap_atomic=str(mandate.total_cap_atomic),
        per_call_cap_atomic=None if per_call is None else str(per_call),
        spent_atomic=str(mandate.spent_atomic),
        remaining_atomic=str(mandate.remaining_atomic),
        authorization_provider=mandate.authorization_provider,
        expires_at=iso(mandate.expires_at),
        revoked_at=iso(mandate.revoked_at),
        livemode=mandate.is_live,
        created_at=iso(mandate.created_at),
        updated_at=iso(mandate.updated_at),
    )


def settlement_document(settlement: Settlement) -> SettlementDocument:
    return SettlementDocument(
        id=str(settlement.pk),
        status=settlement.status,
        asset_id=settlement.asset_id,
        amount_atomic=str(settlement.amount_atomic),
        mandate_ref=settlement.mandate.mandate_ref,
        mandate_id=str(settlement.mandate_id),
        nonce=settlement.nonce,
        pay_to=settlement.pay_to,
        payer=settlement.payer,
        requirements=settlement.requirements,
        tx_ref=settlement.tx_ref,
        failure_reason=settlement.failure_reason,
        livemode=settlement.is_live,
        created_at=iso(settlement.created_at),
        updated_at=iso(settlement.updated_at),
    )


def context_document(
    access: Access, agent: AgentCredential, accepted_count: int, per_minute: int
) -> AgentContextDocument:
    store = access.store
    provider = AgentSettings.of(access.store).authorization_provider
    return AgentContextDocument(
        store=AgentStoreDocument(
            id=str(store.pk), name=store.name, kyc_confirmed=store.kyc_confirmed_at is not None
        ),
        mode=access.mode,
        livemode=access.is_live,
        agent=AgentDocument(
            name=agent.name,
            principal=agent.principal,
            token_prefix=agent.token_prefix,
            scopes=[scope for scope in agent.scopes if scope in access.scopes],
            last_used_at=iso(agent.last_used_at),
            expires_at=iso(agent.expires_at),
        ),
        authorization=AgentAuthorizationDocument(
            provider=provider, mandates=provider != AuthorizationProvider.NONE
        ),
        accepted_assets_count=accepted_count,
        rate_limit=AgentRateLimitDocument(per_minute=per_minute),
    )


def tokens_document(
    accepted: Sequence[Asset], available: Sequence[Asset], lowest: Mapping[str, LowestPrice]
) -> AgentTokensDocument:
    """`lowest` are the lowest prices of accepted assets."""
    return AgentTokensDocument(
        accepted=[_token(asset, lowest.get(asset.pk), is_accepted=True) for asset in accepted],
        available=[_token(asset, None, is_accepted=False) for asset in available],
    )


def lowest_price_text(price: LowestPrice | None) -> str | UnsetType:
    """Of a coin that has one."""
    return price.text or UNSET if price is not None else UNSET


def _token(asset: Asset, lowest: LowestPrice | None, *, is_accepted: bool) -> AgentTokenDocument:
    return AgentTokenDocument(
        asset_id=asset.pk,
        coin_symbol=asset.coin_symbol,
        chain_symbol=asset.chain.symbol,
        name=asset.name,
        atomic_decimals=asset.atomic_decimals,
        active=is_accepted,
        lowest_price=lowest_price_text(lowest),
    )


def rate_document(asset: Asset, rate: Rate) -> ExchangeRateDocument:
    return ExchangeRateDocument(
        asset_id=asset.pk,
        coin_symbol=asset.coin_symbol,
        chain_symbol=asset.chain.symbol,
        currency=rate.currency,
        rate=money.rate_text(rate.rate),
        source=rate.source,
        as_of=iso(rate.as_of),
    )
