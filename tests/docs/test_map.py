"""The developers' guide names files and functions that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "developers.md").read_text()
PLACES = re.findall(r"`((?:apps|config|dev|tests)/[\w/]+\.py):(\w+)`", GUIDE)
PATHS = re.findall(
    r"`((?:apps|config|dev|tests|docs|clients|deploy|requirements)/[\w/.-]+)`", GUIDE
)


def test_every_path_of_the_guide_exists() -> None:
    assert len(PATHS) > 50
    missing = [path for path in PATHS if not (ROOT / path).exists()]
    assert missing == []


def test_every_function_of_the_journeys_stands_in_its_file() -> None:
    assert len(PLACES) > 30
    missing = [
        f"{path}:{name}"
        for path, name in PLACES
        if not re.search(
            rf"^(?:async )?(?:def|class) {name}\b|^{name}\b", (ROOT / path).read_text(), re.M
        )
    ]
    assert missing == []
