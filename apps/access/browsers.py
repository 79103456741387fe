"""What a browser says of itself, in two words that people know."""

import re

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


def device_of(browser: str) -> str:
    name = next((title for mark, title in _BROWSERS if mark in browser), "")
    system = next((title for mark, title in _SYSTEMS if mark in browser), "")
    if not name and not system:
        return re.split(r"[ /(]", browser, maxsplit=1)[0][:40] or "Unknown browser"
    return f"{name or 'A browser'} on {system or 'an unknown system'}"
