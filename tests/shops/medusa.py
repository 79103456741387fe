"""Medusa, on PostgreSQL, with a mug for 23 EUR. Its storefronts aren't in the registry: a page of
these tests sells through its own JavaScript SDK."""

import json
import shutil
import signal
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from playwright.sync_api import Browser

from dev.ports import free_port
from tests.clients import npm
from tests.shops.parts import KEPT, Order, Program, Service, fresh, run, visitor
from tests.shops.postgres import Database
from tests.stack import ROOT, wait_for

VERSION = "2.21.2"
# What Medusa's own starter has beside it.
BESIDE = ("typescript@5.9.3", "@types/node@20.19.9", "react-dom@18.3.1", "@swc/core@1.7.42")
PRICE = 23
OWNER = {"email": "owner@example.com", "password": "a long password of medusa"}
PROVIDER = "pp_tillgate_tillgate"
EVENTS = [
    *(f"payment_intent.{name}" for name in ("processing", "completed", "expired", "failed")),
    "payment_intent.refunded",
    "refund.failed",
    "transaction.confirmed",
]
CONFIG = """\
const { defineConfig } = require("@medusajs/framework/utils");
const { SHOP, DATABASE, SERVER, KEY, SECRET } = process.env;
const options = { baseUrl: SERVER, apiKey: KEY, signingSecret: SECRET };
module.exports = defineConfig({
  admin: { disable: true },
  projectConfig: {
    databaseUrl: DATABASE,
    databaseDriverOptions: { connection: { ssl: false } },
    http: {
      storeCors: SHOP, adminCors: SHOP, authCors: SHOP,
      jwtSecret: "of-this-test", cookieSecret: "of-this-test",
    },
  },
  plugins: ["medusa-plugin-tillgate"],
  modules: [{
    resolve: "@medusajs/medusa/payment",
    options: { providers: [{
      resolve: "medusa-plugin-tillgate/providers/tillgate", id: "tillgate", options,
    }] },
  }],
});
"""
# The catch-up stands for five minutes that have passed; the rest is the storefront.
ROUTES = {
    "catch-up": """\
const { default: catchUp } = require("medusa-plugin-tillgate/catch-up");
exports.POST = async (request, response) => {
  await catchUp(request.scope);
  response.send("OK");
};
""",
    "shop": """\
const { readFileSync } = require("node:fs");
exports.GET = async (request, response) => {
  response.type("html").send(
    "<!doctype html><title>Harbor</title><h1>Harbor</h1><main></main><script>"
    + readFileSync("storefront.js", "utf8") + "</script>");
};
""",
}
STOREFRONT = """\
import Medusa from "@medusajs/js-sdk";
window.sdk = (publishableKey) => new Medusa({ baseUrl: location.origin, publishableKey });
"""
# What a storefront asks, from an empty cart to the payment page.
CHECKOUT = """async ([key, region, variant, email, provider, back]) => {
  const sdk = window.sdk(key);
  const address = { first_name: "Cleo", last_name: "Customer", address_1: "Quay 1",
    city: "Hamburg", postal_code: "20457", country_code: "de" };
  const { cart } = await sdk.store.cart.create({ region_id: region, email,
    shipping_address: address, billing_address: address,
    items: [{ variant_id: variant, quantity: 1 }] });
  const { payment_collection } = await sdk.store.payment.initiatePaymentSession(
    cart, { provider_id: provider, data: { return_url: `${back}?cart=${cart.id}` } });
  return payment_collection.payment_sessions[0].data.hosted_url;
}"""
# The customer pays in another way, and puts another mug in the cart; what Medusa says to that.
SWITCH = """async ([key, cart, variant]) => {
  const sdk = window.sdk(key);
  const found = await sdk.store.cart.retrieve(cart);
  const told = (promise) => promise.then(() => "OK", (error) => error.message);
  return [
    await told(sdk.store.payment.initiatePaymentSession(
      found.cart, { provider_id: "pp_system_default" })),
    await told(sdk.store.cart.createLineItem(cart, { variant_id: variant, quantity: 1 })),
  ];
}"""
# It says that the cart is paid, and that the payment of a new session is the one it names.
CLAIM = """async ([key, cart, provider, region, variant, told]) => {
  const sdk = window.sdk(key);
  const complete = (id) => sdk.store.cart.complete(id).then(
    (answer) => answer.type, (error) => error.message);
  const { cart: other } = await sdk.store.cart.create({ region_id: region,
    email: "hostile@example.com", items: [{ variant_id: variant, quantity: 1 }] });
  await sdk.store.payment.initiatePaymentSession(other, { provider_id: provider, data: told });
  return [await complete(cart), await complete(other.id)];
}"""


