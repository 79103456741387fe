"""Changes of the ledger: entries, movements, corrections and what staff moved.

Each with the invariant that must name it.
"""

from tests.console.plantings.rows import (
    COMPLETED,
    CORRECTED,
    ELSEWHERE,
    LAST,
    REFUND,
    SETTLED,
    UNGUARD,
    again,
    correct,
)

BOOKS: dict[str, tuple[str, str]] = {
    "entry changed": (
        (
            "UPDATE ledger_entry SET amount_atomic = amount_atomic + 1 WHERE movement_id ="
            f" {SETTLED} AND role = 'net'"
        ),
        "movements_balance",
    ),
    "entry deleted": (
        f"DELETE FROM ledger_entry WHERE movement_id = {SETTLED} AND role = 'net'",
        "movements_balance",
    ),
    "entry moved to another store": (
        (
            "UPDATE ledger_entry e SET account_id = o.id FROM ledger_account o WHERE o.kind ="
            " 'available' AND o.asset_id = e.asset_id AND o.store_id <> '{store}' AND"
            f" e.movement_id = {SETTLED} AND e.role = 'net'"
        ),
        "splits_add_up",
    ),
    "entries of a movement rebalanced": (
        (
            "UPDATE ledger_entry SET amount_atomic = amount_atomic + CASE role WHEN 'net' THEN 1"
            f" ELSE -1 END WHERE movement_id = {SETTLED} AND role IN ('net', 'service_fee')"
        ),
        "splits_add_up",
    ),
    "checkpoints one up and one down": (
        (
            "UPDATE ledger_account SET checkpoint_atomic = checkpoint_atomic + CASE kind WHEN"
            " 'available' THEN 1 ELSE -1 END WHERE asset_id = 'SETH' AND (kind = 'service_fees' OR"
            " store_id = '{store}' AND kind = 'available')"
        ),
        "checkpoints_true",
    ),
    "fee fraction lowered": (
        f"UPDATE payments_payment SET fee_fraction = fee_fraction / 2 WHERE id = {COMPLETED}",
        "splits_add_up",
    ),
    "account no longer guarded": (
        (
            f"{UNGUARD}UPDATE ledger_account SET is_guarded = false WHERE kind = 'available' AND"
            " store_id = '{store}'"
        ),
        "accounts_guarded",
    ),
    "movement dated back by 40 days": (
        f"UPDATE ledger_movement SET at = at - interval '40 days' WHERE id = {SETTLED}",
        "movements_dated",
    ),
    "correction deleted": (
        (
            f"DELETE FROM ledger_entry WHERE movement_id = {CORRECTED}; DELETE FROM ledger_movement"
            f" WHERE id = {CORRECTED}"
        ),
        "corrections_signed",
    ),
    "correction invented": (correct("5"), "corrections_signed"),
    "live movement dated ahead by 40 days": (
        (
            "UPDATE ledger_movement SET at = at + interval '40 days' WHERE id = (SELECT max(id)"
            " FROM ledger_movement WHERE mode = 'live')"
        ),
        "movements_dated",
    ),
    "live movement dated back by 40 days": (
        (
            "UPDATE ledger_movement SET at = at - interval '40 days' WHERE id = (SELECT max(id)"
            " FROM ledger_movement WHERE mode = 'live' AND kind = 'correction')"
        ),
        "movements_dated",
    ),
    "correction raised": (
        (
            "UPDATE ledger_entry SET amount_atomic = amount_atomic * 2 WHERE movement_id ="
            f" {CORRECTED}"
        ),
        "corrections_signed",
    ),
    "movement of no known kind": (
        f"UPDATE ledger_movement SET kind = 'bonus' WHERE id = {SETTLED}",
        "movements_serve",
    ),
    "refund's movement without the refund": (
        f"UPDATE ledger_movement SET key = 'refund:x' WHERE key = 'refund:' || {REFUND}",
        "movements_serve",
    ),
    "withdrawal raised": (
        "UPDATE payments_withdrawal SET amount_atomic = amount_atomic + 1",
        "withdrawals_booked",
    ),
    "withdrawal readdressed": (
        f"UPDATE payments_withdrawal SET to_address = '{ELSEWHERE}'",
        "withdrawals_booked",
    ),
    "withdrawal let go by somebody else": (
        (
            "UPDATE payments_withdrawal SET decided_by_id = (SELECT id FROM stores_user WHERE id"
            " NOT IN (SELECT decided_by_id FROM payments_withdrawal UNION SELECT requested_by_id"
            " FROM payments_withdrawal) LIMIT 1)"
        ),
        "withdrawals_booked",
    ),
    "withdrawal invented": (
        again("payments_withdrawal", "true", id="gen_random_uuid()", reference="'x'"),
        "withdrawals_booked",
    ),
    "withdrawal deleted": ("DELETE FROM payments_withdrawal", "withdrawals_booked"),
    "correction approved by whoever asked for it": (
        (
            "ALTER TABLE stores_staffrequest DROP CONSTRAINT staff_request_takes_two; "
            "UPDATE stores_staffrequest SET decided_by_id = asked_by_id WHERE state = 'approved'"
        ),
        "corrections_by_two",
    ),
    "staff requests deleted": ("DELETE FROM stores_staffrequest", "corrections_by_two"),
    "staff request of another amount": (
        (
            'UPDATE stores_staffrequest SET content = replace(content, \'"amount_atomic":"\','
            ' \'"amount_atomic":"1\')'
        ),
        "staff_requests_by_two",
    ),
    "staff request approved by somebody else": (
        (
            "UPDATE stores_staffrequest r SET decided_by_id = (SELECT id FROM stores_user u WHERE"
            " u.id NOT IN (r.asked_by_id, r.decided_by_id) LIMIT 1) WHERE state = 'approved'"
        ),
        "staff_requests_by_two",
    ),
    "withdrawal sent twice": (
        again(
            "chain_outgoingtransaction",
            "purpose = 'withdrawal'",
            id="gen_random_uuid()",
            reference="gen_random_uuid()",
            nonce="NULL",
            status="'requested'",
        ),
        "withdrawals_booked",
    ),
    "movement of a withdrawal deleted": (
        (
            "DELETE FROM ledger_entry WHERE movement_id ="
            f" {LAST.replace('{kind}', 'withdrawal_confirmed')}; DELETE FROM ledger_movement WHERE"
            f" id = {LAST.replace('{kind}', 'withdrawal_confirmed')}"
        ),
        "withdrawals_booked",
    ),
    "transfer to cold storage raised": (
        (
            "UPDATE chain_outgoingtransaction SET amount_atomic = amount_atomic + 1 WHERE purpose ="
            " 'cold'"
        ),
        "cold_booked",
    ),
    "movement to cold storage deleted": (
        (
            "DELETE FROM ledger_entry WHERE movement_id ="
            f" {LAST.replace('{kind}', 'cold_transfer_sent')}; DELETE FROM ledger_movement WHERE id"
            f" = {LAST.replace('{kind}', 'cold_transfer_sent')}"
        ),
        "cold_booked",
    ),
    "fee of joined coins raised": (
        (
            "UPDATE chain_outgoingtransaction SET network_fee_atomic = network_fee_atomic + 1"
            " WHERE purpose = 'join'"
        ),
        "joins_booked",
    ),
    "joined coins readdressed": (
        f"UPDATE chain_outgoingtransaction SET to_address = '{ELSEWHERE}' WHERE purpose = 'join'",
        "joins_booked",
    ),
    "movement of joined coins deleted": (
        (
            "DELETE FROM ledger_entry WHERE movement_id ="
            f" {LAST.replace('{kind}', 'coins_joined')}; DELETE FROM ledger_movement WHERE id"
            f" = {LAST.replace('{kind}', 'coins_joined')}"
        ),
        "joins_booked",
    ),
    "movement of joined coins invented": (
        f"UPDATE ledger_movement SET kind = 'coins_joined' WHERE id = {CORRECTED}",
        "movements_serve",
    ),
    "movement to cold storage invented": (
        f"UPDATE ledger_movement SET kind = 'cold_transfer_sent' WHERE id = {CORRECTED}",
        "movements_serve",
    ),
}
