"""The living style page: every component of the design system once, checked and pictured."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.template import engines

from apps.core.badges import all_badges
from tests.browser.conftest import OpenPage, barriers, overflow, put_on, shoot

LOOKS: dict[str, dict[str, Any]] = {
    "desk": {},
    "dark": {"dark": True},
    "phone": {"width": 390, "height": 844},
}


def test_the_style_page_is_clean_in_every_look(open_page: OpenPage) -> None:
    source = (Path(__file__).parent / "style_page.html").read_text()
    shown = (
        engines["django"]
        .from_string(source)
        .render(
            {
                "statuses": list(all_badges()["payment"]),
                "at": datetime(2026, 11, 21, 9, 14, tzinfo=UTC),
            }
        )
    )
    page = open_page("/healthz")
    page.route("**/style", lambda route: route.fulfill(content_type="text/html", body=shown))
    page.goto(page.url.replace("/healthz", "/style"))
    page.add_style_tag(content=".style-page{max-width:72rem;margin:auto;padding:2rem 1.25rem}")
    for way, look in LOOKS.items():
        put_on(page, **look)
        shoot(page, f"style-{way}")
        assert barriers(page) == [], way
        assert overflow(page) <= 0, way
