"""Decisions have one form and one index, say where in the code they hold, and only those that exist
are cited."""

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
    assert len(numbers) > 80
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
        ["git", "grep", "-hIiE", r"decisions? [0-9]", "--", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    cited = {int(number) for pair in CITED.findall(run.stdout) for number in pair if number}
    assert len(cited) > 50
    assert cited <= numbers


PLACE = re.compile(r"`([A-Za-z_.][\w.*-]*/[\w./*-]*)(?:::?(\w+))?`")
# What a decision may name that isn't a file of ours.
NOT_OURS = ("GET", "POST", "/", "docs/decisions/NNN")


def tracked() -> set[str]:
    run = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = set(run.stdout.splitlines())
    return files | {str(folder) for file in files for folder in Path(file).parents}


def is_there(path: str, name: str, known: set[str]) -> bool:
    """Tell whether a file or folder is tracked, and defines the name."""
    if path.rstrip("/") not in known:
        return False
    named = rf"^\s*(?:def|class|async def) {name}\b|^\s*{name}\b *[:=]"
    return not name or re.search(named, (ROOT / path).read_text(), re.MULTILINE) is not None


def test_each_decision_says_where_it_holds() -> None:
    known = tracked()
    tops = {path.split("/")[0] for path in known if "/" in path}
    wrong = []
    for file in sorted(FOLDER.glob("*.md")):
        places = [
            (path, name)
            for path, name in PLACE.findall(file.read_text())
            if path.split("/")[0] in tops and "*" not in path and not path.startswith(NOT_OURS)
        ]
        if not places:
            wrong.append(f"{file.name}: no place")
        # What runs is made, not kept.
        wrong += [
            f"{file.name}: {path} {name}"
            for path, name in places
            if not path.startswith("var/") and not is_there(path, name, known)
        ]
    assert wrong == []
