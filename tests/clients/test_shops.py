"""Plugins of shops that `python -m tests.shops` runs: what their packages have, how long they are,
and what the guide says of them."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from apps.webhooks.catalogue import EVENTS, TEST_ONLY
from tests.shops.__main__ import SHOPS
from tests.shops.oscar import parts_of_the_guide
from tests.stack import ROOT

GUIDE = (ROOT / "docs" / "guide" / "shops.md").read_text()
LINES_MAX = 400
PYTHON = ("pretix", "django-payments", "oscar")
# Those that are run with a plugin of ours; the others have one that somebody else wrote.
OWN = [shop for shop in SHOPS if (ROOT / "clients" / shop).is_dir()]
CODE = (".py", ".ts", ".js")


def sources(shop: str) -> list[Path]:
    return [path for path in (ROOT / "clients" / shop / "src").rglob("*") if path.suffix in CODE]


@pytest.mark.parametrize("shop", OWN)
def test_a_plugin_can_be_read_at_once(shop: str) -> None:
    lines = [line for path in sources(shop) for line in path.read_text().splitlines()]
    assert 0 < len([line for line in lines if line.strip()]) < LINES_MAX


@pytest.mark.parametrize("shop", OWN)
def test_the_guide_says_what_was_run_and_how(shop: str) -> None:
    (row,) = [line for line in GUIDE.splitlines() if f"`clients/{shop}`" in line]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    driver = ROOT / "tests" / "shops" / f"{shop.replace('-', '_')}.py"
    version = re.search(r'^VERSION = "(.+)"$', driver.read_text(), re.M)
    assert version is not None
    assert cells[1] == version[1]
    assert f"python -m tests.shops {shop}" in cells[4]
    assert all(cells)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of the plugins in Python."""
    folder = tmp_path_factory.mktemp("wheels")
    uv = Path(sys.executable).parent / "uv"
    for shop in PYTHON:
        command = [uv, "build", "--quiet", "--offline", "--wheel", ROOT / "clients" / shop]
        subprocess.run([*command, "--out-dir", folder], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("shop", PYTHON)
def test_a_package_has_every_source(wheels: Path, shop: str) -> None:
    """And every template."""
    names = [name for one in wheels.glob("*.whl") for name in zipfile.ZipFile(one).namelist()]
    top = ROOT / "clients" / shop / "src"
    files = [*sources(shop), *top.rglob("*.html")]
    assert {str(path.relative_to(top)) for path in files} <= set(names)


def test_the_guide_has_the_parts_that_the_shop_of_oscar_is_made_of() -> None:
    parts = parts_of_the_guide()
    assert list(parts) == ["shop/checkout/views.py", "shop/order/processing.py", "settings"]
    for text in parts.values():
        compile(text, "the guide", "exec")


def test_the_package_for_pretix_says_what_pretix_looks_for(wheels: Path) -> None:
    with zipfile.ZipFile(next(wheels.glob("pretix_*.whl"))) as wheel:
        (points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
        told = wheel.read(points).decode()
    assert "[pretix.plugin]\ntillgate = pretix_tillgate" in told


def test_the_package_for_n8n_says_what_n8n_looks_for() -> None:
    """n8n loads a file by its path, and the class in it by the file's name."""
    folder = ROOT / "clients" / "n8n"
    told = json.loads((folder / "package.json").read_text())
    assert told["name"].startswith("n8n-nodes-") and "dependencies" not in told
    loaded = {*told["n8n"]["nodes"], *told["n8n"]["credentials"]}
    found = set()
    for path in sources("n8n"):
        name, _, kind = path.stem.partition(".")
        if kind in ("node", "credentials"):
            assert f"export class {name} " in path.read_text()
            found.add(f"dist/{path.relative_to(folder / 'src').with_suffix('.js')}")
    assert found == loaded


def test_the_trigger_of_n8n_offers_every_event_that_happens() -> None:
    path = ROOT / "clients" / "n8n" / "src" / "nodes" / "TillgateTrigger" / "events.ts"
    offered = re.findall(r'"(.+?)"', path.read_text())
    assert sorted(offered) == sorted(name for name in EVENTS if name not in TEST_ONLY)
