"""Prices of card payments: real quotes of every method, asked side by side until a deadline, cached
briefly per intent.

A network that hangs costs only itself. An offer that can't be right (more delivered than charged
for, another charge) is left out.
"""

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import structlog
from django.conf import settings
from django.core.cache import cache

from apps.assets.selectors import current_rate
from apps.core import clock, money
from apps.core.errors import Failure, RefusalKind
from apps.onramp.documents import CardMethodDocument, CardMethodsDocument, CardProviderDocument
from apps.onramp.providers.base import (
    CustomerPlace,
    Method,
    OnrampCoin,
    OnrampOffer,
    OnrampProvider,
    QuoteRequest,
)
from apps.onramp.services.availability import (
    AMOUNT_REASONS,
    CardsUnavailable,
    UsableNetwork,
    availability,
    is_payable,
    least_charge_cents,
    target_atomic,
)  # fmt: skip
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services.hold import is_past_deadline

log = structlog.get_logger(__name__)
WORKERS = 8
# An offer is believed when what it delivers is worth at most this part of its charge, and it
# charges at most this for a delivery.
WORTH_MAX_BPS = money.Bps(10_500)
CHARGE_MAX_BPS = money.Bps(13_000)
_pools: dict[str, ThreadPoolExecutor] = {}


class NoLongerPayable(Failure):
    message = "Payment can no longer be paid"


class NotAvailable(Failure):
    message = "Card payments are not available"


class NotForThisAmount(Failure):
    message = "Card payments are not available for this amount"


class NoQuoteInTime(Failure):
    kind = RefusalKind.UPSTREAM
    message = "No quote in time"


@dataclass(frozen=True)
class PricedMethod:
    """A method with its offers, best first. `id` names the network too."""

    network: str
    method: Method
    offers: list[OnrampOffer]

    @property
    def id(self) -> str:
        return f"{self.network}.{self.method.id}"

    @property
    def best(self) -> OnrampOffer:
        return self.offers[0]


@dataclass(frozen=True)
class Priced:
    """Everything there was to choose from. `known_ids` are methods that exist here, whether anybody
    quoted them or not."""

    provider: str
    currency: str
    settlement_amount_cents: int
    service_fee_cents: int
    is_borne_by_payer: bool
    methods: list[PricedMethod]
    decimals: dict[str, int]
    symbols: dict[str, str]
    known_ids: frozenset[str]

    def document(self) -> CardMethodsDocument:
        return CardMethodsDocument(
            provider=self.provider,
            currency=self.currency,
            settlement_amount_cents=self.settlement_amount_cents,
            service_fee_cents=self.service_fee_cents,
            fee_borne_by="payer" if self.is_borne_by_payer else "merchant",
            payment_methods=[self._method(method) for method in self.methods],
        )

    def _method(self, priced: PricedMethod) -> CardMethodDocument:
        return CardMethodDocument(
            id=priced.id,
            name=priced.method.name,
            code=priced.method.code,
            letter_id=priced.method.letter_id,
            icon_url=_absolute(priced.method.icon_url),
            crypto_symbol=self.symbols[priced.network],
            charge_amount_cents=priced.best.charge_cents,
            converted_amount_cents=priced.best.converted_cents,
            crypto_amount=self._coins(priced, priced.best),
            provider_id=priced.best.service_id,
            provider_name=priced.best.service_name,
            providers=[
                self._provider(priced, offer, is_first=offer is priced.best)
                for offer in priced.offers
            ],
        )

    def _provider(
        self, priced: PricedMethod, offer: OnrampOffer, *, is_first: bool
    ) -> CardProviderDocument:
        return CardProviderDocument(
            id=offer.service_id,
            name=offer.service_name,
            slug=offer.service_slug,
            icon_url=_absolute(offer.icon_url),
            charge_amount_cents=offer.charge_cents,
            converted_amount_cents=offer.converted_cents,
            crypto_amount=self._coins(priced, offer),
            no_kyc=offer.is_kyc_free,
            recommended=is_first,
        )

    def _coins(self, priced: PricedMethod, offer: OnrampOffer) -> str:
        return money.decimal_from_atomic(offer.crypto_atomic, self.decimals[priced.network])


