"""The quickstart as a reader has it: its code is copied off the page, and run twice in two
languages against one store."""

import subprocess
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from apps.payments.models import Payment
from apps.webhooks.models import Endpoint
from tests.browser.conftest import OpenPage
from tests.cast import Cast
from tests.snippets import URL, Reader

# Get a test key, create a payment, register the webhook address.
STEPS = 3
PROGRAMS = {"curl": ["bash", "-e", "-c"], "Python": ["python3", "-c"]}


def code_of(page: Page, step: int, language: str) -> str:
    tabs = page.locator(".code-tabs").nth(step)
    tabs.get_by_text(language, exact=True).first.click()
    code = tabs.locator("pre").filter(visible=True)
    expect(code).to_have_count(1)
    return code.locator("code").inner_text()


def run(code: str, language: str, folder: Path, server: str) -> str:
    environment = Reader(server, "", 0, folder).environment()
    done = subprocess.run(
        [*PROGRAMS[language], code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_the_steps_of_the_page_run_again_and_in_another_language(
    world: Cast, open_page: OpenPage, server: str, settings: Any, tmp_path: Path
) -> None:
    settings.WEBHOOK_ALLOW_HOSTS = ["localhost"]
    page = open_page("/docs/quickstart", width=390)
    page.get_by_label("Your test key").fill(world.bakery.secrets["test"])
    told = []
    for language in ("curl", "Python", "curl", "Python"):
        code = "\n".join(code_of(page, step, language) for step in range(STEPS))
        assert world.bakery.secrets["test"] in code
        told.append(run(code.replace(URL, server), language, tmp_path, server))
        (endpoint,) = Endpoint.objects.filter(store=world.bakery.store, deleted_at=None)
        assert endpoint.url == "http://localhost:4242"
    orders = Payment.objects.filter(store=world.bakery.store).values_list("order_id", flat=True)
    assert len(set(orders)) == len(told) == 4, "each run is an order of its own"
