"""The demo's OAuth apps are connected as their users' programs would: by a client id that never
changes, with PKCE and without a secret."""

import base64
import hashlib
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test import Client

from apps.access.models import Application
from dev.demo import oauth_apps
from tests.cast import Cast
from tests.dashboard.browse import Browser

VERIFIER = "v" * 64
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
)
FORM = "application/x-www-form-urlencoded"
IDS = ("tillgate-demo-workflow", "tillgate-demo-mcp", "tillgate-demo-shop")


@pytest.fixture
def seeded(cast: Cast) -> Cast:
    oauth_apps.seed_apps(cast.bakery.store, cast.alice)
    return cast


def test_every_start_of_the_demo_finds_the_same_apps(seeded: Cast) -> None:
    before = sorted(Application.objects.values_list("pk", "client_id", "client_type"))
    oauth_apps.seed_apps(seeded.bakery.store, seeded.alice)
    assert sorted(Application.objects.values_list("pk", "client_id", "client_type")) == before
    assert sorted(item[1] for item in before) == sorted(IDS) and {item[2] for item in before} == {
        "public"
    }


@pytest.mark.parametrize("client_id", IDS)
@pytest.mark.parametrize("place", [0, 1])
def test_a_program_on_the_same_machine_connects(seeded: Cast, client_id: str, place: int) -> None:
    app = Application.objects.get(client_id=client_id)
    back = app.redirect_uris.split()[place].replace("127.0.0.1/", "127.0.0.1:51234/")
    asked = {
        "client_id": client_id,
        "redirect_uri": back,
        "response_type": "code",
        "scope": " ".join(app.scopes),
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "state": "s",
    }
    agreed = urlencode({"store_id": str(seeded.bakery.store.pk), "decision": "allow"})
    sent = (
        Browser(seeded.alice)
        .client.post(f"/oauth/authorize?{urlencode(asked)}", agreed, content_type=FORM)
        .headers["Location"]
    )
    assert sent.startswith(back)
    code = parse_qs(urlsplit(sent).query)["code"][0]
    fields = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": back,
        "client_id": client_id,
        "code_verifier": VERIFIER,
    }
    tokens = Client().post("/oauth/token", urlencode(fields), content_type=FORM).json()
    assert tokens["livemode"] is False and tokens["refresh_token"]
    with_token = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert Client().get("/api/v2/payments", headers=with_token).status_code == 200
