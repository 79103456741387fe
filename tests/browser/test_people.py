"""The rooms about people and apps in a real browser: wide, on a phone and in the dark; somebody
invited joins by the email's link."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from apps.access.factors import second_factor
from tests.browser.conftest import OpenPage, overflow, shoot, turn_to
from tests.browser.stories import email_to
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast, person
from tests.contract.oauth.apps import App
from tests.dashboard.browse import next_code


@pytest.fixture
def folder(settings: Any, tmp_path: Any) -> None:
    settings.EMAIL_BACKEND = "apps.core.mailbox.Folder"
    settings.EMAIL_FILE_PATH = str(tmp_path)


def test_somebody_is_invited_reads_the_email_and_joins(
    world: Cast, open_page: OpenPage, folder: None
) -> None:
    second_factor.switch_on(world.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    page = open_page("/dashboard/team", person=world.alice)
    page.get_by_role("link", name="Invite").click()
    page.get_by_label("Email").fill("dora@bakery.example")
    fine(page)
    shoot(page, "team-invite")
    page.get_by_role("button", name="Send invitation").click()
    expect(page.get_by_role("heading", name="Verify it’s you", level=1)).to_be_visible()
    fine(page)
    shoot(page, "team-invite-confirm")
    page.get_by_label("Code from your authenticator app").fill(next_code(world.alice))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Invitation sent to dora@bakery.example.")).to_be_visible()
    fine_again(page)
    shoot(page, "team")
    email = email_to("dora@bakery.example")

    box = open_page("/dev/mailbox", width=390, height=800)
    fine(box)
    shoot(box, "mailbox-phone")
    box.get_by_role("link", name=email.subject).first.click()
    fine(box)
    shoot(box, "email-phone")
    box.goto(f"{box.url.partition('/dev/')[0]}/dev/mailbox/{email.name}/html")
    box.set_viewport_size({"width": 600, "height": 800})
    assert overflow(box) == 0
    for look in ("light", "dark"):
        box.emulate_media(color_scheme="dark" if look == "dark" else "light")
        shoot(box, f"email-{look}")

    found = re.search(r"/dashboard/join/\S+", email.text)
    assert found is not None
    box.set_viewport_size({"width": 390, "height": 800})
    box.goto(box.url.partition("/dev/")[0] + found.group())
    fine(box)
    shoot(box, "join-phone")
    box.get_by_label("Your name").fill("Dora")
    box.get_by_label("Choose a password").fill("a long enough sentence")
    box.get_by_role("button", name="Create account and join").click()
    expect(box.get_by_text("Welcome to Alice's Bakery.")).to_be_visible()


@pytest.mark.whole  # in the suite in test_every_page.py
@pytest.mark.parametrize("look", ["wide", "phone", "dark"])
def test_the_rooms_about_people_and_apps_can_be_used_everywhere(
    world: Cast, open_page: OpenPage, folder: None, look: str
) -> None:
    app = App(world)
    app.tokens()
    page = open_page("/dashboard/security", person=world.alice)
    page.wait_for_url("**/security")
    if look == "phone":
        page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark" if look == "dark" else "light")
    bob = world.bob.pk
    for path in (
        "security",
        "security/sessions",
        "security/passkeys",
        "security/email",
        "team",
        f"team/{bob}/role",
        f"team/{bob}/remove",
        "apps",
        "apps/own",
        "apps/own/new",
        f"apps/own/{app.id}",
    ):
        turn_to(page, f"/dashboard/{path}")
        fine(page)
        place = path.replace("/", "-").replace(str(bob), "bob").replace(app.id, "one")
        shoot(page, f"people-{place}-{look}")


def test_a_forgotten_password_is_replaced_on_a_phone(
    open_page: OpenPage, server: str, folder: None, chromium: Any
) -> None:
    somebody = person("fred")
    page = open_page("/dashboard/sign-in", width=390, height=800)
    shoot(page, "sign-in-phone")
    page.get_by_role("link", name="Forgot your password?").click()
    fine(page)
    page.get_by_label("Email").fill(somebody.email)
    page.get_by_role("button", name="Send reset link").click()
    expect(page.get_by_role("heading", name="Check your email")).to_be_visible()
    fine(page)
    found = re.search(r"/dashboard/reset/\S+", email_to(somebody.email).text)
    assert found is not None
    page.goto(server + found.group())
    fine(page)
    shoot(page, "reset-phone")
    page.get_by_label("New password").fill("a new sentence to remember")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Password changed.")).to_be_visible()