class Medusa:
    title = f"Medusa {VERSION}"
    unpaid = waiting = "unpaid"  # It places an order once it is paid.
    left_out = {
        "test_key_in_a_live_shop": "Medusa has no test mode",
        "refund_that_fails_later": "Medusa has no pending refunds: it is an error in the log",
    }

    def __init__(self, service: Service, pictures: Path | None) -> None:
        self.service = service
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.webhook = f"{self.url}/hooks/tillgate"
        self.kept = KEPT / f"medusa-{VERSION}"
        self.place = fresh(KEPT / "medusa-shop")
        self.database = Database(self.place / "postgres")
        self.secret = ""
        self.customers = 0
        self.ids: dict[str, str] = {}
        self.session = requests.Session()
        self.program: Program | None = None

    @property
    def environment(self) -> dict[str, str]:
        return {
            "NODE_ENV": "production",
            "MEDUSA_DISABLE_TELEMETRY": "true",
            "SHOP": self.url,
            "DATABASE": self.database.url,
            "SERVER": self.service.url,
            "KEY": self.service.key,
            "SECRET": self.secret,
        }

    def install(self) -> None:
        """The shop once; the plugin, from its package, each time."""
        quiet = ("--no-audit", "--no-fund", "--prefer-offline")
        if not (self.kept / "node_modules" / "typescript").exists():
            self.kept.mkdir(parents=True, exist_ok=True)
            (self.kept / "package.json").write_text('{"name": "shop", "private": true}')
            own = (f"@medusajs/{name}@{VERSION}" for name in ("medusa", "framework", "cli"))
            run(["npm", "install", *quiet, *own, f"@medusajs/js-sdk@{VERSION}"], self.kept)
            run(["npm", "install", *quiet, *BESIDE], self.kept)
        client = next(npm.package().glob("*.tgz"))
        run(["npm", "install", *quiet, "--no-save", client], self.kept)

        sources = KEPT / "medusa-plugin"
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(ROOT / "clients" / "medusa", sources)
        (sources / "node_modules").symlink_to(self.kept / "node_modules")
        run(["npm", "pack", "--silent"], sources)
        plugin = next(sources.glob("*.tgz"))
        run(["npm", "install", *quiet, "--no-save", client, plugin], self.kept)
        self._write()

    def _write(self) -> None:
        (self.place / "node_modules").symlink_to(self.kept / "node_modules")
        declared = {"name": "shop", "private": True, "dependencies": {"@medusajs/medusa": VERSION}}
        (self.place / "package.json").write_text(json.dumps(declared))
        (self.place / "medusa-config.js").write_text(CONFIG)
        for name, source in ROUTES.items():
            route = fresh(self.place / "src" / "api" / name) / "route.js"
            route.write_text(source)
        (self.place / "storefront.mjs").write_text(STOREFRONT)
        bundle = ("--bundle", "--log-level=error", "--outfile=storefront.js")
        run(
            [self.kept / "node_modules" / ".bin" / "esbuild", "storefront.mjs", *bundle], self.place
        )
        wanted = {"url": self.webhook, "subscribed_events": EVENTS}
        made = self.service.api("POST", "/webhook_endpoints", {"webhook_endpoint": wanted})
        self.secret = made["signing_secret"]
        self._medusa("db:migrate")
        self._medusa("user", "-e", OWNER["email"], "-p", OWNER["password"])

    def _medusa(self, *arguments: str) -> None:
        program = self.kept / "node_modules" / ".bin" / "medusa"
        run([program, *arguments], self.place, self.environment)

    def start(self) -> None:
        program = self.kept / "node_modules" / ".bin" / "medusa"
        command: list[str | Path] = [program, "start", "-p", str(self.port)]
        self.program = Program(command, self.place, self.environment, self.place / "shop.log")
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
        self.database.stop()

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The Admin API, as its owner."""
        answer = self.session.request(method, f"{self.url}{path}", json=body, timeout=120)
        assert answer.ok, answer.text
        return answer.json()

    def set_up(self, browser: Browser) -> None:
        token = self.ask("POST", "/auth/user/emailpass", OWNER)["token"]
        self.session.headers["Authorization"] = f"Bearer {token}"
        (key,) = self.ask("GET", "/admin/api-keys?type=publishable")["api_keys"]
        (channel,) = self.ask("GET", "/admin/sales-channels")["sales_channels"]
        region = {
            "name": "Europe",
            "currency_code": "eur",
            "countries": ["de"],
            "payment_providers": [PROVIDER, "pp_system_default"],
        }
        mug = {
            "title": "Mug",
            "status": "published",
            "options": [{"title": "Size", "values": ["One"]}],
            "sales_channels": [{"id": channel["id"]}],
            "variants": [
                {
                    "title": "Mug",
                    "options": {"Size": "One"},
                    "manage_inventory": False,
                    "prices": [{"currency_code": "eur", "amount": PRICE}],
                }
            ],
        }
        self.ids = {
            "key": key["token"],
            "region": self.ask("POST", "/admin/regions", region)["region"]["id"],
            "variant": self.ask("POST", "/admin/products", mug)["product"]["variants"][0]["id"],
        }

    def order(self, browser: Browser) -> Order:
        self.customers += 1
        page = visitor(browser).new_page()
        page.goto(f"{self.url}/shop")
        told = [self.ids[name] for name in ("key", "region", "variant")]
        email = f"customer{self.customers}@example.com"
        page.goto(page.evaluate(CHECKOUT, [*told, email, PROVIDER, f"{self.url}/shop"]))
        page.get_by_role("button", name="Exact amount").wait_for()
        payment = self.service.payment(urlsplit(page.url).path.rpartition("/")[2])
        (cart,) = parse_qs(urlsplit(payment["success_url"]).query)["cart"]
        return Order(f"{email} {cart}", page, payment)

    def told(self, order: Order) -> dict[str, Any] | None:
        """The order of the cart, once it is placed."""
        email = order.name.split()[0]
        fields = "id,email,status,*payment_collections,*payment_collections.payments"
        fields += ",*payment_collections.payments.refunds,*payment_collections.payments.captures"
        rows = self.ask("GET", f"/admin/orders?limit=100&fields={fields}")["orders"]
        found = [one for one in rows if one["email"] == email]
        assert len(found) < 2, found
        return found[0] if found else None

    def state(self, order: Order) -> str:
        told = self.told(order)
        if told is None:
            return "unpaid" if self._is_open(order) else "canceled"
        captured = sum(one["amount"] for one in self._rows(told, "captures"))
        if not captured:
            return "placing"  # It is written first, its payment then.
        assert captured == PRICE, told
        return "refunded" if self._refunded(told) == PRICE else "paid"

    def _is_open(self, order: Order) -> bool:
        """Tell whether the cart's payment is still the one of Tillgate."""
        headers = {"x-publishable-api-key": self.ids["key"]}
        path = f"/store/carts/{order.name.split()[1]}?fields=*payment_collection.payment_sessions"
        cart = requests.get(self.url + path, headers=headers, timeout=60).json()["cart"]
        sessions = cart["payment_collection"]["payment_sessions"]
        return any(one["provider_id"] == PROVIDER for one in sessions)

    @staticmethod
    def _rows(told: dict[str, Any], name: str) -> list[dict[str, Any]]:
        payments = [one for group in told["payment_collections"] for one in group["payments"]]
        return [row for payment in payments for row in payment[name]]

    def _refunded(self, told: dict[str, Any]) -> Decimal:
        return sum((Decimal(str(one["amount"])) for one in self._rows(told, "refunds")), Decimal(0))

    def cancel(self, order: Order) -> None:
        """Before it is placed: the customer takes another way to pay. Once something has come,
        neither that nor another total is taken."""
        page = order.page.context.new_page()
        page.goto(f"{self.url}/shop")
        told = [self.ids["key"], order.name.split()[1], self.ids["variant"]]
        answers = page.evaluate(SWITCH, told)
        page.close()
        has_come = self.service.payment(order.id)["status"] == "processing"
        assert all((answer != "OK") == has_come for answer in answers), answers

    def refund(self, order: Order, amount: str) -> None:
        told = self.told(order)
        assert told is not None
        (payment,) = told["payment_collections"][0]["payments"]
        body = {"amount": float(amount)}
        self.ask("POST", f"/admin/payments/{payment['id']}/refund", body)

    def refunded(self, order: Order) -> str:
        told = self.told(order)
        return f"{self._refunded(told) if told else Decimal(0):.2f}"

    def claim(self, order: Order, payment: str) -> None:
        page = order.page.context.new_page()
        page.goto(f"{self.url}/shop")
        named = {"id": payment, "session_id": order.payment["order_id"], "amount": "0.50"}
        ids = (self.ids[name] for name in ("region", "variant"))
        cart = order.name.split()[1]
        answers = page.evaluate(CLAIM, [self.ids["key"], cart, PROVIDER, *ids, named])
        assert all(one != "order" for one in answers), answers
        page.close()

    def catch_up(self) -> None:
        assert requests.post(f"{self.url}/catch-up", timeout=300).ok

    def offers_outside_test_mode(self, browser: Browser) -> bool:
        raise NotImplementedError


def build(service: Service, pictures: Path | None) -> Medusa:
    shop = Medusa(service, pictures)
    try:
        shop.install()
    except BaseException:
        shop.stop()
        raise
    return shop
