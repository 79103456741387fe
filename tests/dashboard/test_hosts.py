"""Hosts of their own for the API, the dashboard and the staff site: each path is at its own host
and at no other."""

import os
import subprocess
import sys
from typing import Any

import pytest
from django.core import mail as django_mail
from django.test import Client

from apps.core import mail
from apps.staff.front.site import StaffSite
from config import environment
from tests.cast import Cast

SHOP = "pay.example"
API = "api.pay.example"
DASH = "dashboard.pay.example"
ADMIN = "staff.example"


@pytest.fixture
def hosts(settings: Any) -> Any:
    settings.PUBLIC_HOST = SHOP
    settings.API_HOST = API
    settings.DASHBOARD_HOST = DASH
    settings.ADMIN_HOST = ADMIN
    settings.DASHBOARD_URL = f"https://{DASH}"
    settings.ALLOWED_HOSTS = [SHOP, API, DASH, ADMIN, "also.example"]
    settings.API_URL = f"https://{API}"
    return settings


def ask(host: str, path: str, **more: Any) -> int:
    return int(Client().get(path, headers={"Host": host}, **more).status_code)


# path, the status at its own host, and the hosts where it is
PLACES = [
    ("/api/v2/payments", 401, {API}),
    ("/docs", 200, {API}),
    ("/oauth/userinfo", 401, {API}),
    ("/dashboard", 302, {DASH}),
    ("/dashboard/payments", 302, {DASH}),
    ("/dashboard/forgot", 200, {DASH}),
    ("/dashboard/sign-in", 200, {DASH, ADMIN}),
    ("/dashboard/security", 302, {DASH, ADMIN}),
    ("/oauth/authorize", 302, {DASH}),
    ("/admin", 302, {ADMIN}),
    ("/admin/", 302, {ADMIN}),
    ("/embed.js", 200, {SHOP, "also.example"}),
    ("/healthz", 200, {SHOP, API, DASH, ADMIN, "also.example"}),
    ("/.well-known/oauth-authorization-server", 200, {SHOP, API, DASH, ADMIN, "also.example"}),
]


@pytest.mark.parametrize(("path", "status", "homes"), PLACES, ids=[path for path, *_ in PLACES])
def test_a_path_is_at_its_host_and_at_no_other(
    hosts: Any, db: None, path: str, status: int, homes: set[str]
) -> None:
    found = {host: ask(host, path) for host in hosts.ALLOWED_HOSTS}
    assert found == {host: status if host in homes else 404 for host in hosts.ALLOWED_HOSTS}


def test_the_dashboard_leads_to_the_documentation_at_the_host_of_the_api(
    hosts: Any, db: None
) -> None:
    page = Client().get("/dashboard/sign-in", headers={"Host": DASH}).content.decode()
    assert f'href="https://{API}/docs"' in page
    docs = Client().get("/docs", headers={"Host": API}).content.decode()
    assert f'href="https://{DASH}/dashboard/"' in docs


def test_the_wrong_host_answers_like_an_unknown_path(hosts: Any, db: None) -> None:
    wrong = Client().get("/api/v2/payments", headers={"Host": DASH})
    assert wrong.json() == {"error": {"message": "Not found", "code": None}}
    assert "Content-Security-Policy" in Client().get("/admin/", headers={"Host": DASH})
    assert ask("evil.example", "/api/v2/payments") == 400


@pytest.mark.parametrize("only", ["API_HOST", "DASHBOARD_HOST", "ADMIN_HOST"])
def test_one_that_is_bound_leaves_the_others_where_they_were(
    hosts: Any, db: None, only: str
) -> None:
    bound = getattr(hosts, only)
    for name in {"API_HOST", "DASHBOARD_HOST", "ADMIN_HOST"} - {only}:
        setattr(hosts, name, "")
    for path, status, name in (
        ("/api/v2/payments", 401, "API_HOST"),
        ("/dashboard/", 302, "DASHBOARD_HOST"),
        ("/admin/", 302, "ADMIN_HOST"),
    ):
        assert (ask(bound, path), ask(SHOP, path)) == (
            (status, 404) if name == only else (404, status)
        )
    assert ask(SHOP, "/embed.js") == 200 and ask(bound, "/embed.js") == 404


def test_a_host_that_is_that_of_customers_too_serves_both(hosts: Any, db: None) -> None:
    hosts.DASHBOARD_HOST = SHOP
    assert (ask(SHOP, "/embed.js"), ask(SHOP, "/dashboard/"), ask(ADMIN, "/dashboard/")) == (
        200,
        302,
        404,
    )


