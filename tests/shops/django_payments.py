"""django-payments, in a small Django project that sells a mug for 23 EUR on SQLite."""

import signal
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from playwright.sync_api import Browser

from dev.ports import free_port
from tests.shops.parts import KEPT, Order, Program, Service, fresh, run, visitor
from tests.stack import ROOT, wait_for

VERSION = "4.1.0"
DJANGO = "django==5.2.8"
EVENTS = [
    *(f"payment_intent.{name}" for name in ("processing", "completed", "expired", "failed")),
    "payment_intent.refunded",
    "refund.failed",
    "transaction.confirmed",
]
# A project as django-payments' own guide has it.
PROJECT = {
    "manage.py": """\
import os, sys
from django.core.management import execute_from_command_line
os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"
execute_from_command_line(sys.argv)
""",
    "shop/__init__.py": "",
    "shop/settings.py": """\
import os
SECRET_KEY, DEBUG, ROOT_URLCONF, USE_TZ = "of-this-test", False, "shop.urls", True
ALLOWED_HOSTS = ["localhost"]
INSTALLED_APPS = ["payments", "payments_tillgate", "shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3",
    "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 60}}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
PAYMENT_HOST, PAYMENT_USES_SSL, PAYMENT_MODEL = os.environ["SHOP"], False, "shop.Payment"
PAYMENT_VARIANTS = {"tillgate": ("payments_tillgate.provider.TillgateProvider", {
    "base_url": os.environ["SERVER"], "api_key": os.environ["KEY"],
    "signing_secret": os.environ["SECRET"]})}
""",
    "shop/models.py": """\
from payments.models import BasePayment
class Payment(BasePayment):
    def get_success_url(self): return f"/orders/{self.pk}"
    def get_failure_url(self): return f"/orders/{self.pk}"
""",
    "shop/urls.py": """\
from decimal import Decimal
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from payments import PaymentError, RedirectNeeded
from shop.models import Payment

def home(request):
    return HttpResponse("<form method=post action=/buy><button>Buy a mug</button></form>")
@csrf_exempt
def buy(request):
    payment = Payment.objects.create(variant="tillgate", total=Decimal("23.00"), currency="EUR",
        description="A mug", billing_email="customer@example.com")
    try:
        payment.get_form()
    except RedirectNeeded as there:
        return redirect(str(there))
def order(request, pk):
    payment = get_object_or_404(Payment, pk=pk)
    return JsonResponse({"status": payment.status, "captured": str(payment.captured_amount),
        "total": str(payment.total)})
@csrf_exempt
def act(request, pk, what):
    payment = get_object_or_404(Payment, pk=pk)
    try:
        if what == "cancel":
            payment.cancel()
        else:
            payment.refund(Decimal(request.POST["amount"]))
    except PaymentError as error:
        return HttpResponse(str(error), status=409)
    return HttpResponse("OK")

urlpatterns = [path("", home), path("buy", buy), path("orders/<int:pk>", order),
    path("orders/<int:pk>/<what>", act), path("payments/", include("payments.urls"))]
""",
}
STATES = {"waiting": "unpaid", "input": "unpaid", "confirmed": "paid", "rejected": "failed"}


class DjangoPayments:
    title = f"django-payments {VERSION}"
    unpaid = "failed"
    waiting = "unpaid"  # It has one word for both.
    left_out = {
        "test_key_in_a_live_shop": "django-payments has no test mode",
        "payment_added_by_the_customer": "its customers name no payment",
    }

    def __init__(self, service: Service, pictures: Path | None) -> None:
        self.service = service
        self.host = f"localhost:{free_port()}"
        self.url = f"http://{self.host}"
        self.webhook = f"{self.url}/payments/process/tillgate/"
        self.place = fresh(KEPT / "django-payments-shop")
        self.python = KEPT / f"django-payments-{VERSION}" / "bin" / "python"
        self.environment = {"SHOP": self.host, "SERVER": service.url, "KEY": service.key}
        self.program: Program | None = None

    def install(self) -> None:
        """The packages, and the plugin from its own; then its owner registers the webhook."""
        if not self.python.exists():
            run([sys.executable, "-m", "venv", self.python.parent.parent], ROOT)
        pip: list[str | Path] = [self.python, "-m", "pip", "install", "-q"]
        packages = fresh(KEPT / "django-payments-packages")
        for name in ("python", "django-payments"):
            uv = Path(sys.executable).parent / "uv"
            sources = ROOT / "clients" / name
            run([uv, "build", "--quiet", "--wheel", sources, "--out-dir", packages], ROOT)
        wheels = sorted(packages.glob("*.whl"))
        run([*pip, DJANGO, f"django-payments=={VERSION}", *wheels], ROOT)
        run([*pip, "--force-reinstall", "--no-deps", *wheels], ROOT)

        wanted = {"url": self.webhook, "subscribed_events": EVENTS}
        made = self.service.api("POST", "/webhook_endpoints", {"webhook_endpoint": wanted})
        self.environment["SECRET"] = made["signing_secret"]
        (self.place / "shop").mkdir()
        for file, text in PROJECT.items():
            (self.place / file).write_text(text)
        self.manage("migrate", "--run-syncdb")

    def manage(self, *arguments: str) -> str:
        return run([self.python, "manage.py", *arguments], self.place, self.environment)

    def start(self) -> None:
        serve = ("manage.py", "runserver", "--noreload", self.host.partition(":")[2])
        log = self.place / "shop.log"
        self.program = Program([self.python, *serve], self.place, self.environment, log)
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
        """Settings and webhook are there before the shop starts. A test key where DEBUG is off is
        reported by Django's own check."""
        told = "from django.core.checks import run_checks; print(*(one.id for one in run_checks()))"
        assert "payments_tillgate.W001" in self.manage("shell", "-c", told)

    def order(self, browser: Browser) -> Order:
        page = visitor(browser).new_page()
        page.goto(self.url)
        page.get_by_role("button", name="Buy a mug").click()
        page.get_by_role("button", name="Exact amount").wait_for()
        payment = self.service.payment(urlsplit(page.url).path.rpartition("/")[2])
        return Order(payment["order_id"], page, payment)

    def _told(self, order: Order) -> dict[str, Any]:
        told: dict[str, Any] = requests.get(f"{self.url}/orders/{order.name}", timeout=60).json()
        return told

    def state(self, order: Order) -> str:
        status = str(self._told(order)["status"])
        return {**STATES, "cancelled": "canceled"}.get(status, status)

    def cancel(self, order: Order) -> None:
        self._act(order, "cancel", {200, 409})

    def refund(self, order: Order, amount: str) -> None:
        self._act(order, "refund", {200}, amount=amount)

    def _act(self, order: Order, what: str, expected: set[int], **fields: str) -> None:
        address = f"{self.url}/orders/{order.name}/{what}"
        answer = requests.post(address, data=fields, timeout=60)
        assert answer.status_code in expected, answer.text

    def refunded(self, order: Order) -> str:
        told = self._told(order)
        return str(Decimal(told["total"]) - Decimal(told["captured"]))

    def claim(self, order: Order, payment: str) -> None:
        raise NotImplementedError

    def catch_up(self) -> None:
        self.manage("tillgate_catch_up")

    def offers_outside_test_mode(self, browser: Browser) -> bool:
        raise NotImplementedError


def build(service: Service, pictures: Path | None) -> DjangoPayments:
    shop = DjangoPayments(service, pictures)
    shop.install()
    return shop
