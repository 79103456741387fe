"""THE page: every way money may move. Each function is one event of the books, posted once per key.

Amounts are atomic units; a credit is positive. `at` is the time by the store's clock. What takes from a guarded account
raises InsufficientBalance. `reference` is the payment a movement serves, so that a payment's movements are found together.
"""

import uuid
from datetime import datetime

from django.db import transaction

from apps.ledger.chart import (
    AVAILABLE,
    CHART,
    CUSTODY_DEPOSITS,
    CUSTODY_HOT,
    CUSTODY_SIMULATED,
    HELD,
    NETWORK_FEES,
    OFFRAMP_CLEARING,
    RESERVED,
    SERVICE_FEES,
    STORE,
    SWAP_CLEARING,
    TREASURY,
    X402_CLEARING,
)
from apps.ledger.posting import Line, Posted, Posting, locked_balance, post

# --- coming in -----------------------------------------------------------------------------------


def deposit_confirmed(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    deposit_id: uuid.UUID,
    amount_atomic: int,
    is_simulated: bool,
    at: datetime,
    payment_id: uuid.UUID | None = None,
) -> Posted:
    """Coins have arrived for good: they are in custody, and held for the store."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_DEPOSITS
    lines = [Line(custody, asset_id, -amount_atomic, "principal"), Line(HELD, asset_id, amount_atomic, "principal", store_id)]
    return post(Posting(f"deposit:{deposit_id}", "deposit_confirmed", mode, payment_id or deposit_id, at, lines))


def simulated_deposit_changed(
    *, store_id: uuid.UUID, mode: str, asset_id: str, deposit_id: uuid.UUID, payment_id: uuid.UUID, grown_atomic: int, at: datetime
) -> Posted:
    """A simulated deposit that was booked has been given another amount."""
    lines = [
        Line(CUSTODY_SIMULATED, asset_id, -grown_atomic, "principal"),
        Line(HELD, asset_id, grown_atomic, "principal", store_id),
    ]
    return post(Posting(f"deposit:{deposit_id}:{uuid.uuid4()}", "simulated_deposit_changed", mode, payment_id, at, lines))


# --- settlement ----------------------------------------------------------------------------------


def payment_settled(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    gross_atomic: int,
    service_fee_atomic: int,
    platform_fee_atomic: int,
    platform_id: uuid.UUID | None = None,
    at: datetime,
) -> Posted:
    """A payment is complete: what it received in this asset goes to merchant, service and platform."""
    lines = _three_way(store_id, asset_id, gross_atomic, service_fee_atomic, platform_fee_atomic, platform_id)
    return post(Posting(f"settle:{payment_id}:{asset_id}", "payment_settled", mode, payment_id, at, lines))


def overpayment_settled(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    deposit_id: uuid.UUID,
    gross_atomic: int,
    service_fee_atomic: int,
    platform_fee_atomic: int,
    platform_id: uuid.UUID | None = None,
    at: datetime,
) -> Posted:
    """More has been confirmed on a completed payment."""
    lines = _three_way(store_id, asset_id, gross_atomic, service_fee_atomic, platform_fee_atomic, platform_id)
    return post(Posting(f"settle:{payment_id}:{asset_id}:{deposit_id}", "overpayment_settled", mode, payment_id, at, lines))


def late_deposit_accepted(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    deposit_id: uuid.UUID,
    gross_atomic: int,
    service_fee_atomic: int,
    platform_fee_atomic: int,
    platform_id: uuid.UUID | None = None,
    at: datetime,
) -> Posted:
    """The merchant takes a deposit that came too late, as if a payment of that amount had completed."""
    lines = _three_way(store_id, asset_id, gross_atomic, service_fee_atomic, platform_fee_atomic, platform_id)
    return post(Posting(f"settle-late:{deposit_id}", "late_deposit_accepted", mode, payment_id, at, lines))


def _three_way(
    store_id: uuid.UUID, asset_id: str, gross: int, service_fee: int, platform_fee: int, platform_id: uuid.UUID | None
) -> list[Line]:
    net = gross - service_fee - platform_fee
    if min(service_fee, platform_fee, net) < 0 or (platform_fee and platform_id is None):
        raise ValueError("the shares of a payment are never negative, and a platform's fee has a platform")
    return [
        Line(HELD, asset_id, -gross, "gross", store_id),
        Line(AVAILABLE, asset_id, net, "net", store_id),
        Line(SERVICE_FEES, asset_id, service_fee, "service_fee"),
        Line(AVAILABLE, asset_id, platform_fee, "platform_fee", platform_id),
    ]


# --- refunds -------------------------------------------------------------------------------------


def refund_created(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    amount_atomic: int,
    is_from_held: bool,
    at: datetime,
) -> Posted:
    """A refund is under way: a completed payment's comes from what is available, any other's from what is held."""
    lines = _store_move(store_id, asset_id, HELD if is_from_held else AVAILABLE, RESERVED, amount_atomic)
    return post(Posting(f"refund:{refund_id}", "refund_created", mode, payment_id, at, lines))


def refund_confirmed(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    is_simulated: bool,
    at: datetime,
) -> Posted:
    """A refund is on the chain for good, and its gas is paid; a simulated one goes back out of the simulated coins."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_HOT
    lines = [
        Line(RESERVED, asset_id, -amount_atomic, "principal", store_id),
        Line(custody, asset_id, amount_atomic, "principal"),
        *_gas(gas_asset_id, gas_atomic, custody),
    ]
    return post(Posting(f"refund-confirmed:{refund_id}", "refund_confirmed", mode, payment_id, at, lines))


