"""Language of a customer: the one they chose (`?lang=`, then a cookie), else the one we know them
by, else what their browser asks for, else English.

The API, the staff site and the documentation speak English whatever a browser asks for; the
dashboard has languages of its own (apps/dashboard/site/languages.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from apps.billing.models import Customer
from apps.billing.services.languages import remember_language
from apps.core.web.homes import HOMES
from apps.core.web.languages import asked_by_browser
from apps.hosted import domains

PARAMETER = "lang"
COOKIE = "checkout_language"
COOKIE_SECONDS = 365 * 24 * 3600
# Everything that isn't somebody else's is for customers, so that what they mistype is too. The
# mailbox of a demo is for who runs it.
_NOT_CUSTOMERS = (*(prefix for prefixes, _ in HOMES for prefix in prefixes), "/dev/", "/internal/")


@dataclass(frozen=True)
class Link:
    """A language by its own name, and the same page in it."""

    code: str
    name: str
    href: str
    is_current: bool


class CustomerLanguage:
    """Activates the language of a customer's page while it is made."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_for_customers(request):
            with translation.override(settings.LANGUAGE_CODE):
                return self.get_response(request)
        chosen = chosen_by(request)
        request.language_links = lambda: links(request)  # type: ignore[attr-defined]  # hosted/_languages.html
        asked = chosen or asked_by_browser(request, dict(settings.LANGUAGES))
        with translation.override(asked or settings.LANGUAGE_CODE):
            response = self.get_response(request)
            if response.get("Content-Type", "").startswith(
                "text/html"
            ):  # a script or a picture is the same for everybody
                response.headers.setdefault(
                    "Content-Language", translation.get_language() or settings.LANGUAGE_CODE
                )
                patch_vary_headers(response, ("Accept-Language", "Cookie"))
                _remember(request, response)
        return response


def is_for_customers(request: HttpRequest) -> bool:
    """True if the reader is somebody's customer. At a store's own domain everybody is."""
    return domains.store_of(request) is not None or not request.path.startswith(_NOT_CUSTOMERS)


def supported(code: str | None) -> str:
    """The code of a language that there is; empty for any other."""
    return code if code and code in dict(settings.LANGUAGES) else ""


def chosen_by(request: HttpRequest) -> str:
    """Language that the customer chose by hand, here or earlier."""
    return supported(request.GET.get(PARAMETER)) or supported(request.COOKIES.get(COOKIE))


def speak_to(request: HttpRequest, customer: Customer) -> None:
    """From here on in the language that we know this customer by; one that is chosen by hand on
    their page becomes it."""
    language = supported(request.GET.get(PARAMETER))
    if language:
        remember_language(customer, language)
    elif supported(customer.language) and not chosen_by(request):
        translation.activate(customer.language)


def links(request: HttpRequest) -> Iterator[Link]:
    """Links to this page in every language."""
    current = translation.get_language()
    for code, name in settings.LANGUAGES:
        query = request.GET.copy()
        query[PARAMETER] = code
        yield Link(code, name, f"?{query.urlencode()}", is_current=code == current)


def _remember(request: HttpRequest, response: HttpResponse) -> None:
    """Only who chose by hand gets a cookie, and not within somebody else's page: there the frame's
    address says it."""
    chosen = supported(request.GET.get(PARAMETER))
    if chosen and chosen != request.COOKIES.get(COOKIE) and request.GET.get("embed") != "1":
        response.set_cookie(
            COOKIE,
            chosen,
            max_age=COOKIE_SECONDS,
            secure=request.is_secure(),
            httponly=True,
            samesite="Lax",
        )
