"""A store's looks on public pages: what it is called, its picture, and its colours as a stylesheet,
for no inline style is allowed."""

from django.http import HttpResponse
from django.utils.html import format_html
from django.utils.text import Truncator

from apps.hosted import plumbing
from apps.stores.branding import colour, in_the_dark, ink_on
from apps.stores.models import Store
from apps.stores.test_clock import clock_of

BUTTON_SHOWN = 40  # of a name: two lines of Latin letters on a phone


def brand_of(store: Store) -> plumbing.Context:
    """A store's looks for the templates of its public pages; a shifted test clock in test mode
    alone."""
    clock = clock_of(store)
    name = store.brand_name or store.name
    return {
        "merchant": name,
        # Its ellipsis is at its own end, whichever way it runs
        "merchant_short": format_html("<bdi>{}</bdi>", Truncator(name).chars(BUTTON_SHOWN)),
        "logo_url": plumbing.picture(store.logo_url or None),
        "has_brand": bool(colour(store.primary_color)),
        "is_service_shown": not store.remove_service_branding,
        "support_email": store.support_email,
        "test_clock": clock.now if clock.is_shifted else None,
    }


def sheet(store: Store) -> HttpResponse:
    first = colour(store.primary_color)
    second = colour(store.secondary_color)
    text = ""
    if first:
        edges = f";--brand-ground:{first};--brand-edge:{second or first}"
        text = f"@layer page{{.branded{{{_accent(first, '#000')}{edges}}}"
        dark = in_the_dark(first)
        if dark != first:
            text += f"@media (prefers-color-scheme:dark){{.branded{{{_accent(dark, '#fff')}}}}}"
        text += "}"
    return HttpResponse(
        text,
        content_type="text/css; charset=utf-8",
        headers={"Cache-Control": "private, max-age=300"},
    )


def _accent(color: str, pressed_to: str) -> str:
    hover = f"color-mix(in srgb,{color} 86%,{pressed_to})"
    return f"--accent:{color};--on-accent:{ink_on(color)};--accent-hover:{hover}"
