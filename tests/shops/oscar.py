"""django-oscar, on SQLite, with a mug for 23 EUR. Oscar's package has no shop in it: this is one as
oscar's guide has it, with the parts that our guide adds taken from there."""

import re
import shutil
import signal
import sys
import textwrap
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from playwright.sync_api import Browser, BrowserContext, Page

from dev.ports import free_port
from tests.shops.django_payments import EVENTS
from tests.shops.parts import KEPT, Order, Program, Service, fresh, run, visitor
from tests.stack import ROOT, wait_for

VERSION = "4.2.1"
DJANGO = "django==5.2.19"
GUIDE = ROOT / "docs" / "guide" / "shops.md"
EMAIL, PASSWORD = "owner@example.com", "a long password of oscar"
SETTINGS = """\
import os
from oscar import INSTALLED_APPS
from oscar.defaults import *
SECRET_KEY, DEBUG, ROOT_URLCONF, USE_TZ, SITE_ID = "of-this-test", False, "shop.urls", True, 1
LANGUAGE_CODE = "en-gb"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
ALLOWED_HOSTS, STATIC_URL = ["localhost"], "static/"
INSTALLED_APPS = [
    {"oscar.apps.checkout.apps.CheckoutConfig": "shop.checkout.apps.CheckoutConfig",
     "oscar.apps.order.apps.OrderConfig": "shop.order.apps.OrderConfig"}.get(name, name)
    if os.path.exists("shop/order") else name for name in [*INSTALLED_APPS, "sorl.thumbnail"]
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.template.context_processors.request",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
        "oscar.apps.search.context_processors.search_form",
        "oscar.apps.checkout.context_processors.checkout",
        "oscar.apps.communication.notifications.context_processors.notifications",
        "oscar.core.context_processors.metadata",
    ]}}]
AUTHENTICATION_BACKENDS = [
    "oscar.apps.customer.auth_backends.EmailBackend", "django.contrib.auth.backends.ModelBackend",
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3",
    "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 60}}}
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH, MEDIA_ROOT, MEDIA_URL = "emails", "media", "/media/"
OSCAR_SHOP_NAME, OSCAR_DEFAULT_CURRENCY, OSCAR_ALLOW_ANON_CHECKOUT = "Harbor", "EUR", True
OSCAR_INITIAL_ORDER_STATUS = OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = {
    "Pending": ("Being processed", "Cancelled"),
    "Being processed": ("Complete", "Cancelled"),
    "Complete": (), "Cancelled": (),
}
"""
OWN = """
PAYMENT_HOST, PAYMENT_USES_SSL = os.environ["SHOP"], False
"""
URLS = """\
from django.apps import apps
from django.db.transaction import atomic
from django.http import JsonResponse
from django.urls import include, path
from oscar.core.loading import get_model

@atomic
def told(request, number):
    order = get_model("order", "Order").objects.get(number=number)
    (source,) = order.sources.all()
    return JsonResponse({"status": order.status, "total": str(order.total_incl_tax),
        "debited": str(source.amount_debited), "refunded": str(source.amount_refunded),
        "notes": [note.message for note in order.notes.order_by("pk")]})

urlpatterns = [
    path("told/<number>", told),
    path("i18n/", include("django.conf.urls.i18n")),
    path("payments/", include("payments.urls")),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
"""
# The shop before it has the plugin.
BEFORE = URLS.replace('    path("payments/", include("payments.urls")),\n', "")
# What the owner of a shop has: an account, a country that is shipped to, a mug.
BEGINNING = f"""
from decimal import Decimal
from django.contrib.auth import get_user_model
from oscar.core.loading import get_model
model = get_model
get_user_model().objects.create_superuser("owner", {EMAIL!r}, {PASSWORD!r})
model("address", "Country").objects.create(
    iso_3166_1_a2="DE", iso_3166_1_a3="DEU", iso_3166_1_numeric="276", printable_name="Germany",
    name="Germany", is_shipping_country=True)
kind = model("catalogue", "ProductClass").objects.create(name="Mugs", track_stock=True)
mug = model("catalogue", "Product").objects.create(title="Mug", product_class=kind, upc="MUG")
partner = model("partner", "Partner").objects.create(name="Harbor")
partner.stockrecords.create(product=mug, partner_sku="MUG", price=Decimal("23.00"),
    price_currency="EUR", num_in_stock=1000)
print(mug.get_absolute_url())
"""


