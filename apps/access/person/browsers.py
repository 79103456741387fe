"""Names of browsers, in two words."""

import re

from django.utils.translation import gettext_noop

from apps.core.text.wording import Worded

# The first that is found; the order matters, because they all claim to be each other.
_BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
UNKNOWN = gettext_noop("Unknown browser")


def device_of(browser: str) -> str:
    name = next((title for mark, title in _BROWSERS if mark in browser), "")
    system = next((title for mark, title in _SYSTEMS if mark in browser), "")
    if not name and not system:
        return re.split(r"[ /(]", browser, maxsplit=1)[0][:40] or UNKNOWN
    if name and system:
        return Worded("{browser} on {system}", browser=name, system=system)
    if name:
        return Worded("{browser} on an unknown system", browser=name)
    return Worded("A browser on {system}", system=system)
