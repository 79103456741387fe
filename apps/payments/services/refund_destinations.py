"""A customer's refund address: checked, then proved by a link in an email or by a signature of the
sender, or kept for the merchant to confirm.

Knowing the payment's page proves nothing: anyone who has its link can only have the known mailbox
written to, or leave an address that nothing is sent to (decision 532). Asks nodes: not inside a
transaction.
"""

from collections.abc import Iterable, Sequence
from contextlib import closing

from django.db import IntegrityError, transaction

from apps.assets.models import Asset, Chain
from apps.chain.addresses import (
    BelongsToService,
    NotValidOn,
    check_recipient,
)
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.base import Address, AddressProblem
from apps.chain.networks.families import has_coins, is_burn, shown_address, stored
from apps.chain.nodes import nodes_of
from apps.chain.payers import codes_at, is_delegated
from apps.chain.providers.base import RpcError
from apps.chain.signed_messages import is_signed
from apps.core import clock, money
from apps.core.errors import Failure, RefusalKind
from apps.payments.models import HeldRefund, Payment, Refund, RefundAddress, RefundLink
from apps.payments.services import attention
from apps.payments.services.held_progress import send_held

PATIENCE_SECONDS = 3.0  # somebody waits for the answer
ADDRESSES_MAX = 5


class NothingWaits(Failure):
    kind = RefusalKind.CONFLICT
    message = "No refund of this payment waits for an address"


class LinkUsed(Failure):
    kind = RefusalKind.GONE
    message = "This link can't be used anymore"


class AddressMalformed(Failure):
    """Malformed, with a wrong checksum, of another network, or one that burns coins."""

    field = "address"
    message = "That is not an address of this network"


class NotTheirs(Failure):
    field = "address"
    message = "This address belongs to the payment service. Enter the address of your own wallet"


class IsContract(Failure):
    field = "address"
    message = "This address is a smart contract. Enter the address of your own wallet"


class AddressUnchecked(Failure):
    kind = RefusalKind.UNAVAILABLE
    field = "address"
    message = "This address can't be checked right now. Try again in a few minutes"


class SignatureMismatch(Failure):
    field = "signature"
    message = "This signature isn't one of the address that paid"


class TooManyAddresses(Failure):
    kind = RefusalKind.TOO_MANY
    message = "Too many addresses were entered. Contact the store"


def waiting_rows(payment: Payment) -> list[HeldRefund]:
    rows = HeldRefund.objects.filter(payment=payment, status=HeldRefund.Status.WAITING)
    return list(rows.select_related("asset__chain").order_by("asset_id", "payer_address"))


def signers(payment: Payment) -> list[str]:
    """The senders who can be asked for a signature, as they are stored."""
    shared = HeldRefund.Why.SHARED  # its keys are its operator's, not the customer's
    payers = {row.payer_address for row in waiting_rows(payment) if row.why != shared}
    return sorted(payer for payer in payers if not is_burn(payer))


def message_to_sign(payment: Payment, payer: str, address: str) -> str:
    """The text that a sender signs to have its coins sent there."""
    coins = [
        f"{money.decimal_from_atomic(row.amount_atomic, row.asset.atomic_decimals)}"
        f" {row.asset.coin_symbol} on {row.asset.chain.name}"
        for row in waiting_rows(payment)
        if row.payer_address == payer
    ]
    return "\n".join(
        [f"Refund of payment {payment.reference}", *coins, f"Send to {shown_address(address)}"]
    )


def checked_address(text: str, rows: Sequence[HeldRefund], *, own: str = "") -> Address:
    """In lower case: one that coins of all of these can go to, and no contract but the sender's
    `own` wallet. Raises AddressMalformed, NotTheirs, IsContract or AddressUnchecked."""
    typed = text.strip()
    assets = {row.asset_id: row.asset for row in rows}
    try:
        for asset in assets.values():
            check_recipient(typed, asset, OutgoingTransaction.Purpose.REFUND)
    except NotValidOn as refusal:
        is_known = refusal.problem is not AddressProblem.NOT_ONE
        raise AddressMalformed(
            refusal.problem if is_known else "", holds_secret=refusal.holds_secret
        ) from None
    except BelongsToService:
        raise NotTheirs from None
    address = Address(stored(typed))
    if address != own:
        _refuse_contracts(address, assets.values())
    return address


def _refuse_contracts(address: Address, assets: Iterable[Asset]) -> None:
    chains: dict[str, Chain] = {asset.chain_id: asset.chain for asset in assets}
    try:
        for chain in chains.values():
            if has_coins(chain):
                continue  # no address of theirs has code
            with closing(nodes_of(chain, patience_seconds=PATIENCE_SECONDS)) as nodes:
                [code] = codes_at(nodes, [address])
            if code and not is_delegated(code):
                raise IsContract
    except RpcError:
        raise AddressUnchecked from None


def checked_signing_address(payment: Payment, text: str, rows: Sequence[HeldRefund]) -> Address:
    """For a message that a sender is going to sign: any good address, or the sender's own."""
    if not rows:
        raise NothingWaits
    own = next((payer for payer in signers(payment) if payer == stored(text.strip())), "")
    return checked_address(text, rows, own=own)


def confirm_by_link(payment: Payment, link: RefundLink, text: str) -> list[Refund]:
    """Everything that waits goes to this address. Raises LinkUsed, and what checked_address
    raises."""
    rows = waiting_rows(payment)
    if not rows:
        raise NothingWaits
    address = checked_address(text, rows)
    refunds = send_held(payment.pk, address, HeldRefund.Proof.EMAIL, link=link)
    if not refunds:
        raise LinkUsed
    return refunds


def confirm_by_signature(payment: Payment, payer: str, text: str, signature: str) -> list[Refund]:
    """Refund what this sender paid to this address, which may be its own. Raises SignatureMismatch,
    and what checked_address raises."""
    payer = stored(payer)
    rows = [row for row in waiting_rows(payment) if row.payer_address == payer]
    if not rows or is_burn(payer):
        raise NothingWaits
    address = checked_address(text, rows, own=payer)
    message = message_to_sign(payment, payer, address)
    chains: dict[str, Chain] = {row.asset.chain_id: row.asset.chain for row in rows}
    try:
        has_signed = all(
            is_signed(chain, payer, message, signature, patience_seconds=PATIENCE_SECONDS)
            for chain in chains.values()
        )
    except RpcError:
        raise AddressUnchecked from None
    if not has_signed:
        raise SignatureMismatch
    return send_held(payment.pk, address, HeldRefund.Proof.SIGNATURE, payer=payer)


def enter_unproven(payment: Payment, text: str) -> Address:
    """Keep an address for the merchant; nothing is sent. Raises what checked_address raises, or
    TooManyAddresses."""
    rows = waiting_rows(payment)
    if not rows:
        raise NothingWaits
    address = checked_address(text, rows)
    entered = RefundAddress.objects.filter(payment=payment)
    if entered.filter(address=address).exists():
        return address
    if entered.count() >= ADDRESSES_MAX:
        raise TooManyAddresses
    at = clock.now(payment.store, payment.mode)
    try:
        with transaction.atomic():
            row = RefundAddress.objects.create(
                store_id=payment.store_id,
                mode=payment.mode,
                created_at=at,
                payment=payment,
                address=address,
            )
            attention.refund_address_entered(payment, row)
    except IntegrityError:
        return address  # entered a second time at the same moment
    return address
