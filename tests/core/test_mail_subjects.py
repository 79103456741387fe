"""Subjects of emails say what happened, in the past or the present, and never what to do about a
store that is named after a colon; each operation that owners are written about has its words."""

import re
from pathlib import Path

from apps.access import operation_emails, operations

EMAILS = Path(__file__).resolve().parents[2] / "templates" / "email"
SUBJECT = re.compile(r"{% block subject %}(.*?){% endblock", re.S)


def test_every_operation_with_an_email_to_owners_or_team_says_what_was_done() -> None:
    written = {
        row for row in operations.TABLE if row.emails in (operations.OWNERS, operations.TEAM)
    }
    assert set(operation_emails.DONE) == written
    for words in operation_emails.DONE.values():
        assert re.search(r" (was|were) \w+", words), words


def test_subjects_are_not_the_names_of_operations() -> None:
    for path in EMAILS.glob("*.txt"):
        found = SUBJECT.search(path.read_text())
        if found is not None:
            assert "does" not in found[1], path.name
