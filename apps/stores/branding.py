"""A store's looks: its name on pages, two colours, and a logo that we have drawn anew from the
uploaded picture.

Only six hexadecimal digits are a colour. Only a process that can do nothing else opens an upload,
and only our own PNG of it is ever stored or served.
"""

import hashlib
import re

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from apps.core.documents import redrawing
from apps.core.errors import Failure
from apps.core.messages.fields import Text
from apps.stores.models import Store
from apps.stores.services import change_store
from apps.stores.verifying.uploads import CheckNotPossible, charge

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)
_NAME = Text(100, trim=True)
LOGO_BYTES_MAX = 1024 * 1024
# What is kept at most is twice what any page shows.
LOGO_BOUNDS = redrawing.Bounds(pixels=2048 * 2048, width=800, height=400, pages=1, cpu_seconds=2)
LOGO_FORMATS = (redrawing.PNG, redrawing.JPEG, redrawing.WEBP, redrawing.GIF)
WHITE = "#ffffff"
# The surface and the ink of dark pages (static/css/tokens.css).
DARK_SURFACE, DARK_INK = "#151e1a", "#e8efeb"
# Of a button and what it is on: a little more than WCAG asks of parts of a page.
DARK_CONTRAST_MIN = 3.5
_GRAY_SATURATION_MAX = 0.12
_LIGHTER_BY = 0.02


class NotAColour(Failure):
    field = "primary_color"
    message = "A color is # and six hexadecimal digits, such as #0a6b4c"


class LogoTooLarge(Failure):
    field = "logo"
    message = "The logo is larger than 1 MB or than 2048 by 2048 pixels"


class NotAPicture(Failure):
    field = "logo"
    message = "The logo must be a PNG, JPEG, WebP or GIF picture"


def colour(text: str) -> str:
    """A store's colour, or nothing when it isn't six hexadecimal digits."""
    return text.lower() if _COLOUR.fullmatch(text) else ""


def ink_on(ground: str) -> str:
    """Black or white, whichever reads better on a colour."""
    # At 0.179 black and white have the same contrast.
    return "#000000" if _luminance(ground) > 0.179 else WHITE


def contrast(color: str, other: str) -> float:
    """The contrast of two colours as WCAG counts it, 1 to 21."""
    darker, lighter = sorted((_luminance(color), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def in_the_dark(color: str) -> str:
    """The color on dark pages: itself, lighter of the same hue where a button of it would recede
    into the page, and what text has in place of black and dark grays."""
    import colorsys  # for the sheets of those stores alone

    if contrast(color, DARK_SURFACE) >= DARK_CONTRAST_MIN:
        return color
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(*parts)
    if saturation <= _GRAY_SATURATION_MAX:
        return DARK_INK
    while contrast(color, DARK_SURFACE) < DARK_CONTRAST_MIN:
        lightness += _LIGHTER_BY
        lighter = colorsys.hls_to_rgb(hue, lightness, saturation)
        color = "#" + "".join(f"{round(part * 255):02x}" for part in lighter)
    return color


def _luminance(ground: str) -> float:
    red, green, blue = (_linear(int(ground[at : at + 2], 16)) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: int) -> float:
    part = channel / 255
    return float(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)


def change_branding(
    store: Store, *, brand_name: str, primary_color: str, secondary_color: str
) -> Store:
    """Empty texts take a thing off. Raises Invalid or NotAColour."""
    for field, text in (("primary_color", primary_color), ("secondary_color", secondary_color)):
        if text and not colour(text):
            raise NotAColour(field=field)
    return change_store(
        store,
        brand_name=_NAME.check(brand_name, "brand_name") or "",
        primary_color=colour(primary_color),
        secondary_color=colour(secondary_color),
    )


def set_logo(store: Store, uploaded: bytes) -> Store:
    """The store's logo from an uploaded picture. Raises LogoTooLarge, NotAPicture, TooManyUploads
    or CheckNotPossible."""
    drawn = _redrawn(store, uploaded)
    # A name of its content: it can be kept by caches for good, and another logo has another
    # address.
    name = f"logos/{store.pk}/{hashlib.sha256(drawn).hexdigest()[:32]}.png"
    if not default_storage.exists(name):
        default_storage.save(name, ContentFile(drawn))
    _keep(store, name, f"{settings.PUBLIC_URL}/media/{name}")
    return store


def remove_logo(store: Store) -> Store:
    _keep(store, "", "")
    return store


def read_logo(store: Store) -> bytes | None:
    """The PNG that we drew, None without one."""
    if not store.logo_name:
        return None
    try:
        with default_storage.open(store.logo_name) as file:
            content: bytes = file.read()
    except OSError:
        return None
    return content


def _keep(store: Store, name: str, url: str) -> None:
    with transaction.atomic():
        locked = Store.objects.select_for_update(no_key=True).get(pk=store.pk)
        before = locked.logo_name
        change_store(store, logo_name=name, logo_url=url)
        if before and before != name:
            transaction.on_commit(lambda: default_storage.delete(before))


def _redrawn(store: Store, uploaded: bytes) -> bytes:
    """The first frame, upright and without what else the file carried, as PNG."""
    if len(uploaded) > LOGO_BYTES_MAX:
        raise LogoTooLarge
    if redrawing.kind_of(uploaded) not in LOGO_FORMATS:
        raise NotAPicture
    charge(store, LOGO_BOUNDS.cpu_seconds, "logo")
    try:
        return redrawing.picture(uploaded, LOGO_BOUNDS, is_transparent=True)
    except redrawing.TooManyPixels:
        raise LogoTooLarge from None
    except redrawing.NotRedrawn:
        raise NotAPicture from None
    except redrawing.NotPossible:
        raise CheckNotPossible(field="logo") from None
