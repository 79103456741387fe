"""pretix with `pretix-bitpay` from its registry, unmodified, at the API in BitPay's form."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tests.shops.owner import DashboardOwner
from tests.shops.parts import Order, Service, run, visitor
from tests.shops.pretix import EVENT, ORGANIZER, VERSION, Pretix
from tests.stack import ROOT

PLUGIN = "1.5.3"
# What the plugin itself reads of an order's invoice, with its own key.
ASKING = f"""
import sys
import django; django.setup()
from django_scopes import scopes_disabled
from pretix.base.models import Event
from pretix_bitpay.models import ReferencedBitPayObject
from pretix_bitpay.payment import BitPay
with scopes_disabled():
    event = Event.objects.get(slug={EVENT!r}, organizer__slug={ORGANIZER!r})
    known = ReferencedBitPayObject.objects.get(order__code=sys.argv[1])
    print(BitPay(event).client.get_invoice(known.reference)["status"])
"""


class PretixBitPay(Pretix):
    title = f"pretix {VERSION} with pretix-bitpay {PLUGIN}"
    plugin = "pretix_bitpay"
    provider = "bitpay"
    picture_name = "pretix-bitpay"
    environment_name = f"pretix-{VERSION}-bitpay"
    # The plugin compares a status with a tuple, and never sees that an invoice has expired: what it
    # reads counts here.
    unpaid = "expired"
    waiting = "unpaid"
    left_out = {
        "new_quote": "the plugin knows the order's first invoice alone",
        "refunded_in_part_in_the_shop": "the plugin asks for the whole price, whatever the part",
        "refund_that_fails_later": "the plugin doesn't ask what became of its refund",
        "refunded_in_tillgate": "the plugin ignores it",
        "canceled_in_the_shop": "the plugin cancels no invoice",
        "money_has_come_when_it_is_canceled": "the plugin cancels no invoice",
        "webhook_lost_and_caught_up": "the plugin has no catch-up",
        "restarted_halfway": "the plugin has no catch-up",
        "payment_added_by_the_customer": "customers of pretix name no payment",
        "forged_webhook": "notices have no signature: the plugin asks for the invoice",
        "test_key_in_a_live_shop": "the plugin has no test mode",
    }

    def install_plugin(self) -> None:
        run([self.python, "-m", "pip", "install", "-q", f"pretix-bitpay=={PLUGIN}"], ROOT)

    def set_up(self, browser: Browser) -> None:
        """The owner turns the API on, begins in pretix, approves in Tillgate, and comes back."""
        context = visitor(browser)
        tillgate = context.new_page()
        owner = DashboardOwner(self.service)
        owner.sign_in(tillgate)
        owner.turn_on_compatible_apis(tillgate)
        tillgate.close()

        page = context.new_page()
        self.sign_in(page)
        page.goto(self.settings)
        page.locator("input[name=url]").fill(f"{self.service.url}/compat/bitpay")
        with context.expect_page() as opened:
            page.get_by_role("button", name="Start pairing").click()
        approval = opened.value
        approval.get_by_role("heading", name="Connect a shop").wait_for()
        self.picture(approval, "approval")
        owner.approve(approval)
        approval.close()

        page.goto(self.settings)
        page.get_by_role("checkbox", name="Enable payment method").check()
        page.locator("input[name^=payment_bitpay_public_name]").first.fill("Crypto")
        page.get_by_role("button", name="Save").first.click()
        page.get_by_text("Your changes have been saved").wait_for()
        page.goto(self.settings)
        self.picture(page, "settings")
        context.close()

    def name_of(self, payment: dict[str, Any]) -> str:
        return str(payment["order_id"]).rpartition("-")[2]

    def state(self, order: Order) -> str:
        found = super().state(order)
        if found != "unpaid":
            return found
        said = run([self.python, "-c", ASKING, order.name], self.place, self.environment)
        return "expired" if said.split()[-1] == "expired" else found

    def catch_up(self) -> None:
        raise NotImplementedError


def build(service: Service, pictures: Path | None) -> Pretix:
    shop = PretixBitPay(service, pictures)
    shop.install()
    return shop
