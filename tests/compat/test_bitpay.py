"""BitPay's API: clients pair with a key of their own, sign each call, and get notices of their
invoices without a signature."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from django.test import Client

from apps.access import pairing
from apps.access.access import Access
from apps.access.compatible_apis import CompatibleApisOff
from apps.access.models import ApiKey
from apps.core import clock
from apps.payments.models import Payment
from apps.stores.services import change_store
from apps.webhooks.models import Endpoint
from tests import make
from tests.cast import Cast, Shop, shop_of
from tests.dashboard.browse import Browser
from tests.webhooks.receivers import Receiver

BASE = "/compat/bitpay"
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


@dataclass
class PluginClient:
    """A plugin with a key of its own, as BitPay's clients call."""

    token: str = ""
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256K1())
    )

    @property
    def identity(self) -> str:
        public = self.key.public_key()
        return public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint).hex()

    @property
    def client_id(self) -> str:
        return pairing.client_id_of(bytes.fromhex(self.identity))

    def sign(self, message: str) -> str:
        return self.key.sign(message.encode(), ec.ECDSA(hashes.SHA256())).hex()

    def ask(self, **fields: Any) -> Any:
        body = {"id": self.client_id, "label": "Harbor", "facade": "merchant", **fields}
        return Client().post(f"{BASE}/tokens", body, content_type="application/json")

    def pair(self, access: Access) -> ApiKey:
        (asked,) = self.ask().json()["data"]
        self.token = asked["token"]
        return pairing.approve(access, pairing.read(asked["pairingCode"]))

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        if body is None:
            address, content = f"{BASE}{path}", {}
            if self.token and "token=" not in path:
                address += ("&" if "?" in path else "?") + urlencode({"token": self.token})
            message = f"{settings.API_URL}{address}"
        else:
            address, raw = f"{BASE}{path}", json.dumps({"token": self.token, **body})
            message = f"{settings.API_URL}{address}{raw}"
            content = {"data": raw, "content_type": "application/json"}
        signed = {"X-Identity": self.identity, "X-Signature": self.sign(message)}
        return getattr(Client(), method)(address, headers={**signed, **headers}, **content)

    def invoice(self, **fields: Any) -> dict[str, Any]:
        answer = self("post", "/invoices", {"price": 12.5, "currency": "EUR", **fields})
        assert answer.status_code == 200, answer.content
        made: dict[str, Any] = answer.json()["data"]
        return made

    def read(self, invoice: dict[str, Any]) -> dict[str, Any]:
        told: dict[str, Any] = self("get", f"/invoices/{invoice['id']}").json()["data"]
        return told


@pytest.fixture
def shop(bakery: Shop) -> Shop:
    change_store(bakery.store, has_compatible_apis=True)
    return bakery


@pytest.fixture
def plugin(shop: Shop) -> PluginClient:
    client = PluginClient()
    client.pair(shop.owner_access())
    return client


def pay(shop: Shop, invoice: dict[str, Any], **body: Any) -> None:
    path = f"/payments/{invoice['id']}/simulated_payments"
    answer = shop.test.post(path, {"confirmations": 100, **body})
    assert answer.status_code == 201, answer.content


def refused(answer: Any, status: int, code: str) -> str:
    told = answer.json()
    assert (answer.status_code, told["status"], told["code"]) == (status, "error", code), told
    assert told["data"] is None
    return str(told["error"])


