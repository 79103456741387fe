"""Rules of the tests themselves."""

import re
from pathlib import Path

from apps.api.urls import ROUTES
from tests import slow_first
from tests.house.files import ROOT, sources


def test_every_route_has_a_test() -> None:
    words = {
        word
        for path in sources("tests")
        if path.suffix == ".py"
        for word in re.findall(r"\w+", path.read_text())
    }
    parts = {route.path: re.findall(r"\w+", re.sub("<[^>]*>", "", route.path)) for route in ROUTES}
    assert [path for path, fixed in parts.items() if not words.issuperset(fixed)] == []


def test_the_files_that_start_first_are_there() -> None:
    assert [
        name for name in slow_first.LIST.read_text().split() if not (ROOT / name).exists()
    ] == []


def test_times_that_were_measured_make_the_list_of_the_files_that_start_first(
    tmp_path: Path,
) -> None:
    cases = (
        ("tests.test_tables", 6.0),
        ("tests.core.test_net.TestIt", 4.0),
        ("tests.core.test_net", 3.5),
        ("tests.gone", 99),
        ("tests.test_walking", 5),
    )
    told = "".join(
        f'<testcase classname="{name}" name="one" time="{seconds}"/>' for name, seconds in cases
    )
    junit = tmp_path / "times.xml"
    junit.write_text(f"<testsuites><testsuite>{told}</testsuite></testsuites>")
    assert slow_first.slow_first(junit) == ["tests/core/test_net.py", "tests/test_tables.py"]
