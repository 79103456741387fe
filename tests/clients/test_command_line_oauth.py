"""The command line signs in by OAuth: PKCE, a loopback address on any port, and a token that is
renewed and revoked."""

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import requests

from apps.access.models import AccessToken, RefreshToken
from apps.core import clock
from tests.access.test_oauth import _django_db_helper, committed, site
from tests.cast import Cast
from tests.clients import wheel
from tests.clients.commands import SECONDS, Commands
from tests.contract.oauth.apps import App

__all__ = ["_django_db_helper", "committed", "site"]
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel.install(tmp_path_factory.mktemp("cli"), "[cli]").parent / "tillgate"


@pytest.fixture
def address(site: str, settings: Any) -> str:
    """Of a site that knows where it is."""
    settings.PUBLIC_URL = settings.API_URL = site
    return site


@dataclass(frozen=True)
class CommandLine:
    """The program of somebody who has a home of their own."""

    commands: Commands
    program: Path
    address: str
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "BROWSER": "true"}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def log_in(self, app: App, scope: str) -> tuple[subprocess.Popen[str], dict[str, str]]:
        """The program while it waits for the browser, and what it asked the browser to open."""
        options = ("--url", self.address, "login", "--oauth")
        command = [self.program, *options, "--client-id", app.client_id, "--scope", scope]
        process = self.commands.start(command, self.environment)
        assert process.stderr is not None
        process.stderr.readline()
        return process, dict(parse_qsl(urlsplit(process.stderr.readline().strip()).query))


@pytest.fixture
def tillgate(commands: Commands, program: Path, address: str, tmp_path: Path) -> CommandLine:
    return CommandLine(commands, program, address, tmp_path)


def test_a_person_lets_the_command_line_in(committed: Cast, tillgate: CommandLine) -> None:
    app = App(committed, confidential=False)
    loopback = {
        "oauth_application": {
            "redirect_uris": ["http://127.0.0.1/callback"],
            "scopes": ["payments:read", "offline_access"],
        }
    }
    changed = app.alice.client.patch(
        f"/api/v2/merchants/oauth_apps/{app.id}", loopback, content_type="application/json"
    )
    assert changed.status_code == 200
    process, query = tillgate.log_in(app, "payments:read offline_access")
    back = query["redirect_uri"]
    assert back.startswith("http://127.0.0.1:") and query["code_challenge_method"] == "S256"
    # Another page of the browser can call the address as well, and is no answer.
    guess = {"code": "evil", "state": "guess", "iss": "x"}
    assert requests.get(back, params=guess, timeout=60).status_code == 404
    decision = {**query, "store_id": str(app.store.pk), "decision": "allow"}
    decided = app.alice.client.post(
        "/api/v2/oauth/authorize", decision, content_type="application/json"
    )
    assert decided.status_code == 200, decided.content
    assert requests.get(decided.json()["redirect_to"], timeout=60).status_code == 200
    output, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, errors
    assert "(test mode)" in output

    file = tillgate.home / ".config" / "tillgate" / "profiles.json"
    saved = json.loads(file.read_text())
    first = saved["default"]["api_key"]
    assert first.startswith("svco_") and first not in output + errors
    assert tillgate.run("payments", "list").returncode == 0

    saved["default"]["expires_at"] = time.time() + 10
    file.write_text(json.dumps(saved))
    assert tillgate.run("payments", "list").returncode == 0
    assert json.loads(file.read_text())["default"]["api_key"] != first

    AccessToken.objects.update(revoked_at=clock.real_now())
    RefreshToken.objects.update(revoked=clock.real_now())
    ended = json.loads(file.read_text())
    ended["default"]["expires_at"] = 0
    file.write_text(json.dumps(ended))
    again = tillgate.run("payments", "list")
    assert again.returncode == 3 and "tillgate login" in again.stderr

    assert tillgate.run("logout").returncode == 0
    assert not AccessToken.objects.filter(revoked_at=None).exists()


def test_a_refusal_ends_it(committed: Cast, address: str, tillgate: CommandLine) -> None:
    process, query = tillgate.log_in(App(committed, confidential=False), "payments:read")
    refusal = {
        "error": "access_denied",
        "error_description": "Not today",
        "state": query["state"],
        "iss": address,
    }
    requests.get(query["redirect_uri"], params=refusal, timeout=60)
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 3 and "Not today" in errors
    assert not (tillgate.home / ".config").exists()