def test_ids_of_clients_are_those_of_bitpays_libraries() -> None:
    """As btcpay-python 1.3.0 has them for the private keys 1 and 7."""
    known = {
        "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798": (
            "Tf8DhWM5WDBB1CarpFdonta9YEBJgW1GYAt"
        ),
        "025cbdf0646e5db4eaa398f365f2ea7a0e3d419b7e0330e39ce92bddedcac4f9bc": (
            "Tf675tUKDb7hTei3TKzoiSmyGJoKZ5AD45A"
        ),
    }
    for public_key, client_id in known.items():
        assert pairing.client_id_of(bytes.fromhex(public_key)) == client_id
        assert pairing.is_client_id(client_id)
        assert not pairing.is_client_id(client_id[:-1] + "B")
    for wrong in ("", "Tf", "Tf" + "1" * 33, "0" * 35, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"):
        assert not pairing.is_client_id(wrong)


def test_a_token_opens_nothing_before_its_client_is_approved(shop: Shop) -> None:
    client = PluginClient()
    (asked,) = client.ask().json()["data"]
    client.token = asked["token"]
    assert (asked["resource"], asked["facade"]) == (client.client_id, "merchant")
    refused(client("get", "/invoices"), 401, "020100")
    key = pairing.approve(shop.owner_access(), pairing.read(asked["pairingCode"]))
    assert client("get", "/invoices").json()["data"] == []
    assert (key.name, key.mode, key.prefix) == ("Harbor", "test", client.client_id[:12])


def test_a_code_is_approved_once_and_for_a_day(shop: Shop, monkeypatch: Any) -> None:
    client = PluginClient()
    (asked,) = client.ask().json()["data"]
    code = asked["pairingCode"]
    pairing.approve(shop.owner_access(), pairing.read(code))
    with pytest.raises(pairing.AlreadyPaired):
        pairing.approve(shop.owner_access(), pairing.read(code))
    for wrong in ("", "nothing", code + "x", code[:-3], "x" * 5000):
        with pytest.raises(pairing.PairingOver):
            pairing.read(wrong)
    later = clock.real_now().timestamp() + pairing.LIFETIME.total_seconds() + 60
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    with pytest.raises(pairing.PairingOver):
        pairing.read(code)


def test_the_api_is_off_until_an_owner_turns_it_on(bakery: Shop) -> None:
    client = PluginClient()
    with pytest.raises(CompatibleApisOff):
        client.pair(bakery.owner_access())
    change_store(bakery.store, has_compatible_apis=True)
    client.pair(bakery.owner_access())
    change_store(bakery.store, has_compatible_apis=False)
    refused(client("get", "/invoices"), 403, "020100")


def test_what_asks_to_be_paired_must_be_a_client(shop: Shop) -> None:
    client = PluginClient()
    for fields in ({"id": "x"}, {"id": client.client_id[:-1] + "z"}, {"facade": "pos"}, {"id": 5}):
        refused(client.ask(**fields), 400, "010002")
    refused(Client().post(f"{BASE}/tokens", {}, content_type="application/json"), 400, "010003")


def test_an_owner_approves_in_the_dashboard(shop: Shop) -> None:
    client = PluginClient()
    (asked,) = client.ask().json()["data"]
    client.token = asked["token"]
    opened = Client().get(f"{BASE}/api-access-request?pairingCode={asked['pairingCode']}")
    assert opened.status_code == 302
    path = opened["Location"].removeprefix(f"{settings.DASHBOARD_URL}/dashboard/")
    owner = Browser(shop.owner).prove()
    assert client.client_id in owner.get(path).content.decode()
    asked_first = owner.post(path)
    assert asked_first.context["asks_code"]
    refused(client("get", "/invoices"), 401, "020100")
    assert owner.confirm(asked_first, path).status_code == 303
    assert client("get", "/invoices").status_code == 200
    assert client.client_id[:12] in owner.get("api-keys").content.decode()
    again = owner.post(path)
    assert (again.status_code, "paired already" in again.content.decode()) == (409, True)
    assert owner.get("api-keys/pair?code=nothing").status_code == 404


def test_an_invoice_is_a_payment(plugin: PluginClient, shop: Shop) -> None:
    buyer = {"name": "Eve", "email": "eve@example.com"}
    made = plugin.invoice(
        orderId="A-17",
        itemDesc="Two loaves",
        posData='{"cart": 3}',
        buyer=buyer,
        redirectURL="https://shop.example.com/thanks",
        extendedNotifications="true",
        transactionSpeed="medium",
    )
    payment = Payment.objects.get(reference=made["id"])
    assert (payment.order_id, payment.title) == ("A-17", "Two loaves")
    assert payment.success_url == "https://shop.example.com/thanks"
    assert payment.metadata["customer_email"] == "eve@example.com"
    assert (made["price"], made["currency"], made["status"]) == (12.5, "EUR", "new")
    assert (made["posData"], made["buyer"]) == ('{"cart": 3}', buyer)
    assert made["token"] == plugin.token
    assert made["url"].endswith(made["id"])
    assert made["expirationTime"] - made["invoiceTime"] == 3_600_000
    assert plugin.read(made) | {"currentTime": 0} == made | {"currentTime": 0}
    (listed,) = plugin("get", "/invoices/?orderId=A-17&dateStart=2020-01-01").json()["data"]
    assert listed["id"] == made["id"]
    assert plugin("get", "/invoices?status=complete").json()["data"] == []


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"currency": "EUR"}, "010103", "price"),
    ({"price": 5}, "010103", "currency"),
    ({"price": 0, "currency": "EUR"}, "010102", "price"),
    ({"price": 1.234, "currency": "EUR"}, "010102", "price"),
    ({"price": True, "currency": "EUR"}, "010102", "price"),
    ({"price": 5, "currency": "BTC"}, "010102", ""),
    ({"price": 5, "currency": "EUR", "redirectURL": "javascript:1"}, "010102", "redirectURL"),
    ({"price": 5, "currency": "EUR", "notificationURL": "ftp://x"}, "010102", "notificationURL"),
    ({"price": 5, "currency": "EUR", "notificationURL": "http://10.0.0.1/"}, "010102", "notif"),
    ({"price": 5, "currency": "EUR", "guid": "gu\u00efd"}, "010102", "guid"),
]


