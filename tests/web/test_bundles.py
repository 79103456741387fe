"""Stylesheets and scripts that pages load together are one file."""

import re

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
        texts = [
            f"{{\n{content(part)}}}\n" if part.endswith(".js") else content(part) for part in parts
        ]
        assert content(name) == "".join(texts)


def test_scripts_of_a_bundle_need_no_module_of_their_own() -> None:
    for parts in BUNDLES.values():
        for part in parts:
            text = content(part) if part.endswith(".js") else ""
            assert not re.search(r"^(import|export)\b", text, re.MULTILINE), part


def test_a_page_of_the_dashboard_asks_for_styles_and_scripts_of_its_frame_once(cast: Cast) -> None:
    page = Browser(cast.alice).get("settings").content.decode()
    assert page.count('rel="stylesheet"') == page.count("css/dashboard_page.css") == 1
    assert page.count('type="module"') == page.count("js/dashboard_page.js") == 1
