"""Rates in currencies that no source quotes a coin in: through dollars or euros, by the reference
rates of a central bank. Nothing is priced by a file that is older than a long weekend."""

import time
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import cast

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from apps.assets.providers.base import Crosses, CrossProvider
from apps.core.errors import ProviderError
from apps.core.money import rate_inverted, rate_through

log = structlog.get_logger(__name__)
# From the Thursday before Easter to the Tuesday after it no file is made.
AGE_MAX = timedelta(days=5)
# It changes once a day; a source that fails is asked again sooner.
KEPT_SECONDS = 3600.0
FAILED_SECONDS = 300.0
THROUGH = ("USD", "EUR")
_kept: dict[str, tuple[float, Crosses | None]] = {}


def source_of(mode: str) -> CrossProvider | None:
    entries = settings.PROVIDERS["crosses"][mode]
    if not entries:
        return None
    return cast(CrossProvider, import_string(entries[0]["BACKEND"])(**entries[0]["OPTIONS"]))


def crosses_of(source: CrossProvider, today: date) -> Mapping[str, Decimal]:
    """Price of a euro in each currency; empty where the source fails or its file is old. Asked for
    once in a while."""
    until, crosses = _kept.get(source.name, (0.0, None))
    if time.monotonic() >= until:
        try:
            crosses = source.crosses()
        except ProviderError as error:
            log.warning("crosses_unavailable", provider=source.name, error=str(error))
            crosses = None
        seconds = FAILED_SECONDS if crosses is None else KEPT_SECONDS
        _kept[source.name] = time.monotonic() + seconds, crosses
    if crosses is None:
        return {}
    if not today - AGE_MAX <= crosses.day <= today + timedelta(days=1):
        log.warning("crosses_stale", provider=source.name, day=crosses.day.isoformat())
        return {}
    return crosses.per_euro


def through(
    rate: Decimal, currency: str, wanted: str, per_euro: Mapping[str, Decimal]
) -> Decimal | None:
    """A coin's rate in one currency as one in another; None where a cross is missing."""
    if currency not in per_euro or wanted not in per_euro:
        return None
    return rate_through(rate_through(rate, rate_inverted(per_euro[currency])), per_euro[wanted])
