"""Vendure, on SQLite, with a mug for 23 EUR. It has no storefront of its own in the registry: a
page of these tests asks its Shop API for what a storefront asks."""

import json
import shutil
import signal
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from playwright.sync_api import Browser

from dev.ports import free_port
from tests.clients import npm
from tests.shops.parts import KEPT, Order, Program, Service, fresh, run, visitor
from tests.stack import ROOT, wait_for

VERSION = "3.7.3"
SQLITE = "12.11.1"
TYPESCRIPT = "typescript@5.9.3"  # The plugin's package is compiled when it is packed.
PRICE = 2300
CHANNEL = "harbor-channel"
OWNER = {"identifier": "owner", "password": "a long password of vendure"}
EVENTS = [
    *(f"payment_intent.{name}" for name in ("processing", "completed", "expired", "failed")),
    "payment_intent.refunded",
    "refund.failed",
    "transaction.confirmed",
]
# The shop's own program, as its owner has it; SIGPWR stands for five minutes that have passed.
SERVER = """\
const { bootstrap } = require("@vendure/core");
const { TillgatePlugin, TillgateService } = require("vendure-plugin-tillgate");
bootstrap({
  apiOptions: {
    port: Number(process.env.PORT), adminApiPath: "admin-api", shopApiPath: "shop-api",
  },
  authOptions: {
    tokenMethod: ["bearer", "cookie"],
    superadminCredentials: JSON.parse(process.env.OWNER),
    cookieOptions: { secret: "of-this-test" },
  },
  defaultChannelToken: process.env.CHANNEL,
  dbConnectionOptions: { type: "better-sqlite3", synchronize: true, database: "shop.sqlite3" },
  paymentOptions: { paymentMethodHandlers: [] },
  plugins: [TillgatePlugin],
}).then((app) => {
  process.on("SIGPWR", () => app.get(TillgateService, { strict: false }).catchUp());
});
"""
EN = '[{languageCode: en, name: "Harbor"}]'
# What the owner of a shop has before the plugin: a country, a tax, a mug and a way to ship it.
BEGINNING = {
    "country": f'createCountry(input: {{code: "DE", enabled: true, translations: {EN}}})',
    "zone": 'createZone(input: {name: "Europe", memberIds: [$country]})',
    "channel": (
        "updateChannel(input: {id: 1, defaultTaxZoneId: $zone, defaultShippingZoneId: $zone,"
        " availableCurrencyCodes: [EUR], defaultCurrencyCode: EUR, pricesIncludeTax: true})"
    ),
    "category": 'createTaxCategory(input: {name: "Standard", isDefault: true})',
    "rate": (
        'createTaxRate(input: {name: "None", enabled: true, value: 0, categoryId: $category,'
        " zoneId: $zone})"
    ),
    "product": (
        'createProduct(input: {translations: [{languageCode: en, name: "Mug", slug: "mug",'
        ' description: ""}]})'
    ),
    "variant": (
        'createProductVariants(input: [{productId: $product, sku: "MUG", taxCategoryId: $category,'
        f" price: {PRICE}, trackInventory: FALSE, translations: {EN}}}])"
    ),
    "shipping": (
        'createShippingMethod(input: {code: "post", fulfillmentHandler: "manual-fulfillment",'
        ' checker: {code: "default-shipping-eligibility-checker", arguments: ['
        '{name: "orderMinimum", value: "0"}]},'
        ' calculator: {code: "default-shipping-calculator", arguments: [{name: "rate", value: "0"},'
        ' {name: "includesTax", value: "auto"}, {name: "taxRate", value: "0"}]},'
        ' translations: [{languageCode: en, name: "Post", description: ""}]})'
    ),
}
# What a storefront asks, from an empty cart to the payment page.
CHECKOUT = """async ([variant, back]) => {
  const ask = async (query) => {
    const body = JSON.stringify({ query });
    const headers = { "Content-Type": "application/json" };
    const answer = await (await fetch("/shop-api", { method: "POST", headers, body })).json();
    if (answer.errors) throw new Error(JSON.stringify(answer.errors));
    const [told] = Object.values(answer.data);
    if (told.errorCode) throw new Error(told.message);
    return told;
  };
  const failed = "... on ErrorResult { errorCode message }";
  await ask(`mutation { addItemToOrder(productVariantId: "${variant}", quantity: 1)
    { ${failed} } }`);
  await ask(`mutation { setCustomerForOrder(input: {emailAddress: "customer@example.com",
    firstName: "Cleo", lastName: "Customer"}) { ${failed} } }`);
  await ask(`mutation { setOrderShippingAddress(input: {streetLine1: "Quay 1", countryCode: "DE"})
    { ${failed} } }`);
  const [post] = await ask("{ eligibleShippingMethods { id } }");
  await ask(`mutation { setOrderShippingMethod(shippingMethodId: ["${post.id}"]) { ${failed} } }`);
  return ask(`mutation { createTillgatePayment(returnUrl: "${back}") }`);
}"""


