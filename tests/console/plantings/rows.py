"""Rows and statements by name, for tests that plant a fault. `{store}` is the merchant's."""

LAST = "(SELECT max(id) FROM ledger_movement WHERE kind = '{kind}' AND mode = 'test')"
SETTLED = LAST.replace("{kind}", "payment_settled")
DEPOSITED = LAST.replace("{kind}", "deposit_confirmed")
CORRECTED = LAST.replace("{kind}", "correction")
COPY = (
    "INSERT INTO ledger_movement (key, kind, mode, reference, reason, at{staff}) "
    "SELECT '{key}', '{kind}', mode, {reference}, 'x', at{staff} "
)
LEG = (
    "INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role) SELECT"
    " (SELECT max(id) FROM ledger_movement), id, asset_id, {amount}, 'principal' FROM"
    " ledger_account WHERE kind = '{kind}' AND asset_id = 'SETH' AND {owner}"
)
COMPLETED = (
    "(SELECT id FROM payments_payment WHERE status = 'completed' AND mode = 'test' ORDER BY"
    " created_at DESC LIMIT 1)"
)
PENDING = (
    "(SELECT id FROM payments_payment WHERE status = 'pending' ORDER BY created_at DESC LIMIT 1)"
)
REFUND = "(SELECT id FROM payments_refund WHERE status = 'confirmed' LIMIT 1)"
PAYOUT = "(SELECT id FROM payouts_payout WHERE status = 'confirmed' AND mode = '{mode}' LIMIT 1)"
PAID_OUT = PAYOUT.replace("{mode}", "test")
SENT_OUT = PAYOUT.replace("{mode}", "live")
DEPOSIT = (
    "(SELECT id FROM chain_deposit WHERE status = 'confirmed' AND NOT is_simulated AND"
    " block_number = 103)"
)
SIMULATED = "(SELECT id FROM chain_deposit WHERE status = 'confirmed' AND is_simulated LIMIT 1)"
LINE = "(SELECT min(id) FROM stores_auditentry)"
INVOICE = (
    "(SELECT id FROM billing_invoice WHERE status = 'paid' AND tax_rate_bps IS NOT NULL LIMIT 1)"
)
CYCLE = "(SELECT id FROM billing_invoice WHERE subscription_id IS NOT NULL LIMIT 1)"
DRAW = "(SELECT id FROM agents_settlement WHERE amount_atomic > 0 LIMIT 1)"
SWAP = "(SELECT id FROM swaps_swap WHERE status = 'completed' LIMIT 1)"
TOLD = "(SELECT id FROM webhooks_event WHERE type = 'payment_intent.completed' LIMIT 1)"
ELSEWHERE = "0x" + "9" * 40
UNGUARD = "ALTER TABLE ledger_account DROP CONSTRAINT account_guard_fits_kind; "


def again(table: str, where: str, **columns: str) -> str:
    changed = ", ".join(f"'{name}', {value}" for name, value in columns.items())
    row = f"(jsonb_populate_record(t, jsonb_build_object({changed}))).*"
    return f"INSERT INTO {table} SELECT {row} FROM {table} t WHERE {where}"


def correct(amount: str) -> str:
    """A correction that nobody signed, against the treasury as all are."""
    made = COPY.replace("{staff}", ", staff_user_id").format(
        key="correction:x", kind="correction", reference="NULL"
    )
    legs = (
        LEG.format(amount=amount, kind="available", owner="store_id = '{store}'"),
        LEG.format(amount=f"-({amount})", kind="treasury", owner="mode = 'test'"),
    )
    return f"{made} FROM ledger_movement WHERE id = {CORRECTED}; " + "; ".join(legs)


ZEROED = "; ".join(
    (
        COPY.replace("{staff}", "").format(
            key="payout-confirmed:x", kind="payout_confirmed", reference="gen_random_uuid()"
        )
        + f" FROM ledger_movement WHERE id = {SETTLED}",
        LEG.format(amount="-ledger_balance(id)", kind="available", owner="store_id = '{store}'"),
        LEG.format(
            amount="-(SELECT amount_atomic FROM ledger_entry ORDER BY id DESC LIMIT 1)",
            kind="custody_simulated",
            owner="mode = 'test'",
        ),
    )
)
