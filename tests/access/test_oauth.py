"""OAuth as others use it: a client library against a running site in both modes, and two refreshes
at the same moment."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from authlib.integrations.requests_client import OAuth2Session
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.db import connection
from django.test.testcases import LiveServerThread

from apps.access.models import AccessToken, AgentCredential, Application, Grant, RefreshToken
from tests.cast import Cast, assemble
from tests.contract.oauth.apps import BACK, VERIFIER, App, works

pytestmark = pytest.mark.django_db


@pytest.fixture
def _django_db_helper(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Instead of pytest-django's: these rows are committed, and the ledger refuses the truncation
    that would follow."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def committed(_django_db_helper: None) -> Iterator[Cast]:
    """A cast that other connections see. The apps are taken away afterwards; the ledger's tables
    can't be emptied."""
    cast = assemble()
    yield cast
    for model in (Grant, RefreshToken, AccessToken, Application):
        model.objects.all().delete()
    AgentCredential.objects.filter(store__in=[cast.bakery.store, cast.strangers.store]).delete()
    connection.close()


@pytest.fixture
def site(committed: Cast) -> Iterator[str]:
    """The address of a site that serves the committed rows."""
    thread = LiveServerThread("127.0.0.1", StaticFilesHandler)
    thread.daemon = True
    thread.start()
    thread.is_ready.wait()
    if thread.error:
        raise thread.error
    yield f"http://127.0.0.1:{thread.port}"
    thread.terminate()
    # A client that kept its connection would keep the test database from being dropped.
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
            " current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.parametrize("mode", ["live", pytest.param("test", marks=pytest.mark.whole)])
def test_a_client_library_goes_all_the_way(
    committed: Cast, site: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    app = App(committed)
    client = OAuth2Session(
        app.client_id,
        app.secret,
        redirect_uri=BACK,
        scope="payments:read profile offline_access",
        code_challenge_method="S256",
    )
    url, state = client.create_authorization_url(
        f"{site}/oauth/authorize", code_verifier=VERIFIER, livemode=str(mode == "live").lower()
    )
    query = urlsplit(url).query
    fields = urlencode({"store_id": str(app.store.pk), "decision": "allow"})
    kind = "application/x-www-form-urlencoded"
    sent = app.alice.client.post(f"/oauth/authorize?{query}", fields, content_type=kind).headers[
        "Location"
    ]
    token = client.fetch_token(
        f"{site}/oauth/token", authorization_response=sent, state=state, code_verifier=VERIFIER
    )
    assert token["livemode"] is (mode == "live")
    assert client.get(f"{site}/api/v2/oauth/userinfo").json()["email"] == committed.alice.email
    assert client.get(f"{site}/api/v2/payments").status_code == 200
    renewed = client.refresh_token(f"{site}/oauth/token")
    assert renewed["livemode"] is (mode == "live") and not works(token["access_token"])
    assert client.revoke_token(f"{site}/oauth/revoke", renewed["access_token"]).status_code == 200
    assert not works(renewed["access_token"])


def test_ten_refreshes_at_once_are_answered_with_the_same_successor(committed: Cast) -> None:
    app = App(committed)
    token = app.tokens()["refresh_token"]

    def one(_: int) -> Any:
        try:
            return app.refresh(token).json()
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(one, range(10)))
    assert len({(answer["access_token"], answer["refresh_token"]) for answer in answers}) == 1
    assert works(answers[0]["access_token"])
    assert AccessToken.objects.filter(revoked_at=None).count() == 1
