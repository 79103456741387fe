"""The developers' guide and the page on the architecture name files, functions and commands that
exist, in columns that are read."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.screens import KB_MAX, SCREENS

ROOT = Path(__file__).resolve().parents[2]
PAGES = {name: (ROOT / "docs" / name).read_text() for name in ("architecture.md", "developers.md")}
TEXT = "\n".join(PAGES.values())
COLUMNS_MAX = 100
FOLDERS = "apps|config|dev|tests|docs|clients|deploy|requirements|templates|static|locale"
PLACES = re.findall(rf"`((?:{FOLDERS})/[\w/]+\.py):(\w+)`", TEXT)
PATHS = re.findall(rf"`((?:{FOLDERS})/[\w/.-]+)`", TEXT)
# What is typed: in fences for a shell, and between backticks.
TYPED = [
    line
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
] + re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))
MODULES = sorted({module for line in TYPED for module in re.findall(r"python -m ([\w.]+)", line)})
COMMANDS = sorted(
    {name for line in TYPED for name in re.findall(r"manage\.py (\w+)", line)} - {"test"}
)
SCRIPTS = sorted({name for line in TYPED for name in re.findall(r"npm run (\w+)", line)})
TESTED = sorted(
    {
        path
        for line in TYPED
        for options in re.findall(r"manage\.py test ([^`]+)", line)
        for path in re.findall(r"(?:^| )(tests/[\w/.]+)", options)
    }
)


def test_every_path_of_the_guide_exists() -> None:
    assert len(PATHS) > 50
    assert [path for path in PATHS if not (ROOT / path).exists()] == []


def test_the_pictures_of_the_readme_are_those_that_are_taken() -> None:
    shown = set(re.findall(r"docs/screens/([\w-]+)\.png", (ROOT / "README.md").read_text()))
    taken = {screen.name for screen in SCREENS}
    assert shown == taken and len(taken) > 8
    for name in taken:
        assert (ROOT / "docs" / "screens" / f"{name}.png").stat().st_size <= KB_MAX * 1024


def test_every_function_of_the_journeys_stands_in_its_file() -> None:
    assert len(PLACES) > 30
    missing = [
        f"{path}:{name}"
        for path, name in PLACES
        if not re.search(
            rf"^ *(?:async )?(?:def|class) {name}\b|^ *{name}\b", (ROOT / path).read_text(), re.M
        )
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_lines_are_as_wide_as_those_of_code(page: str) -> None:
    assert [line for line in PAGES[page].splitlines() if len(line) > COLUMNS_MAX] == []


def test_every_module_that_is_run_exists() -> None:
    assert len(MODULES) > 15
    assert [name for name in MODULES if find_spec(name) is None] == []


def test_every_command_of_manage_exists() -> None:
    assert "lint_migrations" in COMMANDS
    assert [name for name in COMMANDS if name not in get_commands()] == []


def test_every_script_of_npm_and_every_file_of_tests_exists() -> None:
    scripts = json.loads((ROOT / "clients/typescript/package.json").read_text())["scripts"]
    assert [name for name in SCRIPTS if name not in scripts] == []
    assert [path for path in TESTED if not (ROOT / path).exists()] == []


def test_each_decision_of_the_ten_is_linked() -> None:
    links = re.findall(r"\]\((decisions/[\w-]+\.md)\)", PAGES["architecture.md"])
    assert len(links) == 11
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
