"""The front page: to strangers the bare address says what the service is, does and costs; who is
signed in goes on to the dashboard, and an operator can leave the page out."""

import base64
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.access.person import sign_up
from apps.assets.models import Asset
from apps.core.redis import value_cache
from apps.docs import front
from apps.stores.models import Store
from tests.cast import Cast
from tests.dashboard.browse import Browser, text

PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'


def shown(**headers: str) -> str:
    answer = Client().get("/", headers=headers)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def test_strangers_read_what_the_service_is_and_where_to_begin(db: None) -> None:
    page = shown()
    assert "<h1>Accept crypto payments" in page
    account = ("/dashboard/sign-in", "/dashboard/sign-up")
    for path in (*account, "/docs", "/docs/quickstart", "/status"):
        assert f'href="{path}"' in page, path
    assert "1% of each payment" in page
    assert "<script" not in page and "noindex" not in page


def test_strangers_read_the_first_language_of_their_browser_that_the_dashboard_has(
    db: None,
) -> None:
    spanish = Client().get("/", headers={"Accept-Language": "it, es;q=0.9, de;q=0.8"})
    assert '<html lang="es"' in spanish.text and "Acepte pagos con cripto" in spanish.text
    assert "Accept-Language" in spanish.headers["Vary"]
    german = shown(**{"Accept-Language": "de-AT"})
    assert '<html lang="de"' in german
    for asked in ("it", "ar", ""):
        assert '<html lang="en"' in shown(**{"Accept-Language": asked})


def test_it_names_the_live_coins_that_customers_can_pay_with_and_no_others(db: None) -> None:
    live = Asset.objects.filter(is_active=True, is_listed=True, chain__mode="live")
    page = shown()
    for asset in live.select_related("chain"):
        assert asset.coin_symbol in page and asset.chain.name in page
    assert "Sepolia" not in page
    Asset.objects.update(is_active=False)
    value_cache.forget(front.COINS)
    assert "Coins" not in shown()


def test_the_fee_is_the_one_that_a_new_store_gets(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = Store._meta.get_field("fee_fraction")
    monkeypatch.setattr(field, "default", Decimal("0.0075"))
    assert "0.75% of each payment" in shown()


def test_who_opens_a_store_reads_its_price(cast: Cast) -> None:
    page = text(Browser(cast.alice).get("stores/new"))
    assert "The price is 1% of each payment" in re.sub(r"\s+", " ", page)


@pytest.mark.parametrize(
    ("way", "has_link", "says"),
    [
        (sign_up.OPEN, True, ""),
        (sign_up.INVITATION, False, "by invitation"),
        (sign_up.CLOSED, False, "by invitation"),
    ],
)
def test_an_account_is_offered_where_everybody_may_create_one(
    db: None, settings: Any, way: str, has_link: bool, says: str
) -> None:
    settings.SIGN_UP = way
    page = shown()
    assert ('href="/dashboard/sign-up"' in page) is has_link
    assert says in page


def test_who_is_signed_in_goes_on_to_the_dashboard(cast: Cast) -> None:
    answer = Browser(cast.alice).client.get("/")
    assert (answer.status_code, answer["Location"]) == (302, "/dashboard/")


def test_without_the_page_the_bare_address_is_the_sign_in(db: None, settings: Any) -> None:
    settings.FRONT_PAGE = False
    answer = Client().get("/", follow=True)
    assert answer.redirect_chain[0] == ("/dashboard/", 302)
    assert answer.request["PATH_INFO"] == "/dashboard/sign-in"


def test_the_operator_has_a_name_a_logo_and_a_site(db: None, settings: Any) -> None:
    settings.OPERATOR_NAME = "Nordwind <Pay>"
    settings.OPERATOR_URL = "https://nordwind.example/terms"
    settings.OPERATOR_LOGO = "data:image/svg+xml;base64,AAAA"
    page = shown()
    assert "Nordwind &lt;Pay&gt;" in page and 'href="https://nordwind.example/terms"' in page
    assert 'src="data:image/svg+xml;base64,AAAA"' in page


def started_with(**environment: str) -> subprocess.CompletedProcess[str]:
    code = "from config import environment; print(environment.OPERATOR_LOGO)"
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TILLGATE_ENV": "test", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_logo_is_a_small_picture_on_the_server(tmp_path: Path) -> None:
    logo = tmp_path / "logo.svg"
    logo.write_bytes(PICTURE)
    encoded = base64.b64encode(PICTURE).decode()
    assert started_with(OPERATOR_LOGO=str(logo)).stdout.strip() == (
        f"data:image/svg+xml;base64,{encoded}"
    )
    assert started_with(OPERATOR_LOGO="").stdout.strip() == ""
    (tmp_path / "logo.txt").write_bytes(PICTURE)
    (tmp_path / "large.png").write_bytes(bytes(32 * 1024 + 1))
    for name in ("logo.txt", "large.png", "missing.svg"):
        refused = started_with(OPERATOR_LOGO=str(tmp_path / name))
        assert refused.returncode != 0 and "OPERATOR_LOGO" in refused.stderr, name
