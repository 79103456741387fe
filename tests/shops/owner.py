"""The owner of the demo's store in the dashboard: signs in, turns on the APIs of others, and
approves clients that ask to be paired."""

import time
from base64 import b32decode

from django_otp.oath import totp
from playwright.sync_api import Page

from tests.pictures import choose_mode
from tests.shops.parts import Service

STEP_SECONDS = 30


class DashboardOwner:
    def __init__(self, service: Service) -> None:
        self.service = service
        self.last_step = 0

    def sign_in(self, page: Page) -> None:
        merchant = self.service.info["dashboard"]
        page.goto(f"{self.service.url}/dashboard/sign-in")
        page.get_by_label("Email").fill(merchant["email"])
        page.get_by_label("Password", exact=True).fill(merchant["password"])
        page.get_by_role("button", name="Sign in", exact=True).click()
        self._enter_code(page)
        choose_mode(page, self.service.url, "test")

    def turn_on_compatible_apis(self, page: Page) -> None:
        page.goto(f"{self.service.url}/dashboard/settings/btcpay")
        if page.get_by_role("button", name="Turn off", exact=True).count():
            return
        self._press(page, "Turn on")
        page.get_by_text("The API is on.").first.wait_for()

    def approve(self, page: Page) -> None:
        """The page that asks for it is open."""
        self._press(page, "Connect")
        page.get_by_text("is connected.").wait_for()

    def _press(self, page: Page, button: str) -> None:
        """With a code where one is asked for."""
        page.get_by_role("button", name=button, exact=True).click()
        page.wait_for_load_state("networkidle")
        if page.locator("input[name=code]").count():
            self._enter_code(page)

    def _enter_code(self, page: Page) -> None:
        """A code works once: one that is a step early or late is taken, too."""
        self.last_step = max(self.last_step + 1, int(time.time()) // STEP_SECONDS - 1)
        early = self.last_step - int(time.time()) // STEP_SECONDS
        if early > 1:
            time.sleep((early - 1) * STEP_SECONDS)
        key = b32decode(self.service.info["dashboard"]["totp_secret"])
        code = totp(key, STEP_SECONDS, int(time.time()) - self.last_step * STEP_SECONDS)
        field = page.locator("input[name=code]")
        field.fill(f"{code:06d}")
        field.press("Enter")
        page.wait_for_load_state("networkidle")
