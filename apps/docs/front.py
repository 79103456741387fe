"""The front page: to a stranger, what the service does, what it costs and which coins it takes.

It says only what is true of this installation: its coins, the fee that a new store gets, and
whether everybody can create an account; in the language of the visitor's browser, where the
dashboard has it.
"""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from apps.access.person import sign_up
from apps.assets.selectors import listed_assets
from apps.core.models import Mode
from apps.core.redis import value_cache
from apps.core.web.languages import asked_by_browser
from apps.payouts.services.price import price_of_new_stores
from apps.stores.models import Currency

COINS = "front_page:coins"
COINS_KEPT_SECONDS = 60
SERVICE = "Tillgate"


def show(request: HttpRequest) -> HttpResponse:
    host = settings.DASHBOARD_URL if settings.DASHBOARD_HOST else ""
    docs = settings.API_URL if settings.API_HOST else ""
    parts = {
        "name": settings.OPERATOR_NAME or SERVICE,
        "operator": settings.OPERATOR_NAME,
        "operator_url": settings.OPERATOR_URL,
        "logo": settings.OPERATOR_LOGO,
        "coins": _coins(),
        "language_count": len(settings.LANGUAGES),
        "currency_count": len(Currency.choices),
        "price": price_of_new_stores(),
        "is_open": sign_up.is_open(),
        "sign_in": host + reverse("dashboard:sign_in"),
        "sign_up": host + reverse("dashboard:sign_up"),
        "docs": docs + reverse("docs"),
        "quickstart": docs + reverse("docs_page", args=["quickstart"]),
    }
    language = asked_by_browser(request, dict(settings.DASHBOARD_LANGUAGES))
    with translation.override(language or settings.LANGUAGE_CODE):  # as the dashboard's
        response = render(request, "front/page.html", parts)
    patch_vary_headers(response, ("Accept-Language",))
    return response


def _coins() -> dict[str, list[str]]:
    """Coin symbol -> the networks that customers can pay it on in live mode."""
    match value_cache.get(COINS):
        case dict(kept):
            return kept
    coins: dict[str, list[str]] = {}
    for asset in listed_assets(Mode.LIVE):
        coins.setdefault(asset.coin_symbol, []).append(asset.chain.name)
    value_cache.put(COINS, coins, COINS_KEPT_SECONDS)
    return coins
