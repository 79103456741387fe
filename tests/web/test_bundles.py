"""Stylesheets that pages load together are one file."""

from django.contrib.staticfiles import finders

from apps.core.web.bundles import BUNDLES
from tests.cast import Cast
from tests.dashboard.browse import Browser


def content(name: str) -> str:
    path = finders.find(name)
    assert path is not None
    with open(path) as file:
        return file.read()


def test_a_bundle_is_its_parts_in_order() -> None:
    for name, parts in BUNDLES.items():
        assert content(name) == "".join(map(content, parts))


def test_a_page_of_the_dashboard_asks_for_its_frames_styles_once(cast: Cast) -> None:
    page = Browser(cast.alice).get("settings").content.decode()
    assert page.count('rel="stylesheet"') == page.count("css/dashboard_page.css") == 1