def _absolute(url: str | None) -> str | None:
    """A picture of ours is named with its host."""
    return f"{settings.PUBLIC_URL}{url}" if url and url.startswith("/") else url


@dataclass
class _QuoteSearch:
    """The questions of one search and what has come back."""

    methods: list[PricedMethod] = field(default_factory=list)
    known_ids: set[str] = field(default_factory=set)
    has_failed: bool = False


def price_methods(payment: Payment, place: CustomerPlace, provider: str = "") -> Priced:
    """The methods at this place, best first. Raises NoLongerPayable, NotAvailable, NotForThisAmount
    or NoQuoteInTime.

    Not inside a transaction.
    """
    usable = networks_to_ask(payment, provider)
    key = f"onramp:{payment.pk}:{place.country}:{place.region}:{provider}"
    cached = _cached(lambda: cache.get(key))
    if isinstance(cached, Priced):
        return cached
    search = _search(payment, place, usable)
    if not search.methods and search.has_failed:
        raise NoQuoteInTime
    priced = _priced(payment, usable, search, provider)
    _cached(lambda: cache.set(key, priced, settings.CARD_QUOTE_SECONDS))
    return priced


def networks_to_ask(payment: Payment, provider: str = "") -> list[UsableNetwork]:
    """Raises NoLongerPayable, NotAvailable or NotForThisAmount."""
    if not is_payable(payment) or is_past_deadline(payment):
        raise NoLongerPayable
    options = availability(payment)
    usable = [candidate for candidate in options.usable if provider in ("", candidate.network.name)]
    if not usable:
        raise _refusal(options.unavailable)
    return usable


def _refusal(unavailable: CardsUnavailable | None) -> Failure:
    return (
        NotForThisAmount()
        if unavailable is not None and unavailable.reason in AMOUNT_REASONS
        else NotAvailable()
    )


def _cached(look: Callable[[], Any]) -> Any:
    """Without Redis every search is a new one."""
    try:
        return look()
    except Exception as error:  # whatever the cache's client raises
        log.warning("quotes_not_kept", error=type(error).__name__)
        return None


def _search(payment: Payment, place: CustomerPlace, usable: list[UsableNetwork]) -> _QuoteSearch:
    """QuoteRequest every network for its methods, then every method for its offers, all at once."""
    search = _QuoteSearch()
    real = clock.real_now()
    deadline = time.monotonic() + settings.CARD_DEADLINE_SECONDS
    waiting: dict[Future[Any], tuple[UsableNetwork, Method | None]] = {}
    asks = {
        provider.network.name: (
            provider.network.ready,
            provider.entry,
            _rate(payment, provider.entry, real),
        )
        for provider in usable
    }
    for provider in usable:
        adapter, entry, _ = asks[provider.network.name]
        waiting[
            _submit(adapter.name, adapter.methods, place, payment.settlement_currency, _coin(entry))
        ] = (provider, None)
    while waiting and (remaining := deadline - time.monotonic()) > 0:
        done, _ = wait(waiting, timeout=remaining, return_when=FIRST_COMPLETED)
        for future in done:
            provider, method = waiting.pop(future)
            adapter, entry, rate = asks[provider.network.name]
            answer = _answer(future, provider, search)
            if method is not None:
                _take(search, payment, provider, method, answer or [], rate)
                continue
            for offer in answer or []:
                search.known_ids.add(f"{adapter.name}.{offer.id}")
                waiting[
                    _submit(adapter.name, adapter.quote, _ask(payment, place, entry, offer, rate))
                ] = (provider, offer)
    if waiting:
        search.has_failed = True
        log.warning(
            "quotes_late", networks=sorted({late.network.name for late, _ in waiting.values()})
        )
        for future in waiting:
            future.cancel()
    return search