@pytest.mark.parametrize(("body", "code", "field"), BAD)
def test_what_breaks_a_rule_is_refused_in_bitpays_shape(
    plugin: PluginClient, shop: Shop, body: dict[str, Any], code: str, field: str
) -> None:
    assert field in refused(plugin("post", "/invoices", body), 400, code)
    assert not Payment.objects.filter(store=shop.store).exists()


def test_a_call_that_is_sent_again_makes_nothing_new(plugin: PluginClient, shop: Shop) -> None:
    """Nor does one whose signature is turned into its other valid form."""
    raw = json.dumps({"token": plugin.token, "price": 5, "currency": "EUR"})
    signature = plugin.sign(f"{settings.API_URL}{BASE}/invoices{raw}")
    first, second = decode_dss_signature(bytes.fromhex(signature))
    turned = encode_dss_signature(first, ORDER - second).hex()

    def send(signed: str) -> Any:
        headers = {"X-Identity": plugin.identity, "X-Signature": signed}
        content = {"data": raw, "content_type": "application/json"}
        return Client().post(f"{BASE}/invoices", headers=headers, **content).json()["data"]["id"]

    assert send(signature) == send(signature) == send(turned) == send(signature.upper())
    assert plugin.invoice(price=5)["id"] != send(signature)
    assert Payment.objects.filter(store=shop.store).count() == 2


def test_a_guid_names_one_invoice(plugin: PluginClient) -> None:
    first, second = [plugin.invoice(guid="g-1", price=price) for price in (5, 6)]
    assert (first["id"], first["guid"]) == (second["id"], "g-1")
    assert plugin("get", "/invoices/guid/g-1").json()["data"]["id"] == first["id"]
    refused(plugin("get", "/invoices/guid/g-2"), 404, "020101")


