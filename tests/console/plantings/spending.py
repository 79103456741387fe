"""Changes of payouts, draws, swaps and their transactions.

Each with the invariant that must name it.
"""

from tests.console.plantings.rows import (
    DRAW,
    ELSEWHERE,
    LAST,
    PAID_OUT,
    REFUND,
    SENT_OUT,
    SWAP,
    ZEROED,
    again,
)

SPENDING: dict[str, tuple[str, str]] = {
    "refund without a transaction": (
        f"UPDATE payments_refund SET is_simulated = false WHERE id = {REFUND}",
        "sent_once",
    ),
    "payout doubled": (
        again("payouts_payout", f"id = {PAID_OUT}", id="gen_random_uuid()", idempotency_key="'x'"),
        "payouts_booked",
    ),
    "payout sent twice": (
        again(
            "chain_outgoingtransaction",
            "purpose = 'payout'",
            id="gen_random_uuid()",
            reference="reference || '1'",
            nonce="NULL",
            status="'requested'",
        ),
        "payouts_sent_once",
    ),
    "payout confirmed made returned": (
        f"UPDATE payouts_payout SET status = 'failed', funds = 'returned' WHERE id = {PAID_OUT}",
        "payouts_booked",
    ),
    "payout readdressed": (
        f"UPDATE payouts_payout SET destination_address = '{ELSEWHERE}' WHERE id = {SENT_OUT}",
        "payouts_sent_once",
    ),
    "mandate less spent": (
        "UPDATE agents_mandate SET spent_atomic = spent_atomic - 1",
        "mandates_add_up",
    ),
    "mandate revoked by nobody": (
        "UPDATE agents_mandate SET status = 'revoked', revoked_at = now()",
        "mandates_add_up",
    ),
    "payout's network fee": (
        (
            "UPDATE payouts_payout SET network_fee_atomic = network_fee_atomic + 1 WHERE id ="
            f" {SENT_OUT}"
        ),
        "payouts_sent_once",
    ),
    "payout's transaction named otherwise": (
        f"UPDATE payouts_payout SET tx_hash = '0x1' WHERE id = {SENT_OUT}",
        "payouts_sent_once",
    ),
    "payout called simulated": (
        f"UPDATE payouts_payout SET is_simulated = true WHERE id = {SENT_OUT}",
        "payouts_sent_once",
    ),
    "cost of a payout's transaction": (
        (
            "UPDATE chain_outgoingtransaction SET network_fee_atomic = network_fee_atomic + 1 WHERE"
            " purpose = 'payout' AND nonce = 0"
        ),
        "payouts_sent_once",
    ),
    "draw made smaller": (
        f"UPDATE agents_settlement SET amount_atomic = amount_atomic - 1 WHERE id = {DRAW}",
        "mandates_add_up",
    ),
    "swap brought more": (
        (
            "UPDATE swaps_swap SET actual_buy_amount_atomic = actual_buy_amount_atomic + 1 WHERE"
            f" id = {SWAP}"
        ),
        "swaps_booked",
    ),
    "hash of a simulated payout": (
        f"UPDATE payouts_payout SET tx_hash = '0x{'7' * 64}' WHERE id = {PAID_OUT}",
        "payouts_sent_once",
    ),
    "hash of a simulated refund": (
        f"UPDATE payments_refund SET tx_hash = '0x{'7' * 64}' WHERE id = {REFUND}",
        "sent_once",
    ),
    "hash of a swap that no transaction made": (
        f"UPDATE swaps_swap SET tx_hash = '0x{'7' * 64}' WHERE id = {SWAP}",
        "swaps_booked",
    ),
    "nonce changed": (
        "UPDATE chain_outgoingtransaction SET nonce = 7 WHERE nonce = 1",
        "sent_once",
    ),
    "draw and mandate changed together": (
        (
            f"UPDATE agents_settlement SET amount_atomic = amount_atomic - 1 WHERE id = {DRAW}; "
            "UPDATE agents_mandate SET spent_atomic = spent_atomic - 1"
        ),
        "draws_are_booked",
    ),
    "next nonce one too high": (
        "UPDATE chain_hotwallet SET next_nonce = next_nonce + 1",
        "sent_once",
    ),
    "payout and its transaction readdressed": (
        (
            f"UPDATE payouts_payout SET destination_address = '{ELSEWHERE}' WHERE id = {SENT_OUT};"
            f" UPDATE chain_outgoingtransaction SET to_address = '{ELSEWHERE}' WHERE"
            f" left(reference, 36) = {SENT_OUT}::text"
        ),
        "sent_as_signed",
    ),
    "balance zeroed by a movement of a plausible kind": (ZEROED, "payouts_booked"),
    "next nonce one too low": (
        "UPDATE chain_hotwallet SET next_nonce = next_nonce - 1",
        "sent_once",
    ),
    "draw booked for another store": (
        (
            "UPDATE ledger_entry e SET account_id = o.id FROM ledger_account o WHERE o.kind ="
            " 'available' AND o.asset_id = 'SETH' AND o.store_id <> '{store}' AND"
            f" e.amount_atomic < 0 AND e.movement_id = {LAST.replace('{kind}', 'x402_settled')}"
        ),
        "draws_are_booked",
    ),
    "transfer to cold storage readdressed": (
        f"UPDATE chain_outgoingtransaction SET to_address = '{ELSEWHERE}' WHERE purpose = 'cold'",
        "sent_as_signed",
    ),
    "payout approved by its maker": (
        (
            "ALTER TABLE payouts_payoutapproval DROP CONSTRAINT payout_approval_by_another; "
            "UPDATE payouts_payoutapproval SET maker_id = decided_by_id"
        ),
        "payouts_approved",
    ),
    "payout's approval taken back": (
        "UPDATE payouts_payoutapproval SET status = 'waiting', decided_at = NULL",
        "payouts_approved",
    ),
    "payout of two people made one person's": (
        "UPDATE payouts_payout SET approval_id = NULL WHERE approval_id IS NOT NULL",
        "payouts_approved",
    ),
    "failed attempts of a payout said to be paid": (
        f"UPDATE payouts_payout SET failed_gas_atomic = 5 WHERE id = {SENT_OUT}",
        "payouts_gas_charged",
    ),
    "failed attempts of a payout said to be due": (
        f"UPDATE payouts_payout SET failed_gas_due_atomic = 5 WHERE id = {SENT_OUT}",
        "payouts_gas_charged",
    ),
    "worth of an approval": (
        "UPDATE payouts_payoutapproval SET worth_cents = worth_cents - 1",
        "payouts_approved",
    ),
    "currency of an approval": (
        "UPDATE payouts_payoutapproval SET currency = 'JPY'",
        "payouts_approved",
    ),
    "draw that names a transaction": (
        f"UPDATE agents_settlement SET tx_ref = '0x{'7' * 64}' WHERE id = {DRAW}",
        "draws_are_booked",
    ),
}
