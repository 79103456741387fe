"""The router before several servers finds the shard in whatever the service makes, and in nothing
else. Each rule is asked of nginx with the files that operators get."""

import base64
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from apps.access import credentials
from apps.core.ids import SHARD_CHARACTERS, behind_shard, led_by_shard, new_id
from apps.platforms.services.onboarding import TOKEN_PREFIX
from dev import machine
from dev.ports import free_port
from tests.router import FILES, Router, place_files
from tests.stack import wait_for

pytestmark = pytest.mark.router
SHARD = "2V"
NAMED = "default_type text/plain; location / { return 200 '$is_by_key|$path_server'; }"
REFERENCE = "ABCDEFGHJKMNPQRS"
SIGNED = "ImEucGRmIg:1xVfbk:SaRp8VBYEC-rgrB7gVr8T8Qsu_866azinRmBSkxbrhg"


@pytest.fixture(scope="module")
def router() -> Iterator[Router]:
    running = Router({"home": 1, "second": 2}, {SHARD: "second"}, NAMED)
    yield running
    running.close()


def found(router: Router, path: str, authorization: str = "") -> str:
    """`key` or `path`, by whichever the second server was found; nothing for home."""
    headers = {"Authorization": authorization} if authorization else {}
    answer = requests.get(router.base_url + path, headers=headers, timeout=60)
    assert answer.status_code == 200
    by_key, by_path = answer.text.split("|")
    assert {by_key, by_path} <= {"", "second"} and not (by_key and by_path)
    return "key" if by_key else "path" if by_path else ""


def paths() -> list[str]:
    """Every public path that names a record, as this installation makes them."""
    reference = led_by_shard(REFERENCE)
    link = led_by_shard("abcdefghjkmn").lower()
    invoice = led_by_shard("h6X9q69Tn4GeVGcHUaOLrafcJs3MdKTa")
    signed = behind_shard(SIGNED)
    return [
        *(f"/{reference}", f"/pay/{reference}", f"/pay/{reference}/wallets"),
        *(f"/api/v2/checkout/{reference}", f"/api/v2/checkout/{reference}/onramp_sessions"),
        *(f"/pay/{link}", f"/pay/{link}/brand.css"),
        *(f"/invoice/{invoice}", f"/invoice/{invoice}/invoice.pdf"),
        *(
            f"/api/v2/billing/invoice/{invoice}",
            f"/api/v2/billing/invoice/{invoice}/payment_intent",
        ),
        *(f"/portal/{new_id().hex}.1xVfbk.SaRp8", f"/portal/{new_id().hex}.1xVfbk.SaRp8/link"),
        *(f"/media/logos/{new_id()}/{'0' * 32}.png", f"/sandbox/card/{new_id()}"),
        f"/api/v2/onramp_callbacks/{new_id()}",
        *(f"/files/{signed}", f"/onboarding/destination/{signed}/send"),
        f"/onboarding/stop/{signed}",
        *(f"/onboarding/{credentials.mint(TOKEN_PREFIX)}{end}" for end in ("", "/business")),
    ]


def bearers() -> list[str]:
    kinds = (*credentials.KEY_PREFIXES, *credentials.AGENT_PREFIXES.values())
    return [
        f"Bearer {credentials.mint(kind)}" for kind in (*kinds, credentials.OAUTH_ACCESS_PREFIX)
    ]


def basic(key: str) -> str:
    return "Basic " + base64.b64encode(f"{key}:".encode()).decode()


def test_every_path_of_a_record_leads_to_the_server_of_its_shard(
    router: Router, settings: Any
) -> None:
    settings.SHARD = SHARD
    assert [path for path in paths() if found(router, path) != "path"] == []


def test_paths_of_other_shards_lead_home(router: Router, settings: Any) -> None:
    for shard in ("2W", "00", "ZZ"):
        settings.SHARD = shard
        assert [path for path in paths() if found(router, path)] == []


def test_a_credential_leads_to_the_server_of_its_shard(router: Router, settings: Any) -> None:
    settings.SHARD = SHARD
    sent = [*bearers(), bearers()[0].replace("Bearer", "bearer")]
    sent += [basic(credentials.mint(prefix)) for prefix in credentials.KEY_PREFIXES]
    assert [found(router, "/api/v2/payments", header) for header in sent] == ["key"] * len(sent)
    settings.SHARD = "2W"
    sent = [*bearers(), basic(credentials.mint(credentials.KEY_PREFIXES[0]))]
    assert [found(router, "/api/v2/payments", header) for header in sent] == [""] * len(sent)


