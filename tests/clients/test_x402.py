"""The newest clients of x402, from npm and from PyPI, in test mode against a running service: a
payment at its own address, and the guide's server and client."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from eth_account import Account

from dev.ports import free_port
from tests.clients import hosts
from tests.stack import Demo, Remote

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def api(demo: Demo) -> Remote:
    return Remote(demo.info["base_url"], demo.info["store"]["keys"]["test"]["secret"])


@pytest.fixture
def shop(demo: Demo, api: Remote) -> Iterator[str]:
    """The guide's server with a test key; its paid page."""
    port = free_port()
    environ = {
        **os.environ,
        "TILLGATE_URL": api.base_url,
        "TILLGATE_KEY": demo.info["store"]["keys"]["test"]["secret"],
        "PORT": str(port),
    }
    server = [sys.executable, "docs/examples/x402_server.py"]
    process = subprocess.Popen(server, cwd=ROOT, env=environ)
    url = f"http://localhost:{port}/report"
    until = time.monotonic() + 120
    while not is_up(url):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.2)
    yield url
    process.terminate()
    process.wait()


def is_up(url: str) -> bool:
    try:
        return requests.get(url, timeout=60).status_code == 402
    except requests.ConnectionError:
        return False


def pay(address: str, *allowed: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["node", "pay.mjs", address, *allowed],
        cwd=hosts.x402_fetch(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.whole
def test_the_client_of_npm_pays_a_payment_once_it_may_use_the_token(api: Remote) -> None:
    payment = api.payment(amount="2.00")
    refused = pay(payment["x402_url"])
    assert refused.returncode != 0 and "allowedAssets" in refused.stderr
    paid = pay(payment["x402_url"], "any")
    assert paid.returncode == 0, paid.stderr
    told = json.loads(paid.stdout)
    assert (told["status"], told["body"]["status"]) == (200, "completed")
    assert api.detail(payment["id"])["state_reason"] == "completed_exact"


def test_the_guides_client_buys_at_the_guides_server_without_a_coin(api: Remote, shop: str) -> None:
    before = api("GET", "/payments?per_page=1")["data"]
    for _ in range(5):
        assert requests.get(shop, timeout=60).status_code == 402
    assert api("GET", "/payments?per_page=1")["data"] == before
    run = subprocess.run(
        [sys.executable, "docs/examples/x402_client.py", shop],
        cwd=ROOT,
        env={**os.environ, "PRIVATE_KEY": Account.create().key.to_0x_hex()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "200 " in run.stdout and "It will rain" in run.stdout, run.stdout + run.stderr
    (newest,) = api("GET", "/payments?per_page=1")["data"]
    assert (newest["description"], newest["status"]) == ("Report", "completed")
