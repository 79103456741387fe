"""Passkeys in a real browser, with an authenticator that Chromium plays: added, taken alone, as
second factor and to confirm."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.access.factors import second_factor
from apps.access.person import sessions
from apps.core import clock
from apps.core.redis import buckets
from apps.stores.models import User
from tests.browser.conftest import OpenPage, shoot
from tests.browser.signing_in import cookies_of
from tests.browser.test_dashboard import fine, fine_again, sign_in
from tests.cast import Cast
from tests.dashboard.browse import next_code


@pytest.fixture
def open_with_device(
    server: str, open_page: OpenPage, settings: Any
) -> Callable[[str, User], Page]:
    """A page on a host that passkeys may be of, in a browser with a device that verifies its
    person."""
    site = server.replace("127.0.0.1", "localhost")
    settings.OTP_WEBAUTHN_RP_ID = "localhost"
    settings.OTP_WEBAUTHN_ALLOWED_ORIGINS = [site]

    def open_path(path: str, person: User) -> Page:
        page = open_page(f"{site}/healthz")
        page.context.add_cookies(cookies_of(person, site))
        device = page.context.new_cdp_session(page)
        device.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        device.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        page.goto(site + path)
        return page

    return open_path


def test_a_passkey_signs_in_alone_and_stands_in_for_a_code(
    world: Cast,
    open_with_device: Callable[[str, User], Page],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    page = open_with_device("/dashboard/security/passkeys", world.alice)
    page.get_by_role("link", name="Add passkey").first.click()
    fine(page)
    shoot(page, "passkeys-add-code")
    page.get_by_role("textbox", name="Code").fill(next_code(world.alice))
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Name").fill("Laptop")
    fine(page)
    shoot(page, "passkeys-add")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Passkey Laptop added.")).to_be_visible()
    fine(page)
    shoot(page, "passkeys")

    page.locator(".person-menu > summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in with a passkey").click()
    page.wait_for_url("**/dashboard/")

    page.locator(".person-menu > summary").click()
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, world.alice.email)
    expect(page.get_by_role("heading", name="Enter your code")).to_be_visible()
    fine_again(page)
    shoot(page, "passkeys-second-factor")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("**/dashboard/")

    buckets.client().flushdb()  # more attempts than one address has in a row
    monkeypatch.setattr(sessions, "FRESH", clock.real_now() - clock.real_now())
    page.goto(page.url + "webhooks/new")
    expect(page.get_by_text("Add a webhook endpoint")).to_be_visible()
    fine_again(page)
    shoot(page, "passkeys-confirm")
    monkeypatch.undo()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Add test endpoint")).to_be_visible()


def test_a_device_that_gives_no_passkey_is_told_about(
    world: Cast, open_page: OpenPage, server: str
) -> None:
    page = open_page(
        server + "/dashboard/sign-in/passkey", height=700
    )  # passkeys are of host names, and this is an address
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("Your device gave no passkey.")).to_be_visible()
    fine(page)
    shoot(page, "passkeys-sign-in")