def _submit(name: str, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Each network has workers of its own, so that one which hangs holds up nobody else."""
    pool = _pools.setdefault(
        name, ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix=f"onramp-{name}")
    )
    return pool.submit(call, *arguments)


def _answer(future: Future[Any], provider: UsableNetwork, search: _QuoteSearch) -> Any:
    """A network's answer; one that fails, in any way, offers nothing."""
    try:
        return future.result()
    except Exception as error:
        search.has_failed = True
        log.warning(
            "quote_failed",
            network=provider.network.name,
            error=str(error)[:200] or type(error).__name__,
        )
        return None


def _coin(entry: PaymentAddress) -> OnrampCoin:
    return OnrampCoin(entry.asset_id, entry.asset.chain_id, entry.asset.atomic_decimals)


def _rate(payment: Payment, entry: PaymentAddress, real: datetime) -> Decimal:
    """Present price of a coin; the locked rate replaces a missing one."""
    row = current_rate(entry.asset_id, payment.settlement_currency, real)
    return row.rate if row is not None else entry.exchange_rate


def _ask(
    payment: Payment, place: CustomerPlace, entry: PaymentAddress, method: Method, rate: Decimal
) -> QuoteRequest:
    target = target_atomic(payment, entry)
    charge = payment.settlement_amount_cents if target is None else None
    return QuoteRequest(
        method,
        place,
        payment.settlement_currency,
        _coin(entry),
        rate,
        charge_cents=charge,
        target_atomic=target,
    )


def _take(
    search: _QuoteSearch,
    payment: Payment,
    provider: UsableNetwork,
    method: Method,
    offers: list[OnrampOffer],
    rate: Decimal,
) -> None:
    believed = [
        offer
        for offer in offers
        if is_worth_offering(payment, provider.entry, offer, rate, provider.network.ready)
    ]
    ranked = sorted(
        believed, key=lambda offer: (-offer.crypto_atomic, offer.charge_cents, offer.service_id)
    )
    if ranked:
        search.methods.append(PricedMethod(provider.network.name, method, ranked))


def is_worth_offering(
    payment: Payment,
    entry: PaymentAddress,
    offer: OnrampOffer,
    rate: Decimal,
    adapter: OnrampProvider,
) -> bool:
    """True if an offer can be believed, keeps to the network's bounds, and brings the store what it
    must."""
    decimals = entry.asset.atomic_decimals
    target = target_atomic(payment, entry)
    worth_cents = money.cents_for_atomic(offer.crypto_atomic, rate, decimals)
    if not 0 < offer.converted_cents <= offer.charge_cents or worth_cents > money.share(
        offer.charge_cents, WORTH_MAX_BPS
    ):
        return False
    if adapter.ceiling_cents is not None and offer.charge_cents > adapter.ceiling_cents:
        return False
    if target is None:
        least_atomic = entry.required_atomic - money.share(
            entry.required_atomic, money.Bps(settings.CARD_RATE_BPS)
        )
        return (
            offer.charge_cents == payment.settlement_amount_cents
            and offer.crypto_atomic >= least_atomic
        )
    is_fair = offer.charge_cents <= money.share(least_charge_cents(payment, entry), CHARGE_MAX_BPS)
    return is_fair and offer.crypto_atomic >= entry.required_atomic


def _priced(
    payment: Payment, usable: list[UsableNetwork], search: _QuoteSearch, provider: str
) -> Priced:
    entries = {provider.network.name: provider.entry for provider in usable}
    worth = {
        method.id: money.cents_for_atomic(
            method.best.crypto_atomic,
            entries[method.network].exchange_rate,
            entries[method.network].asset.atomic_decimals,
        )
        for method in search.methods
    }
    methods = sorted(
        search.methods,
        key=lambda method: (
            -worth[method.id],
            -method.best.crypto_atomic,
            method.best.charge_cents,
            method.id,
        ),
    )
    first = methods[0].network if methods else usable[0].network.name
    on_top = least_charge_cents(payment, entries[first]) - payment.settlement_amount_cents
    return Priced(
        provider=provider or first,
        currency=payment.settlement_currency,
        settlement_amount_cents=payment.settlement_amount_cents,
        service_fee_cents=max(0, on_top),
        is_borne_by_payer=payment.customer_pays_fee,
        methods=methods,
        decimals={name: entry.asset.atomic_decimals for name, entry in entries.items()},
        symbols={name: entry.asset.coin_symbol for name, entry in entries.items()},
        known_ids=frozenset(search.known_ids),
    )