def test_signatures_that_are_not_the_clients_are_refused(plugin: PluginClient, shop: Shop) -> None:
    made = plugin.invoice()
    path = f"{BASE}/invoices/{made['id']}?token={plugin.token}"
    address = f"{settings.API_URL}{path}"
    right = plugin.sign(address)
    other = PluginClient()
    first, second = decode_dss_signature(bytes.fromhex(right))
    wrong = [
        (plugin.identity, ""),
        (plugin.identity, "00" * 70),
        (plugin.identity, right[:-2]),
        (plugin.identity, right + "00"),
        (plugin.identity, "zz" + right[2:]),
        (plugin.identity, "30" * 5000),
        (plugin.identity, plugin.sign(address.replace(settings.API_URL, "https://other.example"))),
        (plugin.identity, plugin.sign(path)),
        (plugin.identity, other.sign(address)),
        (plugin.identity, encode_dss_signature(0, second).hex()),
        (plugin.identity, encode_dss_signature(first, 0).hex()),
        (plugin.identity, encode_dss_signature(first, ORDER).hex()),
        (other.identity, other.sign(address)),
        ("", right),
        ("02" + "00" * 32, right),
        ("00", right),
        ("04" + plugin.identity[2:] * 2, right),
        ("02" + "ff" * 32, right),
    ]
    for identity, signature in wrong:
        headers = {"X-Identity": identity, "X-Signature": signature}
        answer = Client().get(path, headers=headers)
        assert answer.status_code in (401, 429), (identity, signature)
    headers = {"X-Identity": plugin.identity, "X-Signature": right}
    assert Client(REMOTE_ADDR="192.0.2.9").get(path, headers=headers).status_code == 200


def test_a_token_is_no_bearer_credential(plugin: PluginClient) -> None:
    for header in (f"Bearer {plugin.token}", f"token {plugin.token}"):
        answer = Client().get("/api/v2/payments", headers={"Authorization": header})
        assert answer.status_code == 401
        (name,) = ApiKey.objects.filter(prefix=plugin.client_id[:12]).values_list("pk", flat=True)
        assert str(name) not in plugin.token


def test_keys_and_sessions_do_not_open_it(plugin: PluginClient, shop: Shop) -> None:
    secret = {"Authorization": f"Bearer {shop.secrets['test']}"}
    assert Client().get(f"{BASE}/invoices", headers=secret).status_code == 401
    session = Browser(shop.owner).prove().client
    assert session.get(f"{BASE}/invoices").status_code == 401


def test_other_stores_and_modes_are_not_there(plugin: PluginClient, shop: Shop, cast: Cast) -> None:
    made = plugin.invoice()
    other = shop_of(cast.charlie, "Other")
    change_store(other.store, has_compatible_apis=True)
    for access in (other.owner_access(), shop.owner_access("live")):
        stranger = PluginClient()
        stranger.pair(access)
        refused(stranger("get", f"/invoices/{made['id']}"), 404, "020101")
        borrowed = PluginClient(token=plugin.token, key=stranger.key)
        refused(borrowed("get", f"/invoices/{made['id']}"), 401, "020100")


def test_a_revoked_client_is_out_with_its_next_call(plugin: PluginClient, shop: Shop) -> None:
    key = ApiKey.objects.get(prefix=plugin.client_id[:12])
    assert Browser(shop.owner).prove().post(f"api-keys/{key.pk}/revoke").status_code == 303
    refused(plugin("get", "/invoices"), 401, "020100")


def test_statuses_are_bitpays_and_paid_is_told_once_it_is_confirmed(
    plugin: PluginClient, shop: Shop
) -> None:
    made = plugin.invoice()
    pay(shop, made, scenario="unconfirmed")
    assert Payment.objects.get(reference=made["id"]).status == "processing"
    assert plugin.read(made)["status"] == "new"
    pay(shop, (whole := plugin.invoice()))
    assert (plugin.read(whole)["status"], plugin.read(whole)["amountPaid"]) == ("complete", 12.5)
    pay(shop, (part := plugin.invoice()), scenario="underpaid")
    read = plugin.read(part)
    assert (read["status"], read["exceptionStatus"]) == ("new", "paidPartial")
    pay(shop, (over := plugin.invoice()), scenario="overpaid")
    read = plugin.read(over)
    assert (read["status"], read["exceptionStatus"]) == ("complete", "paidOver")
    listed = plugin("get", "/invoices?status=complete").json()["data"]
    assert {row["id"] for row in listed} == {whole["id"], over["id"]}


def test_an_invoice_is_canceled_as_long_as_nothing_has_come(
    plugin: PluginClient, shop: Shop
) -> None:
    made = plugin.invoice()
    canceled = plugin("delete", f"/invoices/{made['id']}?forceCancel=true").json()["data"]
    assert canceled["status"] == "invalid"
    refused(plugin("delete", f"/invoices/{made['id']}"), 400, "040107")