def refund_released(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    amount_atomic: int,
    is_to_held: bool,
    at: datetime,
    gas_asset_id: str = "",
    gas_atomic: int = 0,
) -> Posted:
    """A refund has failed for good: the coins go back to where they came from. One that the chain reverted has paid gas."""
    lines = _store_move(store_id, asset_id, RESERVED, HELD if is_to_held else AVAILABLE, amount_atomic)
    lines += _gas(gas_asset_id, gas_atomic, CUSTODY_HOT)
    return post(Posting(f"refund-released:{refund_id}", "refund_released", mode, payment_id, at, lines))


@transaction.atomic
def platform_fee_returned(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    platform_id: uuid.UUID,
    share_atomic: int,
    at: datetime,
) -> int:
    """The platform gives back its share of what was refunded, as far as its balance reaches; what this call gave back."""
    amount = min(share_atomic, locked_balance(platform_id, mode, asset_id, AVAILABLE))
    if amount <= 0:
        return 0
    lines = [
        Line(AVAILABLE, asset_id, -amount, "platform_fee", platform_id),
        Line(AVAILABLE, asset_id, amount, "net", store_id),
    ]
    posting = Posting(f"platform-fee-returned:{refund_id}", "platform_fee_returned", mode, payment_id, at, lines)
    return amount if post(posting).is_new else 0


# --- swaps ---------------------------------------------------------------------------------------


def swap_created(*, store_id: uuid.UUID, mode: str, asset_id: str, swap_id: uuid.UUID, sell_atomic: int, at: datetime) -> Posted:
    """What is to be sold is set aside."""
    lines = _store_move(store_id, asset_id, AVAILABLE, RESERVED, sell_atomic)
    return post(Posting(f"swap:{swap_id}", "swap_created", mode, swap_id, at, lines))


def swap_completed(
    *,
    store_id: uuid.UUID,
    mode: str,
    swap_id: uuid.UUID,
    source_asset_id: str,
    sell_atomic: int,
    buy_asset_id: str,
    buy_atomic: int,
    at: datetime,
) -> Posted:
    """The store has sold and bought; the far side of both stands in the clearing account."""
    lines = [
        Line(RESERVED, source_asset_id, -sell_atomic, "principal", store_id),
        Line(SWAP_CLEARING, source_asset_id, sell_atomic, "principal"),
        Line(SWAP_CLEARING, buy_asset_id, -buy_atomic, "principal"),
        Line(AVAILABLE, buy_asset_id, buy_atomic, "principal", store_id),
    ]
    return post(Posting(f"swap-completed:{swap_id}", "swap_completed", mode, swap_id, at, lines))


