"""THE page: every way money may move. What is posted takes its accounts and its key from its row.

A row reads: the debited account goes down and the credited ones go up by as much, flow by flow. Of
the accounts in parentheses one is meant, and the posting says which; the first without a word. An
account of kind `store` in the chart (apps.ledger.chart) is that of the store which the movement
names.
"""

from dataclasses import dataclass

from apps.ledger import keys
from apps.ledger.chart import (
    AVAILABLE,
    CHART,
    CUSTODY_COLD,
    CUSTODY_DEPOSITS,
    CUSTODY_HOT,
    CUSTODY_SIMULATED,
    HELD,
    MEMO_KINDS,
    NETWORK_FEES,
    OFFRAMP_CLEARING,
    OWN_FEES_DUE,
    OWN_PENDING,
    OWN_RECEIVED,
    OWN_WALLETS,
    RESERVED,
    SERVICE_FEES,
    SWAP_CLEARING,
    TREASURY,
    WITHDRAWAL_CLEARING,
    X402_CLEARING,
)
from apps.ledger.keys import Key


@dataclass(frozen=True)
class Leg:
    """A side of a flow: the accounts that it may be, and its role in reports."""

    kinds: tuple[str, ...]
    role: str = "principal"
    is_platforms: bool = False  # the account of the platform, not of its merchant


Account = str | tuple[str, ...] | Leg


@dataclass(frozen=True)
class Flow:
    """Coins of one asset that leave an account, and the accounts that they go to."""

    debit: Leg
    credits: tuple[Leg, ...]

    @property
    def legs(self) -> tuple[Leg, ...]:
        return (self.debit, *self.credits)


@dataclass(frozen=True)
class MovementKind:
    """An event of the books: when it is posted, under which key, and what it moves."""

    when: str
    key: Key
    flows: tuple[Flow, ...]

    @property
    def accounts(self) -> set[str]:
        """All accounts that it may touch."""
        return {kind for flow in self.flows for leg in flow.legs for kind in leg.kinds}


def _row(when: str, key: Key, *flows: Flow) -> MovementKind:
    return MovementKind(when, key, flows)


def _flow(debit: Account, *credited: Account) -> Flow:
    return Flow(_leg(debit), tuple(map(_leg, credited)))


def _gas(*paid_from: str) -> Flow:
    """Gas is an expense, paid in the coin of the network."""
    return _flow(Leg((NETWORK_FEES,), "network_fee"), Leg(paid_from, "network_fee"))


def _leg(account: Account) -> Leg:
    if isinstance(account, Leg):
        return account
    return Leg((account,) if isinstance(account, str) else account)


# Coins of a simulated deposit or transfer are in no wallet.
# What came to a merchant's own wallet goes through memo accounts alone: see ledger_check_entries.
_DEPOSITS = (CUSTODY_DEPOSITS, CUSTODY_SIMULATED, OWN_WALLETS)
_HELD = (HELD, OWN_PENDING)
_HOT = (CUSTODY_HOT, CUSTODY_SIMULATED)
# A completed payment's coins are available, any other's are held.
_REFUNDED = (AVAILABLE, HELD)
_THREE_SHARES = _flow(
    Leg(_HELD, "gross"),
    Leg((AVAILABLE, OWN_RECEIVED), "net"),
    Leg((SERVICE_FEES, OWN_FEES_DUE), "service_fee"),
    Leg((AVAILABLE,), "platform_fee", is_platforms=True),
)
_GAS_OF_THE_STORE = _flow(Leg((AVAILABLE,), "network_fee"), Leg((NETWORK_FEES,), "network_fee"))
_CORRECTED = tuple(kind for kind in CHART if kind != TREASURY and kind not in MEMO_KINDS)