def test_on_a_path_that_names_a_record_a_credential_counts_for_nothing(
    router: Router, settings: Any
) -> None:
    settings.SHARD = SHARD
    there = f"/pay/{led_by_shard(REFERENCE)}"
    key = bearers()[0]
    settings.SHARD = "2W"
    elsewhere = f"/pay/{led_by_shard(REFERENCE)}"
    other = bearers()[0]

    assert (found(router, there, other), found(router, elsewhere, key)) == ("path", "")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/dashboard/",
        "/docs",
        "/healthz",
        "/api/v2/payments",
        "/api/v2/billing/invoices/0192",
        "/oauth/authorize",
        "/2VBCDEFGHJKMNPQ",
        "/2VBCDEFGHJKMNPQRST",
        "/static/2VBCDEFGHJKMNPQR",
        "/pay/2vbcdefghjk",
        "/files/ImEucGRmIg:1xVfbk:SaRp8",
    ],
)
def test_what_names_no_record_leads_home(router: Router, path: str) -> None:
    assert found(router, path) == found(router, path, "Bearer nobody") == ""


def test_every_shard_is_read_from_an_id(settings: Any) -> None:
    lines = (FILES / "ids.map").read_text().splitlines()[1:]
    digits = dict(line.rstrip(";").split() for line in lines)
    made = {}
    for first in SHARD_CHARACTERS:
        for second in SHARD_CHARACTERS:
            settings.SHARD = first + second
            made[str(new_id())[19:22]] = settings.SHARD
    assert digits == made and len(made) == 1024


def _temporary_paths(folder: Path) -> str:
    """An nginx that was only unpacked has none of the folders that its package makes."""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)


def test_nginx_takes_the_files_that_operators_edit(tmp_path: Path) -> None:
    """As they are, but for certificates and ports, which this machine hasn't."""
    place_files(tmp_path)
    servers = tmp_path / "tillgate" / "servers.conf"
    plain = re.sub(r"\n *ssl_certificate.*", "", servers.read_text())
    servers.write_text(plain.replace("listen 443 ssl", "listen 127.0.0.1:18443"))
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; events {{}}\nhttp {{ {_temporary_paths(tmp_path)}"
        " include tillgate/http.conf; include tillgate/servers.conf; }"
    )
    files = ("-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "log"))
    run = subprocess.run(
        [str(machine.nginx()), "-t", *files], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    named = set(re.findall(r"^\w\w (\w+);", (FILES / "shards.map").read_text(), re.MULTILINE))
    assert named and named <= set(re.findall(r"^upstream (\w+)", plain, re.MULTILINE))


def test_a_server_that_is_away_is_told_in_the_callers_form_and_no_key_or_link_is_logged(
    settings: Any,
) -> None:
    settings.SHARD = SHARD
    key = credentials.mint(credentials.KEY_PREFIXES[0])
    link = f"/portal/{new_id().hex}.1xVfbk.SaRp8VBYEC"
    away = free_port()
    router = Router({"home": away, "second": away}, {SHARD: "second"})
    try:
        api, page = (
            requests.get(router.base_url + path, auth=(key, ""), timeout=60)
            for path in ("/api/v2/payments", link)
        )
        logged = wait_for(router.logged, lambda text: text.count("503") >= 2)
    finally:
        router.close()

    assert (api.status_code, api.headers["Retry-After"]) == (503, "5")
    assert api.json() == {"error": {"message": "Service temporarily unavailable", "code": None}}
    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    assert page.headers["Content-Type"] == "text/plain" and "Try again" in page.text
    assert key not in logged and link not in logged and "/portal" not in logged


def test_a_shard_moves_by_its_line(settings: Any) -> None:
    settings.SHARD = SHARD
    key = bearers()[0]
    router = Router({"home": 1, "second": 2, "third": 3}, {}, NAMED)
    try:
        assert found(router, "/api/v2/payments", key) == ""
        router.place({SHARD: "second"})
        router.reload()
        url, headers = f"{router.base_url}/api/v2/payments", {"Authorization": key}
        wait_for(lambda: requests.get(url, headers=headers, timeout=60).text, "second|".__eq__)
    finally:
        router.close()
