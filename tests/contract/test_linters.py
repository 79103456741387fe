"""Redocly and spectral find no error in the description."""

from pathlib import Path

import pytest

from apps.api.description import _document
from tests.clients import npm

SOURCES = Path(__file__).with_name("linting")
RULES = 'extends: ["spectral:oas"]\n'
COMMANDS = {
    "redocly": ("lint", "openapi.json", "--format=stylish"),
    "spectral": ("lint", "openapi.json", "--ruleset", "rules.yaml", "--fail-severity", "error"),
}


@pytest.mark.parametrize("linter", COMMANDS)
def test_a_linter_finds_no_error_in_the_description(linter: str, tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_bytes(_document())
    (tmp_path / "rules.yaml").write_text(RULES)
    program = npm.locked("linting", SOURCES) / "node_modules" / ".bin" / linter
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    npm.run([program, *COMMANDS[linter]], tmp_path, quiet)
