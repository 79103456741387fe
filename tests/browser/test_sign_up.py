"""A stranger on a phone creates an account, names the store, and is in it; the same on a wide
screen in the dark."""

import re
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.access.person import sign_up
from apps.core import mailbox
from tests import make
from tests.browser.conftest import OpenPage, shoot
from tests.browser.test_dashboard import fine


def code(email: str) -> str:
    make.mail_leaves()
    message = next(message for message in mailbox.stored_emails() if message.to == email)
    found = re.search(r"^\s+(\d{6})$", message.text, re.MULTILINE)
    assert found is not None
    return found.group(1)


def judged(page: Page, name: str) -> None:
    fine(page)
    shoot(page, f"sign-up-{name}")


@pytest.mark.whole  # the owner's story in the suite begins with it
@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_an_account_is_made_in_three_screens(
    open_page: OpenPage, settings: Any, tmp_path: Any, width: int, dark: bool
) -> None:
    settings.EMAIL_BACKEND = "apps.core.mailbox.Folder"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    settings.SIGN_UP = sign_up.OPEN
    email = f"kim-{uuid.uuid4().hex[:8]}@example.com"
    page = open_page("/dashboard/sign-in", width=width, height=800, dark=dark)
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("Email").fill(email)
    judged(page, f"address-{width}")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Verify email").click()
    expect(page.get_by_text("wrong or has expired")).to_be_visible()
    judged(page, f"code-{width}")
    page.get_by_label("Code").fill(code(email))
    page.get_by_role("button", name="Verify email").click()
    page.get_by_label("Store name").fill("Records of Kim")
    page.get_by_label("Your name").fill("Kim")
    page.get_by_label("Password").fill("a sentence to remember")
    judged(page, f"store-{width}")
    page.get_by_role("button", name="Create store").click()
    expect(page.get_by_text("Welcome to Records of Kim")).to_be_visible()
    judged(page, f"home-{width}")
