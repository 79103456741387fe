"""Every kind of movement and account in plain words: what reports and statements call them.

A kind of apps/ledger that is missing here fails a test, so a merchant never reads an internal name.
"""

from django.utils.translation import gettext_noop

from apps.ledger import chart

KINDS: dict[str, str] = {
    "deposit_confirmed": gettext_noop("Deposit confirmed"),
    "simulated_deposit_changed": gettext_noop("Simulated deposit changed"),
    "payment_settled": gettext_noop("Payment settled"),
    "overpayment_settled": gettext_noop("Overpayment settled"),
    "late_deposit_accepted": gettext_noop("Late deposit accepted"),
    "own_deposit_reversed": gettext_noop("Payment to your own wallet undone by the network"),
    "own_deposit_restored": gettext_noop("Payment to your own wallet back on the network"),
    "own_fees_collected": gettext_noop("Fees of payments to your own wallet"),
    "own_fees_paid": gettext_noop("Fees of payments to your own wallet invoiced"),
    "refund_created": gettext_noop("Refund reserved"),
    "refund_confirmed": gettext_noop("Refund sent"),
    "refund_released": gettext_noop("Refund failed, returned to balance"),
    "transfer_return_created": gettext_noop("Transfer return reserved"),
    "transfer_return_confirmed": gettext_noop("Transfer returned to sender"),
    "transfer_return_released": gettext_noop("Transfer return failed, returned to balance"),
    "platform_fee_returned": gettext_noop("Platform fee returned"),
    "swap_created": gettext_noop("Swap reserved"),
    "swap_completed": gettext_noop("Swap completed"),
    "swap_exchanged": gettext_noop("Swap executed on-chain"),
    "swap_released": gettext_noop("Swap failed, returned to balance"),
    "swap_approval_paid": gettext_noop("Gas for a swap approval"),
    "payout_created": gettext_noop("Payout reserved"),
    "payout_confirmed": gettext_noop("Payout sent"),
    "payout_released": gettext_noop("Payout failed, returned to balance"),
    "payout_gas_paid": gettext_noop("Gas for a payout"),
    "payout_gas_charged": gettext_noop("Gas for a payout rejected by its recipient"),
    "x402_gas_charged": gettext_noop("Gas for a signed payment"),
    "payout_handed_over": gettext_noop("Bank payout in progress"),
    "payout_handed_back": gettext_noop("Bank payout returned"),
    "payout_settled": gettext_noop("Bank payout settled"),
    "x402_settled": gettext_noop("Spent by an agent"),
    "x402_confirmed": gettext_noop("Agent’s payment sent"),
    "x402_reversed": gettext_noop("Agent’s payment returned"),
    "x402_gas_paid": gettext_noop("Gas for an x402 payment"),
    "sweep_confirmed": gettext_noop("Deposits swept"),
    "sweep_gas_sent": gettext_noop("Gas for a sweep"),
    "coins_joined": gettext_noop("Fee for joining coins"),
    "cold_transfer_sent": gettext_noop("Moved to cold storage"),
    "cold_returned": gettext_noop("Returned from cold storage"),
    "withdrawal_created": gettext_noop("Earnings reserved for withdrawal"),
    "withdrawal_confirmed": gettext_noop("Earnings withdrawn"),
    "withdrawal_released": gettext_noop("Withdrawal failed, returned to earnings"),
    "test_payment_sent": gettext_noop("Paid by the test wallet"),
    "attempt_gas_paid": gettext_noop("Gas for a transfer that is sent again"),
    "mined_again": gettext_noop("Mined again at a different cost"),
    "correction": gettext_noop("Correction by staff"),
}
ACCOUNTS: dict[str, str] = {
    chart.AVAILABLE: gettext_noop("Available"),
    chart.HELD: gettext_noop("Held"),
    chart.RESERVED: gettext_noop("Reserved"),
    chart.OWN_PENDING: gettext_noop("Own wallet, not settled"),
    chart.OWN_RECEIVED: gettext_noop("Own wallet"),
    chart.OWN_FEES_DUE: gettext_noop("Fees due on own wallet"),
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
        "coins_joined",
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
    """Name of a movement's kind; an unnamed kind has its own name in a readable form."""
    return KINDS.get(kind) or kind.replace("_", " ").capitalize()
