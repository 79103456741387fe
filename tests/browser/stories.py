"""Beginning of every story of a person at the dashboard: somebody who is signed in, and pages
that are judged as they are shown."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from apps.access.factors import second_factor
from apps.core import mailbox
from apps.core.redis import buckets
from apps.stores.models import User
from tests import auditing, make
from tests.browser.conftest import OpenPage, shoot
from tests.browser.test_dashboard import fine, fine_again
from tests.dashboard.browse import next_code

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


class Teller:
    """One person's browser. `name` is the story's, for the pictures."""

    def __init__(self, page: Page, name: str, person: User | None = None) -> None:
        self.page = page
        self.name = name
        self.person = person
        self.base = page.url.split("/dashboard")[0] + "/dashboard/"

    def go(self, path: str) -> None:
        self.page.goto(self.base + path)

    def fill(self, **fields: str) -> None:
        """By label: `legal_name` is "Legal name"."""
        for label, text in fields.items():
            self.page.get_by_label(label.replace("_", " ").capitalize(), exact=True).fill(text)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def follow(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def give_code(self) -> None:
        """As asked for on the page; codes of one person are taken as often as the story needs
        them."""
        assert self.person is not None
        buckets.client().flushdb()
        self.page.get_by_role("textbox", name=re.compile("^Code")).fill(next_code(self.person))

    def reads(self, words: str | re.Pattern[str]) -> Locator:
        found = self.page.get_by_text(words).first
        expect(found).to_be_visible()
        return found

    def see(self, heading: str, name: str) -> None:
        """A page with this heading, without a barrier and not wider than its window."""
        self._reach(heading, name)
        fine(self.page)

    def see_again(self, heading: str, name: str) -> None:
        """Of a page that another test of the suite judges: it fits."""
        self._reach(heading, name)
        fine_again(self.page)

    def _reach(self, heading: str, name: str) -> None:
        expect(self.page.get_by_role("heading", name=heading, level=1)).to_be_visible()
        shoot(self.page, f"story-{self.name}-{name}")


def begin(open_page: OpenPage, name: str, person: User, path: str = "", **look: Any) -> Teller:
    """The page, once the person has signed in with password and code."""
    if second_factor.confirmed(person) is None:
        second_factor.switch_on(person, SECRET)
    page = open_page(f"/dashboard/{path}", **look, person=person)
    return Teller(page, name, person)


def email_to(address: str) -> mailbox.StoredEmail:
    make.mail_leaves()
    return next(email for email in mailbox.stored_emails() if email.to == address)


def breaches() -> set[tuple[str, str]]:
    """Broken invariants of the books. Other tests, whose rows stay, leave some on purpose."""
    return {(finding.invariant, finding.subject) for finding in auditing.breaches()}
