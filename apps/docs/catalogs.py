"""Catalogs to look things up in: every code of a refusal with what to do about it, and every event
with a sample of its body.

Both are read from the tables and classes that the service itself uses.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from django.conf import settings
from msgspec import to_builtins

from apps.core.errors import Failure
from apps.core.messages.invalid import UNKNOWN
from apps.core.web.refusals import STATUSES
from apps.docs.fields import FOLDER
from apps.webhooks.catalogue import EVENTS, PLATFORM_ONLY
from apps.webhooks.documents import EventData, EventDocument
from apps.webhooks.samples import sample

# Pages of people alone raise these: no call of the API is answered so.
PEOPLE = ("apps.links", "apps.dashboard", "apps.hosted", "apps.stores.staff_roles")
PASSWORD = "password_required"  # noqa: S105  # a code, and only forms ask for one
# Said where a refusal is raised instead of by its class: code, status, sentence.
RAISED = (
    ("body_too_large", 413, "Request body is too large"),
    ("csrf_failed", 403, "CSRF token missing or incorrect"),
    ("login_required", 401, "A dashboard session is required"),
    ("publishable_key_forbidden", 403, "Publishable keys can only create payments"),
    ("request_timeout", 408, "Request body was not received in time"),
)
# Of the agent API: the field that breaks a rule has a code, and the message says the rule.
OF_FIELDS = (
    "amount_too_large",
    "destination_required",
    "invalid_active",
    "invalid_amount",
    "invalid_cap",
    "invalid_currency",
    "invalid_lowest_price",
    "invalid_metadata",
    "mandate_ref_required",
    UNKNOWN,
)
_UNSAID = "–"  # each refusal words its own


class Code(NamedTuple):
    code: str
    status: int
    sentence: str


def codes() -> list[Code]:
    """Every code, once per status and sentence. Classes of views are known once their routes are
    loaded."""
    entries = {Code(*entry) for entry in RAISED} | {
        Code(entry, 422, _UNSAID) for entry in OF_FIELDS
    }
    for entry in _subclasses(Failure):
        if entry.code and entry.code != PASSWORD and not entry.__module__.startswith(PEOPLE):
            entries.add(Code(entry.code, STATUSES[entry.kind], entry.message or _UNSAID))
    return sorted(entries)


def _subclasses(of: type[Failure]) -> Iterator[type[Failure]]:
    for cls in of.__subclasses__():
        yield cls
        yield from _subclasses(cls)


def advice() -> dict[str, str]:
    lines = (FOLDER / "errors.txt").read_text().splitlines()
    return dict(line.split(" | ", 1) for line in lines if " | " in line)


def errors() -> str:
    hints = advice()
    rows = [
        f"| `{code.code}` | {code.status} | {_cell(code.sentence)} | {hints.get(code.code, '')} |"
        for code in codes()
    ]
    return "\n".join(["| code | status | message | what to do |", "|---|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_")


def events() -> str:
    """A section per event, with the body of its delivery."""
    parts = ["| event | sent when |", "|---|---|"]
    parts += [
        f"| [`{name}`](#{name.replace('.', '')}) | {words} |" for name, words in EVENTS.items()
    ]
    sections = ["\n".join(parts)]
    for name, words in EVENTS.items():
        only = " Only platforms can subscribe to it." if name in PLATFORM_ONLY else ""
        sections.append(f"## {name}\n\n{words}.{only}\n\n```json\n{_body(name)}\n```")
    return "\n\n".join(sections)


def _body(name: str) -> str:
    """As `send_test` sends it."""
    document = EventDocument(
        id="00000000-0000-4000-8000-000000000002",
        type=name,
        created=1767268800,
        livemode=False,
        api_version=settings.API_VERSION,
        data=EventData(object=sample(name)),
    )
    return json.dumps(to_builtins(document), indent=2, ensure_ascii=False)
