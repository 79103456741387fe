"""The dashboard can be put on a phone's home screen: its manifest names icons that are there, in
the sizes that it says."""

import json
from pathlib import Path

from django.contrib.staticfiles import finders
from PIL import Image

from tests.cast import Cast
from tests.dashboard.browse import Browser, text


def found(name: str) -> Path:
    path = finders.find(name)
    assert path is not None, name
    return Path(path)


def test_the_manifest_names_icons_of_the_size_that_they_have() -> None:
    manifest = json.loads(found("manifest.webmanifest").read_text())
    assert manifest["start_url"] == manifest["scope"] == "/dashboard/"
    for icon in manifest["icons"]:
        path = found(icon["src"])
        if icon["type"] == "image/png":
            with Image.open(path) as drawn:
                assert f"{drawn.width}x{drawn.height}" == icon["sizes"]


def test_pages_of_the_dashboard_and_of_staff_have_their_icon(cast: Cast) -> None:
    shown = text(Browser(cast.alice).get())
    for name in ("manifest.webmanifest", "img/favicon.svg", "img/icon-180.png"):
        assert f"/static/{name}" in shown and found(name)