CLAIM = """async (payment) => {
  const input = `{method: "crypto", metadata: {id: "${payment}"}}`;
  const query = `mutation { addPaymentToOrder(input: ${input})
    { ... on Order { state } ... on ErrorResult { errorCode } } }`;
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ query });
  const answer = await fetch("/shop-api", { method: "POST", headers, body });
  return (await answer.json()).data.addPaymentToOrder;
}"""


class Vendure:
    title = f"Vendure {VERSION}"
    unpaid = waiting = "unpaid"  # It places an order once it is paid.
    left_out = {"test_key_in_a_live_shop": "Vendure has no test mode"}

    def __init__(self, service: Service, pictures: Path | None) -> None:
        self.service = service
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.webhook = f"{self.url}/payments/tillgate/{CHANNEL}"
        self.kept = KEPT / f"vendure-{VERSION}"
        self.place = fresh(KEPT / "vendure-shop")
        self.variant = ""
        self.session = requests.Session()
        self.program: Program | None = None

    def install(self) -> None:
        """The shop once; the plugin, from its package, each time."""
        quiet = ("--no-audit", "--no-fund", "--prefer-offline")
        if not (self.kept / "node_modules" / "@vendure" / "core").exists():
            self.kept.mkdir(parents=True)
            (self.kept / "package.json").write_text('{"name": "shop", "private": true}')
            wanted = (f"@vendure/core@{VERSION}", f"better-sqlite3@{SQLITE}", TYPESCRIPT)
            run(["npm", "install", *quiet, *wanted], self.kept)
            # Its program isn't in the package; without a download it is compiled, for minutes.
            driver = self.kept / "node_modules" / "better-sqlite3"
            if not list(driver.glob("build/Release/better_sqlite3.node")):
                run(["npm", "rebuild", "better-sqlite3", "--build-from-source"], self.kept)
        client = next(npm.package().glob("*.tgz"))
        run(["npm", "install", *quiet, "--no-save", client], self.kept)

        sources = KEPT / "vendure-plugin"
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(ROOT / "clients" / "vendure", sources)
        (sources / "node_modules").symlink_to(self.kept / "node_modules")
        run(["npm", "pack", "--silent"], sources)
        plugin = next(sources.glob("*.tgz"))
        run(["npm", "install", *quiet, "--no-save", client, plugin], self.kept)
        (self.place / "node_modules").symlink_to(self.kept / "node_modules")
        (self.place / "server.js").write_text(SERVER)

    def start(self) -> None:
        told = {"PORT": str(self.port), "OWNER": json.dumps(OWNER), "CHANNEL": CHANNEL}
        told["VENDURE_DISABLE_TELEMETRY"] = "true"
        log = self.place / "shop.log"
        self.program = Program(["node", "server.js"], self.place, told, log)
        wait_for(self._is_up, bool, 300)

    def _is_up(self) -> bool:
        assert self.program is not None and self.program.process.poll() is None
        try:
            return requests.get(f"{self.url}/health", timeout=60).ok
        except requests.ConnectionError:
            return False

    def kill(self) -> None:
        assert self.program is not None
        self.program.end(signal.SIGKILL)

    def stop(self) -> None:
        if self.program is not None:
            self.program.end()

    def ask(self, query: str) -> Any:
        """The Admin API, as its owner."""
        answer = self.session.post(f"{self.url}/admin-api", json={"query": query}, timeout=120)
        told = answer.json()
        assert "errors" not in told, told
        if token := answer.headers.get("vendure-auth-token"):
            self.session.headers["Authorization"] = f"Bearer {token}"
        (found,) = told["data"].values()
        assert not isinstance(found, dict) or "errorCode" not in found, found
        return found

    def set_up(self, browser: Browser) -> None:
        name, password = OWNER["identifier"], OWNER["password"]
        self.ask(
            f'mutation {{ login(username: "{name}", password: "{password}") {{ __typename }} }}'
        )
        ids: dict[str, str] = {}
        for noun, mutation in BEGINNING.items():
            for other, number in ids.items():
                mutation = mutation.replace(f"${other}", f'"{number}"')
            wanted = "... on Channel { id }" if noun == "channel" else "id"
            found = self.ask(f"mutation {{ {mutation} {{ {wanted} }} }}")
            ids[noun] = found[0]["id"] if isinstance(found, list) else found["id"]
        self.variant = ids["variant"]

        wanted_events = {"url": self.webhook, "subscribed_events": EVENTS}
        made = self.service.api("POST", "/webhook_endpoints", {"webhook_endpoint": wanted_events})
        values = {
            "serverUrl": self.service.url,
            "apiKey": self.service.key,
            "signingSecret": made["signing_secret"],
        }
        arguments = ", ".join(f'{{name: "{key}", value: "{one}"}}' for key, one in values.items())
        self.ask(
            'mutation { createPaymentMethod(input: {code: "crypto", enabled: true, handler: {code:'
            f' "tillgate", arguments: [{arguments}]}}, translations: [{{languageCode: en, name:'
            ' "Crypto", description: ""}]}) { id } }'
        )

    def order(self, browser: Browser) -> Order:
        page = visitor(browser).new_page()
        page.goto(f"{self.url}/health")
        page.goto(page.evaluate(CHECKOUT, [self.variant, f"{self.url}/health"]))
        page.get_by_role("button", name="Exact amount").wait_for()
        payment = self.service.payment(urlsplit(page.url).path.rpartition("/")[2])
        return Order(payment["order_id"], page, payment)

    def told(self, order: Order) -> dict[str, Any]:
        fields = "id state totalWithTax payments { id state refunds { total state } }"
        found = self.ask(
            f'{{ orders(options: {{filter: {{code: {{eq: "{order.name}"}}}}}})'
            f" {{ items {{ {fields} }} }} }}"
        )
        (one,) = found["items"]
        return dict(one)

    def state(self, order: Order) -> str:
        told = self.told(order)
        if told["state"] == "PaymentSettled":
            return "refunded" if self._refunded(told) == told["totalWithTax"] else "paid"
        return {"Cancelled": "canceled"}.get(told["state"], "unpaid")

    def cancel(self, order: Order) -> None:
        number = self.told(order)["id"]
        self.ask(
            f'mutation {{ transitionOrderToState(id: "{number}", state: "Cancelled")'
            " { ... on ErrorResult { errorCode message } } }"
        )

    def refund(self, order: Order, amount: str) -> None:
        (payment,) = self.told(order)["payments"]
        cents = int(Decimal(amount) * 100)
        self.ask(
            "mutation { refundOrder(input: {lines: [], shipping: 0, adjustment: 0,"
            f' amount: {cents}, paymentId: "{payment["id"]}", reason: "asked for"}})'
            " { ... on ErrorResult { errorCode message } } }"
        )

    @staticmethod
    def _refunded(told: dict[str, Any]) -> int:
        rows = [one for payment in told["payments"] for one in payment["refunds"]]
        return sum(one["total"] for one in rows if one["state"] == "Settled")

    def refunded(self, order: Order) -> str:
        return f"{Decimal(self._refunded(self.told(order))) / 100:.2f}"

    def claim(self, order: Order, payment: str) -> None:
        page = order.page.context.new_page()
        page.goto(f"{self.url}/health")
        assert page.evaluate(CLAIM, payment) == {"errorCode": "PAYMENT_DECLINED_ERROR"}
        page.close()

    def catch_up(self) -> None:
        """It goes on by itself; the stories wait for what comes of it."""
        assert self.program is not None
        self.program.process.send_signal(signal.SIGPWR)

    def offers_outside_test_mode(self, browser: Browser) -> bool:
        raise NotImplementedError


def build(service: Service, pictures: Path | None) -> Vendure:
    shop = Vendure(service, pictures)
    shop.install()
    return shop