def swap_exchanged(
    *,
    mode: str,
    swap_id: uuid.UUID,
    source_asset_id: str,
    sell_atomic: int,
    buy_asset_id: str,
    buy_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """A swap was made on a chain: what was sold has left the hot wallet, what was bought has come, and the clearing is even."""
    lines = [
        Line(SWAP_CLEARING, source_asset_id, -sell_atomic, "principal"),
        Line(CUSTODY_HOT, source_asset_id, sell_atomic, "principal"),
        Line(CUSTODY_HOT, buy_asset_id, -buy_atomic, "principal"),
        Line(SWAP_CLEARING, buy_asset_id, buy_atomic, "principal"),
        *_gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(f"swap-exchanged:{swap_id}", "swap_exchanged", mode, swap_id, at, lines))


def swap_released(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    swap_id: uuid.UUID,
    sell_atomic: int,
    at: datetime,
    gas_asset_id: str = "",
    gas_atomic: int = 0,
) -> Posted:
    """A swap has failed: the source goes back to what can be spent. One that the chain reverted has paid gas."""
    lines = [*_store_move(store_id, asset_id, RESERVED, AVAILABLE, sell_atomic), *_gas(gas_asset_id, gas_atomic, CUSTODY_HOT)]
    return post(Posting(f"swap-released:{swap_id}", "swap_released", mode, swap_id, at, lines))


def swap_approval_paid(*, mode: str, asset_id: str, reference: str, swap_id: uuid.UUID, gas_atomic: int, at: datetime) -> Posted:
    """The router was allowed to take the tokens of a swap, or no longer: that cost gas and moved nothing."""
    return post(Posting(f"swap-approval:{reference}", "swap_approval_paid", mode, swap_id, at, _gas(asset_id, gas_atomic, CUSTODY_HOT)))


# --- payouts -------------------------------------------------------------------------------------


def payout_created(*, store_id: uuid.UUID, mode: str, asset_id: str, payout_id: uuid.UUID, amount_atomic: int, at: datetime) -> Posted:
    """What is to be paid out is set aside."""
    lines = _store_move(store_id, asset_id, AVAILABLE, RESERVED, amount_atomic)
    return post(Posting(f"payout:{payout_id}", "payout_created", mode, payout_id, at, lines))


def payout_confirmed(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payout_id: uuid.UUID,
    amount_atomic: int,
    withheld_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    is_simulated: bool,
    at: datetime,
) -> Posted:
    """A payout is on the chain for good, and its gas is paid. What the store bears of the fee was withheld and has not left."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_HOT
    lines = [
        Line(RESERVED, asset_id, -amount_atomic, "principal", store_id),
        Line(custody, asset_id, amount_atomic - withheld_atomic, "principal"),
        Line(NETWORK_FEES, asset_id, withheld_atomic, "network_fee"),
        *_gas(gas_asset_id, gas_atomic, custody),
    ]
    return post(Posting(f"payout-confirmed:{payout_id}", "payout_confirmed", mode, payout_id, at, lines))


def payout_released(*, store_id: uuid.UUID, mode: str, asset_id: str, payout_id: uuid.UUID, amount_atomic: int, at: datetime) -> Posted:
    """A payout has failed for good: the coins can be spent again."""
    lines = _store_move(store_id, asset_id, RESERVED, AVAILABLE, amount_atomic)
    return post(Posting(f"payout-released:{payout_id}", "payout_released", mode, payout_id, at, lines))


def payout_gas_paid(*, mode: str, asset_id: str, reference: str, payout_id: uuid.UUID, gas_atomic: int, at: datetime) -> Posted:
    """A transaction of a payout cost gas and moved nothing of the store's: it was reverted, or went to the off-ramp."""
    return post(Posting(f"payout-gas:{reference}", "payout_gas_paid", mode, payout_id, at, _gas(asset_id, gas_atomic, CUSTODY_HOT)))


def payout_handed_over(
    *, store_id: uuid.UUID, mode: str, asset_id: str, payout_id: uuid.UUID, attempt: int, amount_atomic: int, at: datetime
) -> Posted:
    """The off-ramp has taken the order of a bank payout."""
    lines = [
        Line(RESERVED, asset_id, -amount_atomic, "principal", store_id),
        Line(OFFRAMP_CLEARING, asset_id, amount_atomic, "principal"),
    ]
    return post(Posting(f"payout-handed-over:{payout_id}:{attempt}", "payout_handed_over", mode, payout_id, at, lines))


def payout_handed_back(
    *, store_id: uuid.UUID, mode: str, asset_id: str, payout_id: uuid.UUID, attempt: int, amount_atomic: int, at: datetime
) -> Posted:
    """The off-ramp has given up an order that it had taken."""
    lines = [
        Line(OFFRAMP_CLEARING, asset_id, -amount_atomic, "principal"),
        Line(RESERVED, asset_id, amount_atomic, "principal", store_id),
    ]
    return post(Posting(f"payout-handed-back:{payout_id}:{attempt}", "payout_handed_back", mode, payout_id, at, lines))


def payout_settled(*, mode: str, asset_id: str, payout_id: uuid.UUID, amount_atomic: int, is_simulated: bool, at: datetime) -> Posted:
    """The bank has paid, and the coins have left for the off-ramp."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_HOT
    lines = [Line(OFFRAMP_CLEARING, asset_id, -amount_atomic, "principal"), Line(custody, asset_id, amount_atomic, "principal")]
    return post(Posting(f"payout-settled:{payout_id}", "payout_settled", mode, payout_id, at, lines))


# --- draws of agents on their mandates ------------------------------------------------------------


def x402_settled(*, store_id: uuid.UUID, mode: str, asset_id: str, settlement_id: uuid.UUID, amount_atomic: int, at: datetime) -> Posted:
    """An agent has drawn on a mandate: the store's coins are spent, whether or not they leave on the chain."""
    lines = [
        Line(AVAILABLE, asset_id, -amount_atomic, "principal", store_id),
        Line(X402_CLEARING, asset_id, amount_atomic, "principal"),
    ]
    return post(Posting(f"x402:{settlement_id}", "x402_settled", mode, settlement_id, at, lines))


def x402_confirmed(
    *, mode: str, asset_id: str, settlement_id: uuid.UUID, amount_atomic: int, gas_asset_id: str, gas_atomic: int, at: datetime
) -> Posted:
    """A dispatched draw is on the chain for good, and its gas is paid."""
    lines = [
        Line(X402_CLEARING, asset_id, -amount_atomic, "principal"),
        Line(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        *_gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(f"x402-confirmed:{settlement_id}", "x402_confirmed", mode, settlement_id, at, lines))


def x402_reversed(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    settlement_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """A draw has failed for good: the store has its coins back. One that the chain reverted has paid gas."""
    lines = [
        Line(X402_CLEARING, asset_id, -amount_atomic, "principal"),
        Line(AVAILABLE, asset_id, amount_atomic, "principal", store_id),
        *_gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(f"x402-reversed:{settlement_id}", "x402_reversed", mode, settlement_id, at, lines))


# --- the service's own coins ---------------------------------------------------------------------


def sweep_confirmed(
    *, mode: str, asset_id: str, tx_hash: str, amount_atomic: int, gas_asset_id: str, gas_atomic: int, at: datetime
) -> Posted:
    """Deposits have been brought to the hot wallet; the deposit addresses paid the gas."""
    lines = [
        Line(CUSTODY_DEPOSITS, asset_id, amount_atomic, "principal"),
        Line(CUSTODY_HOT, asset_id, -amount_atomic, "principal"),
        *_gas(gas_asset_id, gas_atomic, CUSTODY_DEPOSITS),
    ]
    return post(Posting(f"sweep:{tx_hash}", "sweep_confirmed", mode, None, at, lines))


def sweep_gas_sent(*, mode: str, asset_id: str, tx_hash: str, amount_atomic: int, gas_atomic: int, at: datetime) -> Posted:
    """The hot wallet has sent a deposit address the gas for its sweep."""
    lines = [
        Line(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        Line(CUSTODY_DEPOSITS, asset_id, -amount_atomic, "principal"),
        *_gas(asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(f"sweep-gas:{tx_hash}", "sweep_gas_sent", mode, None, at, lines))


def test_payment_sent(
    *,
    mode: str,
    asset_id: str,
    test_payment_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """The test wallet has paid a test intent out of the service's own float; nothing but gas when it was reverted."""
    lines = [
        Line(TREASURY, asset_id, -amount_atomic, "principal"),
        Line(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        *_gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(f"test-payment:{test_payment_id}", "test_payment_sent", mode, test_payment_id, at, lines))


def correction(
    *,
    key: str,
    mode: str,
    asset_id: str,
    kind: str,
    store_id: uuid.UUID | None,
    amount_atomic: int,
    reason: str,
    staff_id: uuid.UUID,
    at: datetime,
) -> Posted:
    """Staff put something right, always against the treasury and always with a reason."""
    if not reason.strip():
        raise ValueError("a correction has a reason")
    if kind not in CHART or kind == TREASURY or (CHART[kind].owner == STORE) != (store_id is not None):
        raise ValueError(f"{kind} can't be corrected")
    lines = [Line(kind, asset_id, amount_atomic, "principal", store_id), Line(TREASURY, asset_id, -amount_atomic, "principal")]
    return post(Posting(f"correction:{key}", "correction", mode, None, at, lines, reason, staff_id))


def _store_move(store_id: uuid.UUID, asset_id: str, source: str, target: str, amount: int) -> list[Line]:
    if amount <= 0:
        raise ValueError("what is moved is more than nothing")
    return [Line(source, asset_id, -amount, "principal", store_id), Line(target, asset_id, amount, "principal", store_id)]


def _gas(asset_id: str, gas_atomic: int, paid_from: str) -> list[Line]:
    return [Line(NETWORK_FEES, asset_id, -gas_atomic, "network_fee"), Line(paid_from, asset_id, gas_atomic, "network_fee")]