def test_refunds_go_back_to_who_paid(plugin: PluginClient, shop: Shop) -> None:
    pay(shop, made := plugin.invoice())
    body = {"invoiceId": made["id"], "amount": 5, "reference": "Back", "guid": "r-1"}
    told = plugin("post", "/refunds", body).json()["data"]
    assert (told["amount"], told["currency"], told["reference"]) == (5.0, "EUR", "Back")
    assert told["invoice"] == made["id"]
    again = plugin("post", "/refunds", body).json()["data"]
    assert again["id"] == told["id"]
    assert plugin("get", f"/refunds/{told['id']}").json()["data"]["amount"] == 5.0
    (listed,) = plugin("get", f"/refunds?invoiceId={made['id']}").json()["data"]
    assert listed["id"] == told["id"]


def test_the_older_request_refunds_all_of_it(plugin: PluginClient, shop: Shop) -> None:
    pay(shop, plugin.invoice())  # the fee of the next one comes out of it
    pay(shop, made := plugin.invoice())
    body = {"amount": made["price"], "currency": "EUR", "refundEmail": "eve@example.com"}
    answer = plugin("post", f"/invoices/{made['id']}/refunds", body)
    assert answer.status_code == 200, answer.content
    assert answer.json()["data"]["amount"] == 12.5


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "010203"),
        ({"amount": 99}, "010202"),
        ({"preview": True}, "010207"),
        ({"currency": "USD"}, "010207"),
    ],
)
def test_a_refund_that_is_not_understood_sends_nothing(
    plugin: PluginClient, shop: Shop, body: dict[str, Any], code: str
) -> None:
    pay(shop, made := plugin.invoice())
    named = {"invoiceId": made["id"], **body} if body else {}
    refused(plugin("post", "/refunds", named), 400, code)
    assert shop.test.get(f"/payments/{made['id']}/refunds").json() == []


def test_each_invoices_notices_go_to_its_own_address(
    plugin: PluginClient, shop: Shop, receiver: Receiver, deliver: Callable[[], None]
) -> None:
    silent = plugin.invoice()
    other = plugin.invoice(notificationURL=f"{receiver.url}/other")
    made = plugin.invoice(notificationURL=receiver.url, posData="7")
    assert plugin.invoice(notificationURL=receiver.url)["id"] != made["id"]
    assert Endpoint.objects.filter(store=shop.store, format="bitpay").count() == 2
    for invoice in (silent, made):
        pay(shop, invoice)
    deliver()
    notice, confirmed = sorted(receiver.events(), key=lambda told: told["event"]["code"])
    assert confirmed["event"] == {"code": 1012, "name": "invoice_manuallyNotified"}
    assert (notice["id"], notice["data"]["id"]) == (made["id"], made["id"])
    assert notice["event"] == {"code": 1006, "name": "invoice_completed"}
    assert (notice["status"], notice["price"], notice["posData"]) == ("complete", 12.5, "7")
    assert plugin("delete", f"/invoices/{other['id']}").status_code == 200
    deliver()
    assert receiver.events()[-1]["event"]["name"] == "invoice_expired"
    headers = {name.lower() for name in receiver.requests[-1]["headers"]}
    assert not headers & {"service-signature", "btcpay-sig", "webhook-signature"}


def test_a_notice_says_that_a_late_payment_was_accepted(
    plugin: PluginClient, shop: Shop, receiver: Receiver, deliver: Callable[[], None]
) -> None:
    made = plugin.invoice(notificationURL=receiver.url)
    make.advance(shop.test, 90_000)
    pay(shop, made, late=True)
    (late,) = shop.test.get(f"/payments/{made['id']}").json()["late_deposits"]
    accepted = {"tx_hash": late["tx_hash"]}
    answer = shop.test.post(f"/payments/{made['id']}/accept_transaction", accepted)
    assert answer.status_code == 200, answer.content
    deliver()
    names = [notice["event"]["name"] for notice in receiver.events()]
    assert names[0] == "invoice_expired"
    assert set(names[1:]) == {"invoice_manuallyNotified"}
    assert plugin.read(made)["status"] == "complete"
