"""Movements that the web posts: each by a function of its own, which reads accounts and amounts
from the record that it is about.

The web's role can't insert entries, and has no function that takes an account.
"""

from apps.core.db.sql import Statement

# What a function takes besides the time: parts of the movement's key after its name, and what the
# movement refers to.
_TYPES = {"first": "uuid", "second": "text", "third": "uuid", "reference": "uuid"}
# By kind of movement: the app of the record, and what its function takes.
_POSTED = {
    "payout_created": ("payouts", "first"),
    "payout_released": ("payouts", "first"),
    "payout_gas_charged": ("payouts", "first"),
    "swap_created": ("swaps", "first"),
    "x402_settled": ("agents", "first"),
    "refund_created": ("payments", "first"),
    "transfer_return_created": ("payments", "first"),
    "deposit_confirmed": ("payments", "first reference"),
    "simulated_deposit_changed": ("payments", "first reference"),
    "payment_settled": ("payments", "first second"),
    "overpayment_settled": ("payments", "first third"),
    "late_deposit_accepted": ("payments", "first reference"),
    "withdrawal_created": ("payments", "first"),
}
# Those that a worker alone posts.
WORKERS = frozenset(
    {
        "attempt_gas_paid",
        "coins_joined",
        "cold_returned",
        "cold_transfer_sent",
        "correction",
        "mined_again",
        "own_deposit_restored",
        "own_deposit_reversed",
        "own_fees_collected",
        "own_fees_paid",
        "payout_confirmed",
        "payout_gas_paid",
        "payout_handed_back",
        "payout_handed_over",
        "payout_settled",
        "platform_fee_returned",
        "refund_confirmed",
        "refund_released",
        "swap_approval_paid",
        "swap_completed",
        "swap_exchanged",
        "swap_released",
        "sweep_confirmed",
        "sweep_gas_sent",
        "test_payment_sent",
        "transfer_return_confirmed",
        "transfer_return_released",
        "withdrawal_confirmed",
        "withdrawal_released",
        "x402_confirmed",
        "x402_gas_charged",
        "x402_gas_paid",
        "x402_reversed",
    }
)
FUNCTIONS = {kind: f"{app}_post_{kind}" for kind, (app, _) in _POSTED.items()}


def _statement(kind: str) -> Statement:
    names = _POSTED[kind][1].split()
    cells = [*(f"%({name})s::{_TYPES[name]}" for name in names), "%(at)s::timestamptz"]
    return Statement(
        f"SELECT movement_id, is_new, moved_atomic FROM {FUNCTIONS[kind]}({', '.join(cells)})",  # noqa: S608  # our own names
        stays=True,
    )


BY_KIND = {kind: _statement(kind) for kind in _POSTED}