def test_links_lead_to_the_right_host(hosts: Any, cast: Cast) -> None:
    front = Client().get("/", headers={"Host": SHOP}).content.decode()
    assert f'href="https://{DASH}/dashboard/sign-in"' in front
    assert f'href="https://{API}/docs"' in front
    assert Client().get("/", headers={"Host": "also.example"}).status_code == 200
    for host in (API, DASH, ADMIN):
        assert Client().get("/", headers={"Host": host})["Location"] == f"https://{DASH}/dashboard/"
    Client().post("/dashboard/forgot", {"email": cast.alice.email}, headers={"Host": DASH})
    mail.send_due()
    assert f"https://{DASH}/dashboard/reset/" in str(django_mail.outbox[0].body)
    key = {"Host": API, "Authorization": f"Bearer {cast.bakery.secrets['test']}"}
    assert Client().get("/api/v2/payments", headers=key).status_code == 200
    browser = {"Host": API, "Accept": "text/html"}
    assert (
        Client().get("/api/v2/oauth/authorize?a=b", headers=browser)["Location"]
        == f"https://{DASH}/oauth/authorize?a=b"
    )
    found = Client().get("/.well-known/oauth-authorization-server", headers={"Host": SHOP}).json()
    assert (
        found["token_endpoint"] == f"https://{API}/api/v2/oauth/token"
        and found["issuer"] == hosts.PUBLIC_URL
    )


# X-Forwarded-For, trusted hops, and whether the staff site is there
SENDERS = [
    ("10.1.2.3", 1, True),
    ("::ffff:10.1.2.3", 1, True),
    ("2001:db8::5", 1, True),
    ("192.0.2.1", 1, False),
    ("10.1.2.3, 192.0.2.1", 1, False),
    ("192.0.2.1, 10.1.2.3", 1, True),
    ("10.1.2.3", 0, False),
    ("10.1.2.3, 192.0.2.1", 2, True),
    ("nonsense", 1, False),
]


@pytest.mark.parametrize(("forwarded", "hops", "is_let_in"), SENDERS)
def test_the_staff_site_is_there_for_its_networks_only(
    settings: Any, db: None, forwarded: str, hops: int, is_let_in: bool
) -> None:
    settings.ADMIN_NETWORKS = ["10.0.0.0/8", "2001:db8::/32"]
    settings.TRUSTED_PROXY_HOPS = hops
    client = Client(headers={"X-Forwarded-For": forwarded})
    assert client.get("/admin/").status_code == (302 if is_let_in else 404)
    assert client.get("/dashboard/sign-in").status_code == 200


ENVIRONMENTS = [
    ({"ADMIN_HOST": "https://admin.example"}, "ADMIN_HOST must be a host name only"),
    ({"API_HOST": "api.example:8443"}, "API_HOST must be a host name only"),
    ({"ADMIN_NETWORKS": "10.0.0.1/8"}, "ADMIN_NETWORKS needs networks such as"),
]


@pytest.mark.parametrize(("given", "sentence"), ENVIRONMENTS)
def test_a_setting_that_makes_no_sense_stops_the_start(
    given: dict[str, str], sentence: str
) -> None:
    ran = start(**given)
    assert ran.returncode != 0 and sentence in ran.stderr


def test_the_settings_are_read_from_the_environment() -> None:
    ran = start(
        PUBLIC_URL="http://localhost:8000",
        API_HOST="API.localhost",
        DASHBOARD_HOST="dashboard.localhost",
        ADMIN_NETWORKS="::ffff:10.0.0.0/104,::1",
    )
    assert ran.stdout.split() == [
        "http://api.localhost:8000",
        "http://dashboard.localhost:8000",
        "http://localhost:8000",
        "localhost",
        "['10.0.0.0/8','::1/128']",
        "True",
    ]
    assert environment.API_URL == environment.PUBLIC_URL and StaffSite.site_url == "/dashboard/"


def start(**given: str) -> "subprocess.CompletedProcess[str]":
    """A process that reads the settings from this environment."""
    told = (
        "s.API_URL, s.DASHBOARD_URL, s.ADMIN_URL, s.OTP_WEBAUTHN_RP_ID,"
        " str(s.ADMIN_NETWORKS).replace(' ', '')"
    )
    code = (
        f"import config.settings as s; print({told}, {{'api.localhost', 'dashboard.localhost'}} <="
        " set(s.ALLOWED_HOSTS))"
    )
    env = {"PATH": os.environ["PATH"], "TILLGATE_ENV": "test", **given}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        cwd=os.getcwd(),
    )


@pytest.mark.parametrize("path", ["/dashboard", "/admin"])
def test_a_home_without_its_slash_leads_to_the_home(db: None, path: str) -> None:
    answer = Client().get(f"{path}?range=7")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{path}/?range=7")
