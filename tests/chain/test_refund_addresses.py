"""A customer says where a refund goes: by the link in the known mailbox, or by the signature of who
sent the coins. Who merely knows the page's address moves nothing."""

import re
from typing import Any

import pytest
from django.core import mail as outbox
from django.test import Client

from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.signed_messages import digest_of
from apps.core import mail
from apps.payments.models import HeldRefund, Payment, Refund, RefundAddress, RefundLink
from apps.payments.services.refund_destinations import message_to_sign
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.test_unknown_payers import ROUTER, STOP, address_of, half, rejected, time_is_up
from tests.stage import empty_buckets

pytestmark = pytest.mark.chain
OWNER = SigningKey(b"\x07" * 32)
STRANGER = SigningKey(b"\x08" * 32)
WALLET = "0x" + "c0" * 20
# A contract wallet: isValidSignature says yes to what the owner's key has signed (EIP-1271).
WALLET_CODE = (
    "0x6004355f5260a4355f1a602052606435604052608435606052602060806080"
    f"5f60015afa5060805173{OWNER.address[2:]}14631626ba7e60e01b025f5260205ff3"
)
YES_TO_ALL = "0x631626ba7e60e01b5f5260205ff3"
ECHO = "0x365f5f37365ff3"
EMAIL = {"customer_email": "ann@example.com"}


@pytest.fixture(autouse=True)
def _nobody_has_asked() -> None:
    empty_buckets()


def post(payment: dict[str, Any], path: str, **fields: str) -> Any:
    client = Client(enforce_csrf_checks=True)
    return client.post(f"/pay/{payment['reference']}/{path}", fields)


