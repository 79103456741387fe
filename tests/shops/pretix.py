"""pretix, with a ticket for 23 EUR in an event in test mode."""

import shutil
import signal
import sqlite3
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from playwright.sync_api import Browser, Page

from dev.ports import free_port
from tests.shops.parts import KEPT, Order, Program, Service, fresh, run, visitor
from tests.stack import ROOT, wait_for

VERSION = "2026.8.0"
TICKET = Decimal("23.00")
ORGANIZER, EVENT = "harbor", "concert"
EMAIL, PASSWORD = "owner@example.com", "a long password of pretix"
SETTINGS = """\
[pretix]
instance_name=Harbor tickets
allow_http_to_private_networks=on
url={url}
datadir={data}
[database]
backend=sqlite3
[locale]
default=en
timezone=UTC
[django]
secret=of-this-test-alone-and-long-enough-for-pretix
"""
# What the owner of a shop has before the plugin: an account, an event, a ticket.
BEGINNING = f"""
import sys
import datetime, decimal
import django; django.setup()
from django.utils.timezone import now
from django_scopes import scopes_disabled
from pretix.base.models import *
with scopes_disabled():
    owner = User.objects.create_user({EMAIL!r}, {PASSWORD!r})
    organizer = Organizer.objects.create(name="Harbor", slug={ORGANIZER!r})
    team = Team.objects.create(
        organizer=organizer, name="Owners", all_events=True, all_event_permissions=True,
        all_organizer_permissions=True,
    )
    team.members.add(owner)
    event = Event.objects.create(
        organizer=organizer, name="Concert", slug={EVENT!r}, currency="EUR", live=True,
        testmode=True, date_from=now() + datetime.timedelta(days=90),
        plugins=sys.argv[1] + ",pretix.plugins.banktransfer",
    )
    event.settings.timezone = "UTC"
    event.settings.attendee_names_asked = False
    event.settings.payment_term_days = 14
    event.settings.payment_banktransfer__enabled = True
    ticket = Item.objects.create(
        event=event, name="Ticket", default_price=decimal.Decimal("{TICKET}"), admission=True,
    )
    quota = event.quotas.create(name="Tickets", size=1000)
    quota.items.add(ticket)
    print(ticket.pk, team.tokens.create(name="test").token)
"""


