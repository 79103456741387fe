"""The catalogs name every code and event that the service has, and nothing that it hasn't."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import get_resolver

from apps.docs.catalogs import RAISED, advice, codes
from apps.docs.site import page
from apps.webhooks.catalogue import EVENTS
from tests import make
from tests.cast import Shop


def html_of(slug: str) -> str:
    found = page(slug)
    assert found is not None
    return re.sub(r'<wbr>|(?<=<code) class="\w+"', "", found.html)


def test_every_code_is_told_with_what_to_do_about_it() -> None:
    assert get_resolver().url_patterns
    told = {code.code for code in codes()}
    assert told == set(advice())
    assert all(f"<code>{code}</code>" in html_of("errors") for code in told)


def test_codes_that_are_said_where_they_are_raised_are_told_too() -> None:
    texts = [
        path.read_text()
        for part in ("api", "access")
        for path in Path(settings.BASE_DIR, "apps", part).rglob("*.py")
    ]
    raised = {code for text in texts for code in re.findall(r'code="([a-z_]+)"', text)}
    raised |= {
        match
        for text in texts
        for match in re.findall(r':\s*"((?:invalid|mandate|amount|destination)_[a-z_]+)"', text)
    }
    assert {"invalid_active", "mandate_ref_required"} < raised <= set(advice())
    assert {code for code, *_ in RAISED} <= set(advice())


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_is_told_with_a_body(event: str) -> None:
    found = page("events")
    assert found is not None
    section = found.markdown.partition(f"## {event}\n")[2].partition("\n## ")[0]
    assert json.loads(section.partition("```json\n")[2].partition("\n```")[0])["type"] == event


def scenarios() -> list[list[str]]:
    text = (settings.BASE_DIR / "docs" / "guide" / "testing.md").read_text()
    rows = [
        line.strip("| ").split(" | ")
        for line in text.splitlines()
        if re.match(r"\| `(exact|under|over|unconf|failed)", line)
    ]
    return [[cell.strip("`") for cell in row] for row in rows]


@pytest.mark.parametrize("row", scenarios(), ids=lambda row: row[0])
def test_a_scenario_ends_as_its_row_says(bakery: Shop, row: list[str]) -> None:
    scenario, _, status, reason = row
    made = make.payment(bakery.test)
    make.simulated(bakery.test, made["id"], scenario)
    told = make.detail(bakery.test, made["id"])
    assert (told["status"], told["state_reason"]) == (status, None if reason == "null" else reason)


def test_an_expired_payment_can_have_a_late_deposit(bakery: Shop) -> None:
    made = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 400)
    assert make.detail(bakery.test, made["id"])["status"] == "expired"
    make.simulated(bakery.test, made["id"], "exact", late=True)
    assert len(make.detail(bakery.test, made["id"])["late_deposits"]) == 1


def test_every_field_of_an_object_has_a_meaning() -> None:
    found = page("reference/objects")
    assert found is not None
    assert not re.findall(r"^\| `(\w+)` \| [^|]+ \|  \|$", found.markdown, re.M)
