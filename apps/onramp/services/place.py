"""A customer's place: the edge's answer, else the request's, else the store's own country."""

import re
from collections.abc import Mapping

from django.conf import settings

from apps.core.errors import Failure
from apps.onramp.providers.base import CustomerPlace
from apps.stores.models import Store

_COUNTRY = re.compile(r"[A-Z]{2}", re.ASCII)
_REGION = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .'-]{0,48}", re.ASCII)
# What edges say of somebody they can't place, or who comes through Tor.
_NOWHERE = {"XX", "T1", "ZZ"}


class CountryRequired(Failure):
    message = "Country is required"


class CountryInvalid(Failure):
    message = "country must be two upper-case letters"


class RegionInvalid(Failure):
    message = "region is invalid"


def place_of(
    headers: Mapping[str, str], store: Store, country: object = None, region: object = None
) -> CustomerPlace:
    """Raises CountryRequired, CountryInvalid or RegionInvalid."""
    at_edge = country_at_edge(headers)
    if country in (None, ""):
        country = ""
    elif not isinstance(country, str) or not _COUNTRY.fullmatch(country):
        raise CountryInvalid
    if region in (None, ""):
        region = ""
    elif not isinstance(region, str) or not _REGION.fullmatch(region):
        raise RegionInvalid
    country_code = at_edge or country or store.country
    if not country_code:
        raise CountryRequired
    region_code = _first(headers, settings.EDGE_REGION_HEADERS, _REGION) or region
    return CustomerPlace(country_code, region_code.removeprefix(f"{country_code}-"))


def country_at_edge(headers: Mapping[str, str]) -> str:
    country = _first(headers, settings.EDGE_COUNTRY_HEADERS, _COUNTRY)
    return "" if country in _NOWHERE else country


def _first(headers: Mapping[str, str], names: list[str], form: re.Pattern[str]) -> str:
    return next(
        (value for name in names if (value := headers.get(name, "")) and form.fullmatch(value)), ""
    )
