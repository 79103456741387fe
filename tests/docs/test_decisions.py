"""Decisions have one form and one index, and code cites only those that exist."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/decisions"
INDEX = ROOT / "docs/decisions.md"

HEADER = re.compile(
    r"# (?P<number>\d+)\. (?P<title>.+)\n\n"
    r"Date: \d{4}-\d{2}-\d{2}\. Status: (accepted|superseded by \d+)(; .+)?\.\n\n"
    r"\*Context\.\* "
)
ENTRY = re.compile(
    r"^- \[(?P<number>\d+)\. (?P<title>.+)\]\(decisions/(?P<file>[^)]+)\)", re.MULTILINE
)
CITED = re.compile(r"\b[Dd]ecisions? (\d{1,3})\b(?: and (\d{1,3})\b)?")


def decisions() -> dict[str, tuple[str, str]]:
    """Number and title by file name."""
    found = {}
    for path in FOLDER.glob("*.md"):
        header = HEADER.match(path.read_text())
        assert header is not None, f"{path.name}: title, Date and Status come first"
        assert path.name.startswith(f"{int(header['number']):03d}-"), path.name
        found[path.name] = (header["number"], header["title"])
    return found


def test_each_decision_has_its_header_and_a_number_of_its_own() -> None:
    numbers = [number for number, _ in decisions().values()]
    assert len(numbers) > 200
    assert len(set(numbers)) == len(numbers)


def test_the_index_lists_every_decision_once_under_its_title() -> None:
    listed = [
        (entry["file"], (entry["number"], entry["title"]))
        for entry in ENTRY.finditer(INDEX.read_text())
    ]
    assert len({file for file, _ in listed}) == len(listed)
    assert dict(listed) == decisions()


def test_code_cites_decisions_that_exist() -> None:
    numbers = {int(number) for number, _ in decisions().values()}
    run = subprocess.run(
        ["git", "grep", "-hIiE", r"decisions? [0-9]", "--", ".", ":!tests", ":!docs/decisions"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    cited = {int(number) for pair in CITED.findall(run.stdout) for number in pair if number}
    assert len(cited) > 50
    assert cited <= numbers
