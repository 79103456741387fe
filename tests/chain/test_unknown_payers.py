"""Coins go back by themselves only to whom has shown a key: what contracts, mints and strangers'
transactions brought waits for an address, and who is known is refunded meanwhile."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from apps.assets.models import Asset
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.audit.senders import compare
from apps.chain.activation import change_asset
from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.models import OutgoingTransaction, PayerRecord, UnmatchedTransfer
from apps.chain.payers import SHARED_TRANSACTIONS_MIN
from apps.chain.sending.authorizations import Authorization, call_data, digest
from apps.core import clock
from apps.core.models import OutgoingMail
from apps.payments.models import HeldRefund, Payment, PaymentAddress, Refund
from apps.payments.services.expire import expire_due
from apps.payments.services.held_progress import check_sender, send_held
from apps.payments.services.refund_destinations import signers
from apps.payments.services.refund_progress import FOLLOWER, advance_refunds
from apps.payments.services.settle import settle_deposits
from apps.payments.services.transfers import (
    SenderUnknown,
    look_at_sender,
    send_transfer_back,
)
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import FORWARDER, LocalChain

pytestmark = pytest.mark.chain
ROUTER = "0xf0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0"
KEEPER = "0xe0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0"
STOP = "0x00"  # a contract that accepts everything, and never lets it go
DELEGATE = "0xd0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0"
GHOST = "0x" + "a9" * 20
DOLLAR = 10**6


@pytest.fixture
def token(chain: LocalChain, bakery: Shop) -> str:
    contract = chain.deploy_token()
    change_asset("USDC_SETH", contract_address=contract, is_active=True)
    refresh()
    accept_all_active(bakery.store)
    return contract


def address_of(payment: dict[str, Any], asset_id: str) -> str:
    rows = PaymentAddress.objects.filter(payment_id=payment["id"], asset_id=asset_id)
    return str(rows.values_list("address_id", flat=True).get())


def half(payment: dict[str, Any], asset_id: str) -> int:
    rows = PaymentAddress.objects.filter(payment_id=payment["id"], asset_id=asset_id)
    return int(rows.values_list("required_atomic", flat=True).get()) // 2


def time_is_up(chain: LocalChain, watcher: Reader) -> None:
    """Confirm and book the deposits; then the deadline passes, and payers are checked."""
    chain.mine(12)
    watcher.read()
    settle_deposits()
    Payment.objects.filter(status__in=("pending", "processing")).update(
        expires_at="2020-01-01T00:00:00Z"
    )
    expire_due()
    advance_refunds()


def sent_as(chain: LocalChain, sender: str, token: str, to: str, amount_atomic: int) -> str:
    """A transfer of a token by an address that has no key here."""
    chain.call("anvil_impersonateAccount", sender)
    chain.call("anvil_setBalance", sender, hex(10**18))
    chain.mint(token, sender, amount_atomic)
    data = f"0xa9059cbb{to[2:]:0>64}{amount_atomic:064x}"
    call = {"from": sender, "to": token, "data": data, "gas": hex(200_000)}
    return chain.wait(chain.call("eth_sendTransaction", call))


def rejected(
    chain: LocalChain, watcher: Reader, shop: Shop, sender: str = ROUTER, **fields: Any
) -> dict[str, Any]:
    """A payment of which a contract has paid half."""
    payment = make.payment(shop.test, **fields)
    chain.put(FORWARDER, sender)
    chain.through(sender, half(payment, "SETH"), address_of(payment, "SETH"))
    time_is_up(chain, watcher)
    return payment


def held(payment: dict[str, Any]) -> list[tuple[str, str, int, str, str]]:
    rows = HeldRefund.objects.filter(payment_id=payment["id"]).order_by("asset_id", "amount_atomic")
    columns = ("asset_id", "payer_address", "amount_atomic", "status", "why")
    return list(rows.values_list(*columns))


def refunds(payment: dict[str, Any]) -> list[tuple[str, str, int]]:
    rows = Refund.objects.filter(payment_id=payment["id"]).order_by("created_at", "part")
    return list(rows.values_list("asset_id", "destination_address", "amount_atomic"))


def flag_of(payment: dict[str, Any]) -> str:
    return Payment.objects.get(pk=payment["id"]).needs_attention


def test_ether_that_a_router_sent_on_waits_for_an_address(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = make.payment(bakery.test)
    amount = half(payment, "SETH")
    chain.put(FORWARDER, ROUTER)
    chain.through(ROUTER, amount, address_of(payment, "SETH"))
    time_is_up(chain, watcher)
    assert Payment.objects.get(pk=payment["id"]).status == "failed"
    assert refunds(payment) == []
    assert held(payment) == [("SETH", ROUTER, amount, "waiting", "contract")]
    assert flag_of(payment) == "held_refund"


@pytest.mark.parametrize("is_delegated", [False, True])
def test_a_wallet_that_has_sent_as_much_as_an_exchange_waits_for_an_address(
    chain: LocalChain, watcher: Reader, bakery: Shop, is_delegated: bool
) -> None:
    sender = chain.accounts[3]
    if is_delegated:
        chain.call("anvil_setCode", sender, f"0xef0100{DELEGATE[2:]}")
    payments = []
    for count in (SHARED_TRANSACTIONS_MIN - 2, SHARED_TRANSACTIONS_MIN - 1):
        PayerRecord.objects.all().delete()
        chain.call("anvil_setNonce", sender, hex(count))
        payment = make.payment(bakery.test)
        chain.pay(address_of(payment, "SETH"), half(payment, "SETH"), sender=3)
        time_is_up(chain, watcher)
        payments.append(payment)
    [person, exchange] = payments
    assert [to for _, to, _ in refunds(person)] == [sender.lower()]
    assert refunds(exchange) == []
    assert held(exchange) == [("SETH", sender.lower(), half(exchange, "SETH"), "waiting", "shared")]
    locked = Payment.objects.get(pk=exchange["id"])
    assert signers(locked) == []


def test_a_token_that_a_contract_sent_waits_for_an_address(
    chain: LocalChain, watcher: Reader, bakery: Shop, token: str
) -> None:
    payment = make.payment(bakery.test)
    chain.put(STOP, KEEPER)
    sent_as(chain, KEEPER, token, address_of(payment, "USDC_SETH"), DOLLAR)
    time_is_up(chain, watcher)
    assert refunds(payment) == []
    assert held(payment) == [("USDC_SETH", KEEPER, DOLLAR, "waiting", "contract")]


def test_a_mint_waits_while_the_known_payer_and_the_other_coin_go_back(
    chain: LocalChain, watcher: Reader, bakery: Shop, token: str
) -> None:
    payment = make.payment(bakery.test, amount="30.00")
    to = address_of(payment, "USDC_SETH")
    chain.mint(token, to, 10 * DOLLAR)
    chain.mint(token, chain.accounts[0], 5 * DOLLAR)
    chain.transfer(token, to, 5 * DOLLAR)
    chain.pay(address_of(payment, "SETH"), 1000, sender=1)
    time_is_up(chain, watcher)
    assert held(payment) == [
        ("SETH", chain.accounts[1], 1000, "sent", ""),
        ("USDC_SETH", chain.accounts[0], 5 * DOLLAR, "sent", ""),
        ("USDC_SETH", "0x" + "0" * 40, 10 * DOLLAR, "waiting", "nobody"),
    ]
    assert sorted(refunds(payment)) == [
        ("SETH", chain.accounts[1], 1000),
        ("USDC_SETH", chain.accounts[0], 5 * DOLLAR),
    ]
    assert flag_of(payment) == "held_refund"


def test_a_delegated_account_is_refunded(chain: LocalChain, watcher: Reader, bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    amount = half(payment, "SETH")
    chain.put(STOP, DELEGATE)
    chain.pay(address_of(payment, "SETH"), amount, sender=2)
    chain.put(f"0xef0100{DELEGATE[2:]}", chain.accounts[2])
    time_is_up(chain, watcher)
    assert refunds(payment) == [("SETH", chain.accounts[2], amount)]
    assert flag_of(payment) == ""


def test_who_only_let_others_move_their_tokens_has_shown_no_key(
    chain: LocalChain, watcher: Reader, bakery: Shop, token: str
) -> None:
    """A contract that was gone again after its construction looks the same."""
    payment = make.payment(bakery.test)
    ghost = "0x" + "a7" * 20
    chain.mint(token, ghost, DOLLAR)
    chain.call("anvil_impersonateAccount", ghost)
    chain.call("anvil_setBalance", ghost, hex(10**18))
    approve = f"0x095ea7b3{chain.accounts[0][2:]:0>64}{DOLLAR:064x}"
    call = {"from": ghost, "to": token, "data": approve, "gas": hex(200_000)}
    chain.wait(chain.call("eth_sendTransaction", call))
    to = address_of(payment, "USDC_SETH")
    data = f"0x23b872dd{ghost[2:]:0>64}{to[2:]:0>64}{DOLLAR:064x}"
    chain.wait(chain.send(token, data=data))
    time_is_up(chain, watcher)
    assert held(payment) == [("USDC_SETH", ghost, DOLLAR, "waiting", "unproven")]


def test_a_node_that_is_silent_leaves_the_share_to_the_next_run(
    chain: LocalChain, watcher: Reader, bakery: Shop, settings: Any
) -> None:
    payment = make.payment(bakery.test)
    chain.pay(address_of(payment, "SETH"), half(payment, "SETH"))
    urls = settings.CHAIN_URLS
    chain.mine(12)
    watcher.read()
    settle_deposits()
    Payment.objects.update(expires_at="2020-01-01T00:00:00Z")
    expire_due()
    settings.CHAIN_URLS = {"sepolia": ["http://127.0.0.1:1"]}
    advance_refunds()
    assert [row[3] for row in held(payment)] == ["checking"]
    [share] = bakery.test.get(f"/payments/{payment['id']}").json()["held_refunds"]
    assert (share["status"], share["reason"]) == ("checking", None)
    assert refunds(payment) == [] and flag_of(payment) == ""
    settings.CHAIN_URLS = urls
    check_sender(HeldRefund.objects.get().pk)
    assert len(refunds(payment)) == 1
    assert PayerRecord.objects.get().kind == "account"


def test_a_merchants_refund_without_a_destination_says_that_the_payer_is_unknown(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = make.payment(bakery.test)
    make.funded(bakery.test)
    chain.put(FORWARDER, ROUTER)
    chain.through(ROUTER, 2 * half(payment, "SETH") + 2, address_of(payment, "SETH"))
    chain.mine(12)
    watcher.read()
    settle_deposits()
    assert Payment.objects.get(pk=payment["id"]).status == "completed"
    path = f"/payments/{payment['id']}/refunds"
    refused = bakery.test.post(path, {}, key="a")
    assert (refused.status_code, refused.json()) == (
        422,
        {"error": "The paying address is unknown; send destination_address"},
    )
    to = make.fresh_address()
    sent = bakery.test.post(path, {"refund": {"destination_address": to}}, key="b")
    assert sent.status_code == 201 and sent.json()[0]["destination_address"].lower() == to.lower()


def test_a_merchants_refund_of_late_coins_pays_who_is_known_and_asks_for_the_rest(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = make.payment(bakery.test, metadata={"customer_email": "ann@example.com"})
    Payment.objects.filter(pk=payment["id"]).update(expires_at="2020-01-01T00:00:00Z")
    chain.mine()
    watcher.read()
    expire_due()
    chain.put(FORWARDER, ROUTER)
    chain.through(ROUTER, 3000, address_of(payment, "SETH"))
    chain.pay(address_of(payment, "SETH"), 2000, sender=1)
    chain.mine(12)
    watcher.read()
    settle_deposits()
    path = f"/payments/{payment['id']}/refunds"
    answer = bakery.test.post(path, {}, key="a")
    assert answer.status_code == 201, answer.content
    assert refunds(payment) == [("SETH", chain.accounts[1], 2000)]
    assert held(payment) == [("SETH", ROUTER, 3000, "waiting", "contract")]
    assert flag_of(payment) == "held_refund"
    assert OutgoingMail.objects.get(template="refund_address").to == "ann@example.com"


def test_the_merchant_sends_what_is_held_to_an_address_and_the_flag_is_gone(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = rejected(chain, watcher, bakery)
    to = make.fresh_address().lower()
    path = f"/payments/{payment['id']}/refunds"
    assert bakery.test.post(path, {}, key="a").status_code == 422
    answer = bakery.test.post(path, {"refund": {"destination_address": to}}, key="b")
    assert answer.status_code == 201
    assert [row[1] for row in refunds(payment)] == [to]
    assert [row[3] for row in held(payment)] == ["closed"] and flag_of(payment) == ""


def test_no_row_goes_by_itself_to_a_sender_that_is_held(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = rejected(chain, watcher, bakery)
    row = HeldRefund.objects.get()
    columns = {
        "store_id": row.store_id,
        "mode": "test",
        "created_at": row.created_at,
        "updated_at": row.created_at,
        "payment_id": payment["id"],
        "asset_id": "SETH",
        "reason": row.reason,
        "amount_atomic": row.amount_atomic,
        "is_from_held": True,
        "is_simulated": False,
    }
    for more in (
        {"destination_address": ROUTER},
        {"destination_address": ROUTER, "held": row},
        {"destination_address": make.fresh_address(), "held": row},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Refund.objects.create(**columns, **more)
    send_held(payment["id"], "0x" + "1" * 40, HeldRefund.Proof.EMAIL)
    for change in ({"destination_address": "0x" + "2" * 40}, {"amount_atomic": 1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            HeldRefund.objects.update(**change)
        with pytest.raises(IntegrityError), transaction.atomic():
            Refund.objects.update(**change)
    assert send_held(payment["id"], "0x" + "3" * 40, HeldRefund.Proof.EMAIL) == []


def test_a_transfer_of_another_coin_goes_back_only_to_a_known_sender(
    chain: LocalChain, watcher: Reader, bakery: Shop, token: str
) -> None:
    payment = make.payment(bakery.test)
    chain.put(STOP, KEEPER)
    chain.mine_after(clock.real_now())
    sent_as(chain, KEEPER, token, address_of(payment, "SETH"), DOLLAR)
    chain.mine(12)
    watcher.read()
    settle_deposits()
    transfer = str(UnmatchedTransfer.objects.get().pk)
    access = bakery.owner_access()
    look_at_sender(access, transfer)
    with pytest.raises(SenderUnknown):
        send_transfer_back(access, transfer)
    to = make.fresh_address()
    back = send_transfer_back(access, transfer, to)
    assert (back.destination_address, back.is_elsewhere) == (to.lower(), True)
    assert auditing.breaches() == []


def test_a_refund_that_its_payer_refuses_waits_for_another_address(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = make.payment(bakery.test)
    chain.pay(address_of(payment, "SETH"), half(payment, "SETH"))
    time_is_up(chain, watcher)
    refund = Refund.objects.get()
    with transaction.atomic():
        row = FOLLOWER.locked(refund.pk)
        reverted = OutgoingTransaction(reference=str(row.pk), reason="The recipient refuses it")
        FOLLOWER.failed(row, reverted, row.created_at)
    assert [row[3:] for row in held(payment)] == [("waiting", "refused")]
    assert flag_of(payment) == "held_refund"
    again = send_held(payment["id"], "0x" + "1" * 40, HeldRefund.Proof.SIGNATURE)
    assert [refund.destination_address for refund in again] == ["0x" + "1" * 40]
    assert auditing.breaches() == []


def carried_out_for(signer: SigningKey, chain: LocalChain, token: str, to: str, amount: int) -> str:
    """A stranger submits a transfer that this key has signed; it holds nothing but the tokens."""
    Asset.objects.filter(pk="USDC_SETH").update(eip712_name="USD Coin", eip712_version="1")
    asset = Asset.objects.select_related("chain").get(pk="USDC_SETH")
    chain.mint(token, signer.address, amount)
    unsigned = Authorization(signer.address, to, amount, 0, 2**40, "0x" + "5e" * 32, "")
    signature = "0x" + signer.signature(digest(asset, unsigned)).hex()
    return chain.wait(chain.send(token, data=call_data(replace(unsigned, signature=signature))))


def test_coins_that_a_stranger_submitted_go_back_to_who_signed_for_them(
    chain: LocalChain, watcher: Reader, bakery: Shop, token: str
) -> None:
    """The page and the API say the same sum of what came."""
    signer = SigningKey(b"\x09" * 32)
    payment = make.payment(bakery.test, amount="30.00")
    to = address_of(payment, "USDC_SETH")
    carried_out_for(signer, chain, token, to, 15 * DOLLAR)
    time_is_up(chain, watcher)
    assert refunds(payment) == [("USDC_SETH", signer.address, 15 * DOLLAR)]
    record = PayerRecord.objects.get()
    assert (record.address, record.kind) == (signer.address, "account")
    body = bakery.test.get(f"/payments/{payment['id']}").json()
    shown = Client().get(f"/pay/{payment['reference']}").content.decode()
    assert body["amount_paid"] == "13.50" and "Only €13.50 of €30.00" in shown
    assert auditing.breaches(check_chain=True) == []


def test_what_is_kept_of_senders_is_compared_with_the_chain(
    chain: LocalChain, watcher: Reader, bakery: Shop, token: str
) -> None:
    payment = make.payment(bakery.test)
    chain.put(FORWARDER, ROUTER)
    chain.through(ROUTER, half(payment, "SETH"), address_of(payment, "SETH"))
    other = make.payment(bakery.test)
    chain.pay(address_of(other, "SETH"), half(other, "SETH"), sender=1)
    chain.put(STOP, DELEGATE)
    third = make.payment(bakery.test)
    chain.pay(address_of(third, "SETH"), half(third, "SETH"), sender=2)
    chain.put(f"0xef0100{DELEGATE[2:]}", chain.accounts[2])
    ghost = make.payment(bakery.test)
    sent_as(chain, "0x" + "a8" * 20, token, address_of(ghost, "USDC_SETH"), DOLLAR)
    time_is_up(chain, watcher)
    assert compare(None) and not [item for item in compare(None) if item.detail]

    wrong = {
        ROUTER: ("account", "is a contract"),
        chain.accounts[1]: ("contract", "has no code"),
        chain.accounts[2]: ("contract", "has no code"),
    }
    PayerRecord.objects.create(
        chain_id="sepolia",
        address=GHOST,
        kind="account",
        tx_hash="0x" + "0" * 64,
        checked_at=clock.real_now(),
    )
    for address, (kind, _) in wrong.items():
        PayerRecord.objects.filter(address=address).update(kind=kind)
    found = {item.subject: item.detail for item in compare(None) if item.detail}
    assert set(found) == {f"payer {address}" for address in (*wrong, GHOST)}
    for address, (_, why) in wrong.items():
        assert why in found[f"payer {address}"]
    assert "nothing shows one" in found[f"payer {GHOST}"]