def words(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def page(payment: dict[str, Any], path: str = "", **query: str) -> str:
    return words(Client().get(f"/pay/{payment['reference']}{path}", query))


def token_in_email() -> str:
    """Of the newest email."""
    outbox.outbox.clear()
    mail.send_due()
    [found] = re.findall(r"/refund/([\w-]+)", outbox.outbox[-1].body)
    return str(found)


def paid_by_wallet(
    chain: LocalChain, watcher: Reader, shop: Shop, code: str = WALLET_CODE
) -> dict[str, Any]:
    payment = make.payment(shop.test)
    chain.put(code, WALLET)
    chain.call("anvil_impersonateAccount", WALLET)
    chain.call("anvil_setBalance", WALLET, hex(10**18))
    call = {"from": WALLET, "to": address_of(payment, "SETH"), "gas": hex(50_000)}
    value = hex(half(payment, "SETH"))
    chain.wait(chain.call("eth_sendTransaction", {**call, "value": value}))
    time_is_up(chain, watcher)
    return payment


def signature(payment: dict[str, Any], address: str, key: SigningKey = OWNER) -> str:
    row = Payment.objects.get(pk=payment["id"])
    message = message_to_sign(row, WALLET, address.lower())
    return "0x" + key.signature(digest_of(message)).hex()


def sent_to() -> list[str]:
    return list(Refund.objects.order_by("created_at").values_list("destination_address", flat=True))


def test_the_link_of_the_email_sends_once_to_the_address_that_is_entered(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = rejected(chain, watcher, bakery, metadata=EMAIL)
    shown = page(payment)
    assert "is being returned" not in shown and "We emailed a link to a…@example.com" in shown
    token = token_in_email()
    assert not RefundLink.objects.filter(token_digest=token).exists()
    assert "Send my refund here" in page(payment, f"/refund/{token}")
    assert sent_to() == []
    to = make.fresh_address()
    answer = post(payment, f"refund/{token}", address=to)
    assert answer.status_code == 303
    assert sent_to() == [to.lower()]
    row = HeldRefund.objects.get()
    assert (row.status, row.proof) == ("sent", "email")
    assert Payment.objects.get(pk=payment["id"]).needs_attention == ""
    shown = page(payment)
    assert "is being returned to" in shown and to.lower() in shown.lower()
    again = post(payment, f"refund/{token}", address="0x" + "1" * 40)
    assert again.status_code == 410 and sent_to() == [to.lower()]
    assert auditing.breaches() == []


def test_who_only_knows_the_page_can_have_the_known_mailbox_written_to_and_nothing_else(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = rejected(chain, watcher, bakery, metadata=EMAIL)
    strange = "0x" + "1" * 40
    assert post(payment, "refund-address", address=strange).status_code == 200
    assert post(payment, "refund/" + "x" * 43, address=strange).status_code == 410
    other = rejected(
        chain, watcher, bakery, "0x" + "f1" * 20, metadata={"customer_email": "b@c.de"}
    )
    token = token_in_email()
    assert post(payment, f"refund/{token}", address=strange).status_code == 410, other["id"]
    assert (sent_to(), RefundAddress.objects.count()) == ([], 0)
    for _ in range(3):
        assert post(payment, "refund-link", email="evil@example.com").status_code == 303
    assert post(payment, "refund-link").status_code == 429
    outbox.outbox.clear()
    mail.send_due()
    assert {to for message in outbox.outbox for to in message.to} <= {"ann@example.com"}


def test_without_a_mailbox_an_address_is_kept_for_the_merchant(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = rejected(chain, watcher, bakery)
    to = make.fresh_address()
    answer = post(payment, "refund-address", address=to)
    assert answer.status_code == 200 and "has your address" in words(answer)
    assert [row.address for row in RefundAddress.objects.all()] == [to.lower()]
    assert sent_to() == [] and HeldRefund.objects.get().status == "waiting"


REFUSED = [
    ("", "is not an address of this network"),
    ("0x12", "is not an address of this network"),
    ("0x" + "0" * 40, "is not an address of this network"),
    ("0x000000000000000000000000000000000000dEaD", "is not an address of this network"),
    ("0x0000000000000000000000000000000000000001", "is not an address of this network"),
    ("0x52908400098527886E0F7030069857D2E4169Ee7", "A character of this address is wrong"),
    ("own", "belongs to the payment service"),
    (ROUTER, "is a smart contract"),
]


def test_what_no_refund_goes_to(chain: LocalChain, watcher: Reader, bakery: Shop) -> None:
    payment = rejected(chain, watcher, bakery, metadata=EMAIL)
    token = token_in_email()
    own = address_of(payment, "SETH")
    for typed, why in REFUSED:
        empty_buckets()
        answer = post(payment, f"refund/{token}", address=own if typed == "own" else typed)
        assert answer.status_code == 422 and why in words(answer), typed
    assert sent_to() == []


def test_a_contract_wallet_gets_its_coins_back_when_its_owner_signs(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = paid_by_wallet(chain, watcher, bakery)
    fields = {"address": WALLET, "payer": WALLET}
    wrong = signature(payment, WALLET, STRANGER)
    elsewhere = signature(payment, make.fresh_address())
    for bad in (wrong, elsewhere, "0x1234", "zz"):
        assert post(payment, "refund-address", **fields, signature=bad).status_code == 422
    assert sent_to() == []
    good = signature(payment, WALLET)
    assert post(payment, "refund-address", **fields, signature=good).status_code == 303
    assert sent_to() == [WALLET]
    assert HeldRefund.objects.get().proof == "signature"
    assert auditing.breaches() == []


@pytest.mark.parametrize("code", [YES_TO_ALL, ECHO, STOP])
def test_a_contract_that_agrees_to_everything_signs_nothing(
    chain: LocalChain, watcher: Reader, bakery: Shop, code: str
) -> None:
    payment = paid_by_wallet(chain, watcher, bakery, code)
    fields = {"address": make.fresh_address(), "payer": WALLET}
    good = signature(payment, fields["address"])
    assert post(payment, "refund-address", **fields, signature=good).status_code == 422
    assert sent_to() == []
