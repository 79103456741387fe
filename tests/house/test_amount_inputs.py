"""Amounts are typed into one field: no page has an input for one of its own, which another
country's keypad couldn't fill."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "templates"
INPUT = re.compile(r"<input\b[^>]*>", re.DOTALL)
# What people call an amount or a percentage where they type one.
NAMED = re.compile(
    r"""\b(?:id|name)=["'](?:\w+_)?
    (?:amount|price|minimum|maximum|min|max|tips?|fee|percentage|percent|discount|tax|above|caps?
    |suggested|total|worth|value_of)(?:_\w+)?["']""",
    re.VERBOSE,
)
# Named like one, and typed as something else.
OTHERS = {
    "dashboard/test_clock.html": "hours or days",
    "dashboard/till/settings.html": "a list of tips",
    "dashboard/verification/_numbers.html": "the number of a tax payer",
    "hosted/onboarding/business.html": "the number of a tax payer",
}
TAG = re.compile(r"{%\s*amount_input\b")


def inputs() -> list[tuple[str, str]]:
    """Every input that is written out, with its template."""
    return [
        (str(path.relative_to(TEMPLATES)), found)
        for path in sorted(TEMPLATES.rglob("*.html"))
        for found in INPUT.findall(path.read_text())
    ]


def test_no_template_has_an_input_of_its_own_for_an_amount() -> None:
    own = [
        (name, found)
        for name, found in inputs()
        if "hidden" not in found
        and not re.search(r"type=.(?:radio|checkbox|date|search|url|email|file)", found)
        and ('inputmode="decimal"' in found or 'type="number"' in found or NAMED.search(found))
    ]
    assert {name for name, _ in own} <= set(OTHERS), own


def test_no_pattern_asks_for_a_point() -> None:
    marked = [(name, found) for name, found in inputs() if "pattern=" in found]
    assert [(name, found) for name, found in marked if "\\." in found or "[.,]" in found] == []


def test_the_one_field_is_in_every_place_that_asks_for_an_amount() -> None:
    counts = {
        str(path.relative_to(TEMPLATES)): len(TAG.findall(path.read_text()))
        for path in sorted(TEMPLATES.rglob("*.html"))
    }
    assert {name for name, count in counts.items() if count} >= {
        "dashboard/_amount_field.html",
        "dashboard/agents/caps.html",
        "dashboard/invoices/form.html",
        "dashboard/links/form.html",
        "dashboard/one_time_links/create.html",
        "dashboard/payments/list.html",
        "dashboard/payout_schedules/edit.html",
        "dashboard/platforms/_change.html",
        "dashboard/platforms/create.html",
        "dashboard/products/price.html",
        "dashboard/settings/approvals.html",
        "dashboard/swaps/create.html",
        "hosted/links/_form.html",
    }


def test_only_one_module_makes_numbers_of_what_people_type() -> None:
    """Doors read typed amounts by apps.core.typed_amounts alone."""
    readers = re.compile(r"\batomic_from_decimal\(|\bFiatAmount\(|inputmode")
    found = {
        str(path.relative_to(ROOT))
        for door in ("dashboard", "hosted", "staff")
        for path in sorted((ROOT / "apps" / door).rglob("*.py"))
        if readers.search(path.read_text())
    }
    assert found == {"apps/staff/plumbing/unit_fields.py"}