class Pretix:
    title = f"pretix {VERSION}"
    plugin = "pretix_tillgate"
    provider = "tillgate"
    picture_name = "pretix"
    environment_name = f"pretix-{VERSION}"
    unpaid = "failed"
    waiting = "waiting"
    # Asked to refund everything, it makes the order pending, and leaves that to its owner.
    kept = "confirmed"
    left_out = {"payment_added_by_the_customer": "customers of pretix name no payment"}

    def __init__(self, service: Service, pictures: Path | None) -> None:
        self.service = service
        self.pictures = pictures
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.webhook = f"{self.url}/{ORGANIZER}/{EVENT}/{self.provider}/webhook/"
        self.place = fresh(KEPT / "pretix-shop")
        self.python = KEPT / self.environment_name / "bin" / "python"
        self.environment = {
            "PRETIX_CONFIG_FILE": str(self.place / "pretix.cfg"),
            "DJANGO_SETTINGS_MODULE": "pretix.settings",
        }
        self.ticket = self.token = ""
        self.program: Program | None = None

    def install(self) -> None:
        """The shop once; the plugin, from its package, each time. A migrated database is kept."""
        if not self.python.exists():
            run([sys.executable, "-m", "venv", self.python.parent.parent], ROOT)
            run([self.python, "-m", "pip", "install", "-q", f"pretix=={VERSION}"], ROOT)
        self.install_plugin()
        text = SETTINGS.format(url=self.url, data=self.place)
        (self.place / "pretix.cfg").write_text(text)
        kept = KEPT / f"{self.environment_name}.sqlite3"
        if not kept.exists():
            self.manage("migrate")
            with sqlite3.connect(self.place / "db.sqlite3") as made:
                made.execute("pragma wal_checkpoint(truncate)")
            shutil.copy(self.place / "db.sqlite3", kept)
        shutil.copy(kept, self.place / "db.sqlite3")
        told = run([self.python, "-c", BEGINNING, self.plugin], self.place, self.environment)
        self.ticket, self.token = told.split()[-2:]

    def install_plugin(self) -> None:
        """From its package."""
        packages = fresh(KEPT / "pretix-packages")
        for name in ("python", "pretix"):
            uv = Path(sys.executable).parent / "uv"
            sources = ROOT / "clients" / name
            run([uv, "build", "--quiet", "--wheel", sources, "--out-dir", packages], ROOT)
        wheels = sorted(packages.glob("*.whl"))
        pip: list[str | Path] = [self.python, "-m", "pip", "install", "-q"]
        run([*pip, "--find-links", packages, *wheels], ROOT)
        run([*pip, "--force-reinstall", "--no-deps", *wheels], ROOT)

    def manage(self, *arguments: str) -> str:
        return run([self.python, "-m", "pretix", *arguments], self.place, self.environment)

    def start(self) -> None:
        serve = ("-m", "pretix", "runserver", "--noreload", "--insecure", str(self.port))
        log = self.place / "shop.log"
        self.program = Program([self.python, *serve], self.place, self.environment, log)
        wait_for(self._is_up, bool, 300)

    def _is_up(self) -> bool:
        try:
            return requests.get(f"{self.url}/{ORGANIZER}/{EVENT}/", timeout=60).ok
        except requests.ConnectionError:
            return False

    def kill(self) -> None:
        assert self.program is not None
        self.program.end(signal.SIGKILL)

    def stop(self) -> None:
        if self.program is not None:
            self.program.end()

    @property
    def settings(self) -> str:
        """The page of the provider's settings."""
        return f"{self.url}/control/event/{ORGANIZER}/{EVENT}/settings/payment/{self.provider}"

    def sign_in(self, page: Page) -> None:
        page.goto(f"{self.url}/control/login")
        page.get_by_label("Email").fill(EMAIL)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_load_state("networkidle")

    def set_up(self, browser: Browser) -> None:
        page = visitor(browser).new_page()
        self.sign_in(page)
        page.goto(self.settings)
        page.get_by_role("checkbox", name="Enable payment method").check()
        page.get_by_label("Server address").fill(self.service.url)
        page.get_by_label("Secret API key").fill(self.service.key)
        page.get_by_role("button", name="Save").first.click()
        page.get_by_text("Your changes have been saved").wait_for()
        page.goto(self.settings)
        self.picture(page, "settings")
        page.close()

    def picture(self, page: Page, name: str) -> None:
        if self.pictures is not None:
            page.screenshot(path=self.pictures / f"{self.picture_name}-{name}.png")

    def order(self, browser: Browser) -> Order:
        page = self.before_payment(browser)
        page.locator(f"input[name=payment][value={self.provider}]").check()
        self.picture(page, "checkout")
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name="Place binding order").click()
        page.get_by_role("button", name="Exact amount").wait_for()
        payment = self.service.payment(urlsplit(page.url).path.rpartition("/")[2])
        return Order(self.name_of(payment), page, payment)

    def name_of(self, payment: dict[str, Any]) -> str:
        """The order's code in pretix."""
        return str(payment["order_id"]).partition("-")[0]

    def before_payment(self, browser: Browser) -> Page:
        """A customer with a ticket in the cart, who is asked how to pay."""
        page = visitor(browser).new_page()
        page.goto(f"{self.url}/{ORGANIZER}/{EVENT}/")
        page.wait_for_load_state("networkidle")
        page.locator(f"input[name=item_{self.ticket}]").fill("1")
        page.get_by_role("button", name="Add to cart").click()
        page.get_by_role("button", name="Proceed with checkout").or_(
            page.get_by_role("link", name="Proceed with checkout")
        ).first.click()
        page.locator("input[name=email]").fill("customer@example.com")
        repeated = page.locator("input[name=email_repeat]")
        if repeated.count():
            repeated.fill("customer@example.com")
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("select how you want to pay").wait_for()
        return page

    def offers_outside_test_mode(self, browser: Browser) -> bool:
        """Tell whether play money would buy tickets."""
        self.api("PATCH", "", {"testmode": False})
        try:
            page = self.before_payment(browser)
            offered = page.locator(f"input[name=payment][value={self.provider}]").count()
            page.context.close()
            return bool(offered)
        finally:
            self.api("PATCH", "", {"testmode": True})

    def api(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        address = urljoin(f"{self.url}/api/v1/organizers/{ORGANIZER}/events/{EVENT}/", path)
        headers = {"Authorization": f"Token {self.token}"}

        def ask() -> requests.Response:
            return requests.request(method, address, json=body, headers=headers, timeout=120)

        # On SQLite pretix refuses who writes at the same time as somebody else.
        answer = wait_for(ask, lambda found: "database is locked" not in found.text)
        assert answer.ok, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def state(self, order: Order) -> str:
        told = self.api("GET", f"orders/{order.name}/")
        payment = told["payments"][-1]["state"]
        if payment == "refunded":
            return "refunded"
        if told["status"] in ("p", "c"):
            return {"p": "paid", "c": "canceled"}[told["status"]]
        return str({"created": "unpaid", "pending": "waiting"}.get(payment, payment))

    def cancel(self, order: Order) -> None:
        self.api("POST", f"orders/{order.name}/mark_canceled/", {"send_email": False})

    def refund(self, order: Order, amount: str) -> None:
        self.api("POST", f"orders/{order.name}/payments/1/refund/", {"amount": amount})

    def refunded(self, order: Order) -> str:
        rows = self.api("GET", f"orders/{order.name}/refunds/")["results"]
        done = [Decimal(one["amount"]) for one in rows if one["state"] in ("done", "external")]
        return str(sum(done, Decimal("0.00")))

    def claim(self, order: Order, payment: str) -> None:
        raise NotImplementedError

    def catch_up(self) -> None:
        self.manage("runperiodic", "--tasks", "pretix_tillgate.signals.catch_up")


def build(service: Service, pictures: Path | None) -> Pretix:
    shop = Pretix(service, pictures)
    shop.install()
    return shop
