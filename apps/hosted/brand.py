"""A store's looks on public pages: what it is called, its picture, and its colours as a stylesheet,
for no inline style is allowed."""

from django.http import HttpResponse

from apps.hosted import plumbing
from apps.stores.branding import colour, ink_on
from apps.stores.models import Store
from apps.stores.test_clock import clock_of


def brand_of(store: Store) -> plumbing.Context:
    """What the templates of every public page of a store show of it; a shifted test clock in test
    mode alone."""
    clock = clock_of(store)
    return {
        "merchant": store.brand_name or store.name,
        "logo_url": plumbing.picture(store.logo_url or None),
        "has_brand": bool(colour(store.primary_color)),
        "is_service_shown": not store.remove_service_branding,
        "support_email": store.support_email,
        "test_clock": clock.now if clock.is_shifted else None,
    }


def sheet(store: Store) -> HttpResponse:
    first = colour(store.primary_color)
    second = colour(store.secondary_color)
    rules = []
    if first:
        rules += [
            f"--accent:{first}",
            f"--on-accent:{ink_on(first)}",
            f"--accent-hover:color-mix(in srgb,{first} 86%,#000)",
        ]
        rules += [f"--brand-ground:{first}", f"--brand-edge:{second or first}"]
    text = f"@layer page{{.branded{{{';'.join(rules)}}}}}" if rules else ""
    return HttpResponse(
        text,
        content_type="text/css; charset=utf-8",
        headers={"Cache-Control": "private, max-age=300"},
    )