def parts_of_the_guide() -> dict[str, str]:
    """File of the shop (or `settings`) -> what the guide says is in it."""
    section = GUIDE.read_text().split("\n## django-oscar\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^( *)```python .*\n((?:.*\n)*?)\1```$", section, re.M)
    parts = {}
    for _indent, block in blocks:
        name, _, text = textwrap.dedent(block).partition("\n")
        parts[name.removeprefix("# ")] = text
    return parts


class Oscar:
    title = f"django-oscar {VERSION}"
    unpaid = waiting = "unpaid"
    left_out = {
        "test_key_in_a_live_shop": "django-oscar has no test mode",
        "payment_added_by_the_customer": "its customers name no payment",
    }

    def __init__(self, service: Service, pictures: Path | None) -> None:
        self.service = service
        self.pictures = pictures
        self.host = f"localhost:{free_port()}"
        self.url = f"http://{self.host}"
        self.webhook = f"{self.url}/payments/process/tillgate/"
        self.place = fresh(KEPT / "oscar-shop")
        self.python = KEPT / f"oscar-{VERSION}" / "bin" / "python"
        self.environment = {"DJANGO_SETTINGS_MODULE": "shop.settings", "SHOP": self.host}
        self.mug = ""
        self.owner: BrowserContext | None = None
        self.program: Program | None = None

    def install(self) -> None:
        """A shop without the plugin, and then what the guide says, step by step."""
        if not self.python.exists():
            run([sys.executable, "-m", "venv", self.python.parent.parent], ROOT)
        pip: list[str | Path] = [self.python, "-m", "pip", "install", "-q"]
        run([*pip, DJANGO, f"django-oscar[sorl-thumbnail]=={VERSION}"], ROOT)
        shop = fresh(self.place / "shop")
        for name, text in {"__init__": "", "settings": SETTINGS, "urls": BEFORE}.items():
            (shop / f"{name}.py").write_text(text)
        kept = KEPT / f"oscar-{VERSION}.sqlite3"
        if not kept.exists():
            self.manage("migrate")
            shutil.copy(self.place / "shop.sqlite3", kept)
        shutil.copy(kept, self.place / "shop.sqlite3")
        self.mug = self.manage("shell", "-v0", "-c", BEGINNING).split()[-1]

        packages = fresh(KEPT / "oscar-packages")
        for name in ("python", "django-payments", "oscar"):
            uv = Path(sys.executable).parent / "uv"
            sources = ROOT / "clients" / name
            run([uv, "build", "--quiet", "--wheel", sources, "--out-dir", packages], ROOT)
        wheels = sorted(packages.glob("*.whl"))
        run([*pip, "--find-links", packages, *wheels], ROOT)
        run([*pip, "--force-reinstall", "--no-deps", *wheels], ROOT)
        self.manage("oscar_fork_app", "checkout", "shop")
        self.manage("oscar_fork_app", "order", "shop")
        parts = parts_of_the_guide()
        settings = parts.pop("settings")
        for file, text in parts.items():
            (self.place / file).write_text(text)
        wanted = {"url": self.webhook, "subscribed_events": EVENTS}
        made = self.service.api("POST", "/webhook_endpoints", {"webhook_endpoint": wanted})
        self.environment |= {
            "TILLGATE_URL": self.service.url,
            "TILLGATE_KEY": self.service.key,
            "TILLGATE_SIGNING_SECRET": made["signing_secret"],
        }
        (shop / "settings.py").write_text(SETTINGS + settings + OWN)
        (shop / "urls.py").write_text(URLS)
        self.manage("migrate")
        self.manage("makemigrations", "--check", "--dry-run", "oscar_tillgate")

    def manage(self, *arguments: str) -> str:
        return run([self.python, "-m", "django", *arguments], self.place, self._environment())

    def _environment(self) -> dict[str, str]:
        return {**self.environment, "PYTHONPATH": str(self.place)}

    def start(self) -> None:
        serve = ("-m", "django", "runserver", "--noreload", "--insecure", self.host.split(":")[1])
        log = self.place / "shop.log"
        self.program = Program([self.python, *serve], self.place, self._environment(), log)
        wait_for(self._is_up, bool, 300)

    def _is_up(self) -> bool:
        try:
            return requests.get(self.url, timeout=60).ok
        except requests.ConnectionError:
            return False

    def kill(self) -> None:
        assert self.program is not None
        self.program.end(signal.SIGKILL)

    def stop(self) -> None:
        if self.program is not None:
            self.program.end()

    def set_up(self, browser: Browser) -> None:
        """The owner signs in to the dashboard. A test key where DEBUG is off is reported by
        Django's own check."""
        told = "from django.core.checks import run_checks; print(*(one.id for one in run_checks()))"
        assert "payments_tillgate.W001" in self.manage("shell", "-v0", "-c", told)
        self.owner = visitor(browser)
        page = self.owner.new_page()
        page.goto(f"{self.url}/dashboard/login/")
        page.locator("input[name=username]").fill(EMAIL)
        page.locator("input[name=password]").fill(PASSWORD)
        page.get_by_role("button", name="Login").click()
        page.get_by_role("heading", name="Dashboard").first.wait_for()
        page.close()

    def picture(self, page: Page, name: str) -> None:
        """In a font that has digits: oscar's list ends with one of emoji."""
        if self.pictures is not None:
            page.add_style_tag(content="body { font-family: sans-serif }")
            page.screenshot(path=self.pictures / f"oscar-{name}.png")

    def order(self, browser: Browser) -> Order:
        """A guest with a mug."""
        page = visitor(browser).new_page()
        page.goto(self.url + self.mug)
        page.get_by_role("button", name="Add to basket").click()
        page.goto(f"{self.url}/checkout/")
        page.locator("input[name=username]").fill("customer@example.com")
        page.get_by_role("button", name="Continue").click()
        address = {"first_name": "Cleo", "last_name": "Customer", "line1": "Quay 1"}
        for name, value in {**address, "line4": "Hamburg", "postcode": "20457"}.items():
            page.locator(f"input[name={name}]").fill(value)
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("you pay with your wallet").wait_for()
        page.get_by_role("link", name="Continue").click()
        page.get_by_role("button", name="Place order").wait_for()
        self.picture(page, "checkout")
        page.get_by_role("button", name="Place order").click()
        page.get_by_role("button", name="Exact amount").wait_for()
        payment = self.service.payment(urlsplit(page.url).path.rpartition("/")[2])
        return Order(payment["order_id"], page, payment)

    def _told(self, order: Order) -> dict[str, Any]:
        told: dict[str, Any] = requests.get(f"{self.url}/told/{order.name}", timeout=60).json()
        return told

    def state(self, order: Order) -> str:
        told = self._told(order)
        if told["status"] == "Cancelled":
            return "canceled"
        is_paid = told["debited"] == told["total"]
        assert is_paid == (told["status"] == "Being processed"), told
        if not is_paid:
            return "unpaid"
        return "refunded" if told["refunded"] == told["total"] else "paid"

    def _opened(self, order: Order) -> Page:
        """The order in the owner's dashboard."""
        assert self.owner is not None
        page = self.owner.new_page()
        page.goto(f"{self.url}/dashboard/orders/{order.name}/")
        return page

    def cancel(self, order: Order) -> None:
        page = self._opened(order)
        form = page.locator("#order_status_form")
        form.locator("select").select_option("Cancelled")
        form.get_by_role("button", name="Change status").click()
        page.get_by_text("Order status changed").first.wait_for()
        page.close()
        has_come = self.service.payment(order.id)["status"] == "processing"
        notes = [one for one in self._told(order)["notes"] if "isn't canceled" in one]
        assert len(notes) == has_come, notes

    def refund(self, order: Order, amount: str) -> None:
        page = self._opened(order)
        page.locator("input[name=selected_line]").check()
        page.locator("#payment_event_check").check()
        page.locator("select[name=payment_event_type]").select_option("refund")
        page.locator("input[name=amount]").fill(amount)
        page.get_by_role("button", name="Go").click()
        page.get_by_text("Payment event created").wait_for()
        page.close()

    def refunded(self, order: Order) -> str:
        refunded = str(self._told(order)["refunded"])
        if Decimal(refunded) and self.pictures is not None:
            page = self._opened(order)
            page.locator("a[href='#payment']").click()
            page.locator("#payment").get_by_role("cell", name="Refund").first.wait_for()
            self.picture(page, "order")
            page.close()
        return refunded

    def claim(self, order: Order, payment: str) -> None:
        raise NotImplementedError

    def catch_up(self) -> None:
        self.manage("tillgate_catch_up")

    def offers_outside_test_mode(self, browser: Browser) -> bool:
        raise NotImplementedError


def build(service: Service, pictures: Path | None) -> Oscar:
    shop = Oscar(service, pictures)
    shop.install()
    return shop
