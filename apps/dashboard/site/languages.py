"""Language of a merchant: the one they chose in their profile, else what their browser asks for,
else English. Before they sign in it is the browser's.

Only pages speak it: exports, and whatever a page has written, are English.
"""

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port

from apps.core.web.languages import asked_by_browser
from apps.stores import profile
from apps.stores.models import User


def language_of(request: HttpRequest) -> str:
    """The language of a page of the dashboard. Where staff have a host of their own, everybody
    there reads English."""
    host, _ = split_domain_port(request.get_host())
    if settings.ADMIN_HOST != settings.DASHBOARD_HOST and host == settings.ADMIN_HOST:
        return str(settings.LANGUAGE_CODE)
    browsers = asked_by_browser(request, dict(settings.DASHBOARD_LANGUAGES))
    user = getattr(request, "user", None)
    if isinstance(user, User):
        return profile.language_of(user, browsers)
    return browsers or str(settings.LANGUAGE_CODE)
