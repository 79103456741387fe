"""Changes of refunds that are held and of what is known of senders, and of their payments.

Each with the invariant that must name it.
"""

from collections.abc import Callable

from apps.chain.models import Deposit, PayerRecord
from apps.core import clock
from apps.onramp.models import FundingSession
from apps.payments.models import HeldRefund, Payment, PaymentAddress, RefundLink
from apps.payments.services.held_progress import check_sender, send_held
from apps.payments.services.hold import begin_card_funding
from apps.payments.services.settle import settle_payment
from tests import make
from tests.cast import Shop
from tests.console.plantings.rows import ELSEWHERE

CONTRACT = "0x" + "c1" * 20
GHOST = "0x" + "c2" * 20
FRIEND = "0x" + "c3" * 20
GIVEN = "0x" + "c4" * 20
_ROW = "(SELECT id FROM payments_heldrefund WHERE {which} LIMIT 1)"
WAITING = _ROW.format(which="status = 'waiting'")
EMAILED = _ROW.format(which="proof = 'email'")
BY_ITSELF = _ROW.format(which="proof = 'payer'")


def _set(columns: str, row: str) -> str:
    return f"UPDATE payments_heldrefund SET {columns} WHERE id = {row}"


def _kind(kind: str, address: str) -> str:
    return f"UPDATE chain_payer SET kind = '{kind}' WHERE address = '{address}'"


TRUE = "held_refunds_true"
RELIED_ON = "payers_as_relied_on"
HELD_REFUNDS: dict[str, tuple[str, str]] = {
    "held refund raised": (_set("amount_atomic = amount_atomic + 1", WAITING), TRUE),
    "held refund lowered": (_set("amount_atomic = amount_atomic - 1", WAITING), TRUE),
    "held refund that was sent lowered": (_set("amount_atomic = amount_atomic - 1", EMAILED), TRUE),
    "held refund closed by nobody": (_set("status = 'closed'", WAITING), TRUE),
    "held refund that was sent waits again": (
        _set("status = 'waiting', destination_address = NULL, proof = ''", EMAILED),
        TRUE,
    ),
    "held refund said to be sent": (
        _set(f"status = 'sent', destination_address = '{GIVEN}', proof = 'email'", WAITING),
        TRUE,
    ),
    "held refund readdressed before it is sent": (
        _set(f"destination_address = '{ELSEWHERE}'", WAITING),
        TRUE,
    ),
    "held refund readdressed": (_set(f"destination_address = '{ELSEWHERE}'", EMAILED), TRUE),
    "held refund readdressed with its transfer": (
        _set(f"destination_address = '{ELSEWHERE}'", EMAILED)
        + f"; UPDATE payments_refund SET destination_address = '{ELSEWHERE}' WHERE held_id ="
        f" {EMAILED}",
        TRUE,
    ),
    "held refund proved otherwise": (_set("proof = 'signature'", EMAILED), TRUE),
    "held refund proved by its sender": (_set("proof = 'payer'", EMAILED), TRUE),
    "held refund that went back proved by a link": (_set("proof = 'email'", BY_ITSELF), TRUE),
    "link of a held refund never used": (
        "UPDATE payments_refundlink SET used_at = NULL WHERE used_at IS NOT NULL",
        TRUE,
    ),
    "held refund given to another store": (
        "UPDATE payments_heldrefund SET store_id = (SELECT id FROM stores_store WHERE id <>"
        f" '{{store}}' LIMIT 1) WHERE id = {WAITING}",
        TRUE,
    ),
    "contract known as an account": (_kind("account", CONTRACT), RELIED_ON),
    "contract known as unproven": (_kind("unproven", CONTRACT), RELIED_ON),
    "unproven sender known as a contract": (_kind("contract", GHOST), RELIED_ON),
    "account known as a contract": (_kind("contract", FRIEND), RELIED_ON),
    "sender known as ours": (_kind("ours", GHOST), RELIED_ON),
    "what is known of a sender deleted": (
        f"DELETE FROM chain_payer WHERE address = '{CONTRACT}'",
        RELIED_ON,
    ),
}


def hold(shop: Shop) -> None:
    """Three payments of which too little came: from a contract and an unproven sender, whose
    customer has named an address; from one that still waits; and from one that has a key."""
    waiting = _short(shop, "1", {CONTRACT: PayerRecord.Kind.CONTRACT})
    assert HeldRefund.objects.get(payment_id=waiting).status == "waiting"

    given = _short(shop, "2", {GHOST: PayerRecord.Kind.UNPROVEN})
    link = RefundLink.objects.create(
        store=shop.store,
        mode="test",
        payment_id=given,
        token_digest="d" * 64,
        created_at=clock.real_now(),
        expires_at=clock.real_now().replace(year=2100),
    )
    assert send_held(given, GIVEN, HeldRefund.Proof.EMAIL, link=link)

    known = _short(shop, "3", {FRIEND: None})
    row = HeldRefund.objects.get(payment_id=known)
    assert row.status == "checking"
    _know(FRIEND, PayerRecord.Kind.ACCOUNT)
    check_sender(row.pk)
    row.refresh_from_db()
    assert (row.status, row.proof) == ("sent", "payer")

    by_card = _short(shop, "4", {FRIEND: None}, begin=_begin_card)
    assert Payment.objects.get(pk=by_card).needs_attention == "card_refund"


def _begin_card(payment: Payment) -> None:
    """Somebody has gone to a card page of it."""
    at = clock.real_now()
    begin_card_funding(payment, at, "SETH")
    FundingSession.objects.create(
        store=payment.store,
        mode=payment.mode,
        payment=payment,
        created_at=at,
        provider="sandbox",
        status="expired",
        amount_cents=1000,
        currency="EUR",
        asset_id="SETH",
        destination_address=GIVEN,
        expected_atomic=1,
        country="DE",
        expires_at=at,
        updated_at=at,
        next_poll_at=at,
    )


def _know(address: str, kind: PayerRecord.Kind) -> None:
    PayerRecord.objects.create(
        chain_id="sepolia",
        address=address,
        kind=kind,
        tx_hash=f"0x{1:064x}",
        checked_at=clock.real_now(),
    )


def _short(
    shop: Shop,
    digit: str,
    senders: dict[str, PayerRecord.Kind | None],
    begin: Callable[[Payment], None] | None = None,
) -> str:
    """A payment rejected with a third of its price from each of these."""
    at = clock.real_now()
    payment_id: str = make.payment(shop.test)["id"]
    if begin is not None:
        begin(Payment.objects.get(pk=payment_id))
    entry = PaymentAddress.objects.get(payment_id=payment_id, asset_id="SETH")
    for number, (sender, kind) in enumerate(senders.items()):
        if kind is not None:
            _know(sender, kind)
        Deposit.objects.create(
            chain_id="sepolia",
            asset_id="SETH",
            address_id=entry.address_id,
            tx_hash="0x" + digit * 64,
            log_index=number,
            from_address=sender,
            amount_atomic=entry.required_atomic // 3,
            block_number=104,
            block_hash=f"0x{104:064x}",
            status="confirmed",
            confirmed_at=at,
            required_confirmations=3,
            detected_at=at,
        )
    settle_payment(payment_id)
    Payment.objects.filter(pk=payment_id).update(
        expires_at="2020-01-01T00:00:00Z", held_open_until=None
    )
    assert settle_payment(payment_id).status == "failed"
    return payment_id