MOVEMENTS: dict[str, MovementKind] = {
    # What came in, and whose it is.
    "deposit_confirmed": _row(
        "coins have arrived for good; they are held until their payment is settled",
        keys.DEPOSIT,
        _flow(_DEPOSITS, _HELD),
    ),
    "simulated_deposit_changed": _row(
        "a simulated deposit that was booked is given another amount",
        keys.DEPOSIT,
        _flow((CUSTODY_SIMULATED, OWN_WALLETS), _HELD),
    ),
    "payment_settled": _row(
        "a payment is complete: what it received is the merchant's, less two fees",
        keys.SETTLE,
        _THREE_SHARES,
    ),
    "overpayment_settled": _row(
        "more is confirmed on a completed payment", keys.SETTLE, _THREE_SHARES
    ),
    "late_deposit_accepted": _row(
        "the merchant takes a deposit that came too late, as if a payment had completed",
        keys.SETTLE_LATE,
        _THREE_SHARES,
    ),
    "own_fees_collected": _row(
        "fees on what came to a merchant’s own wallet are taken from what it has here of that coin",
        keys.OWN_FEES,
        _flow(AVAILABLE, SERVICE_FEES),
        _flow(OWN_FEES_DUE, OWN_RECEIVED),
    ),
    "own_fees_paid": _row(
        "the merchant has paid an invoice for such fees",
        keys.OWN_FEES_PAID,
        _flow(OWN_FEES_DUE, OWN_RECEIVED),
    ),
    "own_deposit_reversed": _row(
        "a deposit to a merchant’s own wallet has left the chain, and its review has ended",
        keys.OWN_REVERSED,
        _flow(OWN_PENDING, OWN_WALLETS),
        _flow(OWN_RECEIVED, OWN_WALLETS),
        _flow(OWN_FEES_DUE, OWN_WALLETS),
    ),
    "own_deposit_restored": _row(
        "the chain has it again: what was reversed is undone",
        keys.OWN_RESTORED,
        _flow(OWN_WALLETS, OWN_PENDING, OWN_RECEIVED, OWN_FEES_DUE),
    ),
    # What a store sends back, sells or takes out: reserved first, then gone or given back.
    "refund_created": _row("a refund is under way", keys.REFUND, _flow(_REFUNDED, RESERVED)),
    "refund_confirmed": _row(
        "a refund is on the chain for good",
        keys.REFUND_CONFIRMED,
        _flow(RESERVED, _HOT),
        _gas(*_HOT),
    ),
    "refund_released": _row(
        "a refund has failed for good; one that the chain reverted has paid gas",
        keys.REFUND_RELEASED,
        _flow(RESERVED, _REFUNDED),
        _gas(CUSTODY_HOT),
    ),
    "platform_fee_returned": _row(
        "the platform gives back its share of what was refunded, as far as its balance reaches",
        keys.PLATFORM_FEE_RETURNED,
        _flow(Leg((AVAILABLE,), "platform_fee", is_platforms=True), Leg((AVAILABLE,), "net")),
    ),
    "transfer_return_created": _row(
        "an unmatched transfer is about to go back; nothing of the payment that holds it goes",
        keys.REFUND,
        _flow(HELD, RESERVED),
    ),
    "transfer_return_confirmed": _row(
        "its return is on the chain for good",
        keys.REFUND_CONFIRMED,
        _flow(RESERVED, _HOT),
        _gas(*_HOT),
    ),
    "transfer_return_released": _row(
        "its return has failed for good; one that the chain reverted has paid gas",
        keys.REFUND_RELEASED,
        _flow(RESERVED, HELD),
        _gas(CUSTODY_HOT),
    ),
    "swap_created": _row("a store is about to sell coins", keys.SWAP, _flow(AVAILABLE, RESERVED)),
    "swap_completed": _row(
        "the store has sold, and has bought",
        keys.SWAP_COMPLETED,
        _flow(RESERVED, SWAP_CLEARING),
        _flow(SWAP_CLEARING, AVAILABLE),
    ),
    "swap_exchanged": _row(
        "the hot wallet has sold on a chain, and has bought; the clearing is even",
        keys.SWAP_EXCHANGED,
        _flow(SWAP_CLEARING, CUSTODY_HOT),
        _flow(CUSTODY_HOT, SWAP_CLEARING),
        _gas(CUSTODY_HOT),
    ),
    "swap_released": _row(
        "a swap has failed; one that the chain reverted has paid gas",
        keys.SWAP_RELEASED,
        _flow(RESERVED, AVAILABLE),
        _gas(CUSTODY_HOT),
    ),
    "swap_approval_paid": _row(
        "the router of a swap may take tokens, or may no longer: gas alone",
        keys.SWAP_APPROVAL,
        _gas(CUSTODY_HOT),
    ),
    "payout_created": _row(
        "a store is about to pay coins out", keys.PAYOUT, _flow(AVAILABLE, RESERVED)
    ),
    "payout_gas_charged": _row(
        "the store bears gas that an attempt of its payout cost without paying it out",
        keys.PAYOUT_GAS_CHARGED,
        _GAS_OF_THE_STORE,
    ),
    "payout_confirmed": _row(
        "a payout is on the chain for good; the fee that the store bears was withheld",
        keys.PAYOUT_CONFIRMED,
        _flow(RESERVED, _HOT, Leg((NETWORK_FEES,), "network_fee")),
        _gas(*_HOT),
    ),
    "payout_released": _row(
        "a payout has failed for good", keys.PAYOUT_RELEASED, _flow(RESERVED, AVAILABLE)
    ),
    "payout_gas_paid": _row(
        "a transaction of a payout was reverted, or went to the off-ramp: gas alone",
        keys.PAYOUT_GAS,
        _gas(CUSTODY_HOT),
    ),
    "payout_handed_over": _row(
        "the off-ramp has taken the order of a bank payout",
        keys.PAYOUT_HANDED_OVER,
        _flow(RESERVED, OFFRAMP_CLEARING),
    ),
    "payout_handed_back": _row(
        "the off-ramp has given up an order that it had taken",
        keys.PAYOUT_HANDED_BACK,
        _flow(OFFRAMP_CLEARING, RESERVED),
    ),
    "payout_settled": _row(
        "the bank has paid, and the coins have left for the off-ramp",
        keys.PAYOUT_SETTLED,
        _flow(OFFRAMP_CLEARING, _HOT),
    ),
    # What agents spend on their mandates: spent at once, then settled or given back.
    "x402_settled": _row(
        "an agent has drawn on a mandate, whether or not the coins leave on the chain",
        keys.X402,
        _flow(AVAILABLE, X402_CLEARING),
    ),
    "x402_confirmed": _row(
        "a draw that was sent is on the chain for good",
        keys.X402_CONFIRMED,
        _flow(X402_CLEARING, CUSTODY_HOT),
        _gas(CUSTODY_HOT),
    ),
    "x402_reversed": _row(
        "a draw has failed for good; one that the chain reverted has paid gas",
        keys.X402_REVERSED,
        _flow(X402_CLEARING, AVAILABLE),
        _gas(CUSTODY_HOT),
    ),
    "x402_gas_paid": _row(
        "what a payer signed was carried out or reverted: gas alone; the coins are a deposit",
        keys.X402_GAS,
        _gas(CUSTODY_HOT),
    ),
    "x402_gas_charged": _row(
        "the store bears the gas of a signed payment", keys.X402_GAS_CHARGED, _GAS_OF_THE_STORE
    ),
    # The service's own.
    "sweep_confirmed": _row(
        "deposits are in the hot wallet; their addresses paid gas, and the token's own fee",
        keys.SWEEP,
        _flow(CUSTODY_HOT, CUSTODY_DEPOSITS),
        _gas(CUSTODY_DEPOSITS),
        _gas(CUSTODY_DEPOSITS),
    ),
    "sweep_gas_sent": _row(
        "the hot wallet has sent a deposit address the gas for its sweep",
        keys.SWEEP_GAS,
        _flow(CUSTODY_DEPOSITS, CUSTODY_HOT),
        _gas(CUSTODY_HOT),
    ),
    "coins_joined": _row(
        "coins of the hot wallet were made one, or a stuck transaction was lifted: its fee alone",
        keys.JOIN,
        _gas(CUSTODY_HOT),
    ),
    "cold_transfer_sent": _row(
        "the hot wallet has sent coins to cold storage; gas alone when it was reverted",
        keys.COLD,
        _flow(CUSTODY_COLD, CUSTODY_HOT),
        _gas(CUSTODY_HOT),
    ),
    "cold_returned": _row(
        "coins are back from cold storage, whose owner paid the gas, or whose coins paid the fee",
        keys.COLD_RETURNED,
        _flow(CUSTODY_HOT, CUSTODY_COLD),
        _gas(CUSTODY_COLD),
    ),
    "withdrawal_created": _row(
        "the operator is about to take earnings out",
        keys.WITHDRAWAL,
        _flow(SERVICE_FEES, WITHDRAWAL_CLEARING),
    ),
    "withdrawal_confirmed": _row(
        "the operator has them",
        keys.WITHDRAWAL_CONFIRMED,
        _flow(WITHDRAWAL_CLEARING, CUSTODY_HOT),
        _gas(CUSTODY_HOT),
    ),
    "withdrawal_released": _row(
        "they could not be sent; a transfer that the chain reverted has paid gas",
        keys.WITHDRAWAL_RELEASED,
        _flow(WITHDRAWAL_CLEARING, SERVICE_FEES),
        _gas(CUSTODY_HOT),
    ),
    "test_payment_sent": _row(
        "the test wallet has paid a test payment; gas alone when it was reverted",
        keys.TEST_PAYMENT,
        _flow(TREASURY, CUSTODY_HOT),
        _gas(CUSTODY_HOT),
    ),
    "attempt_gas_paid": _row(
        "a transfer cost gas and moved nothing, and is sent again",
        keys.ATTEMPT_GAS,
        _gas(CUSTODY_HOT),
    ),
    "mined_again": _row(
        "a reorg undid a transaction of ours, which was mined again at another cost",
        keys.MINED_AGAIN,
        _gas(CUSTODY_HOT, CUSTODY_DEPOSITS),
        _flow(CUSTODY_HOT, SWAP_CLEARING),
    ),
    "correction": _row(
        "staff put something right, with a reason; up or down, always against the treasury",
        keys.CORRECTION,
        _flow(_CORRECTED, TREASURY),
    ),
}
