"""The functions that post the rows of the table (`table.py:MOVEMENTS`), each once per key.

Amounts are atomic units; a credit is positive. `at` is the time by the store's clock. What takes
from a guarded account raises InsufficientBalance. `reference` is the payment a movement serves, so
that a payment's movements are found together.
"""

from apps.ledger.movements.draws import (
    x402_confirmed,
    x402_gas_charged,
    x402_gas_paid,
    x402_reversed,
    x402_settled,
)
from apps.ledger.movements.own import (
    attempt_gas_paid,
    coins_joined,
    cold_returned,
    cold_transfer_sent,
    correction,
    mined_again,
    sweep_confirmed,
    sweep_gas_sent,
    test_payment_sent,
    withdrawal_confirmed,
    withdrawal_created,
    withdrawal_released,
)
from apps.ledger.movements.payments import (
    OwnDeposit,
    OwnParts,
    Settled,
    deposit_confirmed,
    late_deposit_accepted,
    overpayment_settled,
    own_deposit_restored,
    own_deposit_reversed,
    own_fees_collected,
    own_fees_paid,
    payment_settled,
    simulated_deposit_changed,
)
from apps.ledger.movements.payouts import (
    Confirmed,
    payout_confirmed,
    payout_created,
    payout_gas_charged,
    payout_gas_paid,
    payout_handed_back,
    payout_handed_over,
    payout_released,
    payout_settled,
)
from apps.ledger.movements.refunds import (
    Returned,
    platform_fee_returned,
    refund_confirmed,
    refund_created,
    refund_released,
    transfer_return_confirmed,
    transfer_return_created,
    transfer_return_released,
)
from apps.ledger.movements.swaps import (
    swap_approval_paid,
    swap_completed,
    swap_created,
    swap_exchanged,
    swap_released,
)

__all__ = [  # noqa: RUF022  # in the order in which coins move
    # What came in, and whose it is.
    "Settled",
    "deposit_confirmed",
    "simulated_deposit_changed",
    "payment_settled",
    "overpayment_settled",
    "late_deposit_accepted",
    "OwnDeposit",
    "OwnParts",
    "own_deposit_restored",
    "own_deposit_reversed",
    "own_fees_collected",
    "own_fees_paid",
    # What a store sends back, sells or takes out: reserved first, then gone or given back.
    "refund_created",
    "refund_confirmed",
    "refund_released",
    "platform_fee_returned",
    "Returned",
    "transfer_return_created",
    "transfer_return_confirmed",
    "transfer_return_released",
    "swap_created",
    "swap_completed",
    "swap_exchanged",
    "swap_released",
    "swap_approval_paid",
    "payout_created",
    "payout_gas_charged",
    "Confirmed",
    "payout_confirmed",
    "payout_released",
    "payout_gas_paid",
    "payout_handed_over",
    "payout_handed_back",
    "payout_settled",
    "x402_settled",
    "x402_confirmed",
    "x402_reversed",
    "x402_gas_paid",
    "x402_gas_charged",
    # The service's own.
    "sweep_confirmed",
    "sweep_gas_sent",
    "cold_transfer_sent",
    "coins_joined",
    "cold_returned",
    "withdrawal_created",
    "withdrawal_confirmed",
    "withdrawal_released",
    "test_payment_sent",
    "attempt_gas_paid",
    "mined_again",
    "correction",
]
