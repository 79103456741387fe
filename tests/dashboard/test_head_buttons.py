"""The buttons of a page's head have one order: the one that ends something first, the main one
last."""

import re
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parents[2] / "templates" / "dashboard"
HEAD = re.compile(r'<div class="page-head">.*?\n  </div>', re.DOTALL)
ROW = re.compile(r'<div class="button-row">.*', re.DOTALL)
BUTTON = re.compile(r'class="button((?: [^"]*)?)"')


def ranks_in(template: str) -> list[int]:
    """Of the buttons in the row of its head: 0 ends something, 2 is the main one."""
    head = HEAD.search(template)
    row = ROW.search(head.group()) if head else None
    classes = BUTTON.findall(row.group()) if row else []
    return [0 if "danger" in names else 2 if "primary" in names else 1 for names in classes]


def test_a_head_begins_with_what_ends_and_ends_with_its_main_button() -> None:
    heads = {
        str(path.relative_to(TEMPLATES)): ranks_in(path.read_text())
        for path in sorted(TEMPLATES.rglob("*.html"))
    }
    assert heads["customers/detail.html"] == [0, 1, 1, 2]
    assert [name for name, ranks in heads.items() if ranks != sorted(ranks)] == []
