"""Every kind of movement and account in plain words: what reports and statements call them.

A kind of apps/ledger that is missing here fails a test, so a merchant never reads an internal name.
"""

from apps.ledger import chart

KINDS: dict[str, str] = {
    "deposit_confirmed": "Deposit confirmed",
    "simulated_deposit_changed": "Simulated deposit changed",
    "payment_settled": "Payment settled",
    "overpayment_settled": "Overpayment settled",
    "late_deposit_accepted": "Late deposit accepted",
    "refund_created": "Refund reserved",
    "refund_confirmed": "Refund sent",
    "refund_released": "Refund failed, returned to balance",
    "transfer_return_created": "Transfer return reserved",
    "transfer_return_confirmed": "Transfer returned to sender",
    "transfer_return_released": "Transfer return failed, returned to balance",
    "platform_fee_returned": "Platform fee returned",
    "swap_created": "Swap reserved",
    "swap_completed": "Swap completed",
    "swap_exchanged": "Swap executed on-chain",
    "swap_released": "Swap failed, returned to balance",
    "swap_approval_paid": "Gas for a swap approval",
    "payout_created": "Payout reserved",
    "payout_confirmed": "Payout sent",
    "payout_released": "Payout failed, returned to balance",
    "payout_gas_paid": "Gas for a payout",
    "payout_gas_charged": "Gas for a payout rejected by its recipient",
    "x402_gas_charged": "Gas for a signed payment",
    "payout_handed_over": "Bank payout in progress",
    "payout_handed_back": "Bank payout returned",
    "payout_settled": "Bank payout settled",
    "x402_settled": "Spent by an agent",
    "x402_confirmed": "Agent’s payment sent",
    "x402_reversed": "Agent’s payment returned",
    "x402_gas_paid": "Gas for an x402 payment",
    "sweep_confirmed": "Deposits swept",
    "sweep_gas_sent": "Gas for a sweep",
    "cold_transfer_sent": "Moved to cold storage",
    "cold_returned": "Returned from cold storage",
    "withdrawal_created": "Earnings reserved for withdrawal",
    "withdrawal_confirmed": "Earnings withdrawn",
    "withdrawal_released": "Withdrawal failed, returned to earnings",
    "test_payment_sent": "Paid by the test wallet",
    "attempt_gas_paid": "Gas for a transfer that is sent again",
    "mined_again": "Mined again at a different cost",
    "correction": "Correction by staff",
}
ACCOUNTS: dict[str, str] = {
    chart.AVAILABLE: "Available",
    chart.HELD: "Held",
    chart.RESERVED: "Reserved",
}
# Those that never touch a store's own accounts: a store is not offered to look for them.
_OF_SERVICE = {
    *(
        "swap_exchanged",
        "swap_approval_paid",
        "payout_gas_paid",
        "payout_settled",
        "x402_confirmed",
        "x402_gas_paid",
    ),
    *(
        "sweep_confirmed",
        "sweep_gas_sent",
        "cold_transfer_sent",
        "cold_returned",
        "test_payment_sent",
        "attempt_gas_paid",
        "mined_again",
    ),
    "withdrawal_created",
    "withdrawal_confirmed",
    "withdrawal_released",
}
OF_STORES = frozenset(KINDS) - _OF_SERVICE


def kind_label(kind: str) -> str:
    """What a movement is called; of one that has no words yet, its own name in a readable form."""
    return KINDS.get(kind) or kind.replace("_", " ").capitalize()
