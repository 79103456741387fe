"""Corruptions that the self-audit finds: each is planted in the day of trade of test_verify_ledger,
past every rule of the database."""

LAST_OF = "(SELECT max(id) FROM ledger_movement WHERE kind = '{kind}')"
FIRST_SETTLED = "(SELECT min(id) FROM ledger_movement WHERE kind = 'payment_settled')"
SETTLED = LAST_OF.format(kind="payment_settled")
DEPOSITED = LAST_OF.format(kind="deposit_confirmed")
RETURNED = LAST_OF.format(kind="platform_fee_returned")
COPY = (
    "INSERT INTO ledger_movement (key, kind, mode, reference, reason, at) SELECT 'again', kind,"
    " mode, reference, reason, at "
)
LEGS = (
    "INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role) SELECT"
    " (SELECT max(id) FROM ledger_movement), account_id, asset_id, {sign}amount_atomic, role FROM"
    " ledger_entry WHERE movement_id = {movement}"
)
LAST_COMPLETED = (
    "(SELECT id FROM payments_payment WHERE status = 'completed' ORDER BY created_at DESC LIMIT 1)"
)
CONFIRMED = "(SELECT id FROM chain_deposit WHERE status = 'confirmed' LIMIT 1)"
CONFIRMED_REFUND = "(SELECT id FROM payments_refund WHERE status = 'confirmed' LIMIT 1)"
LAST_EVENT = (
    "(SELECT max(sequence) FROM payments_paymentevent WHERE event_type ="
    " 'payment_intent.completed')"
)

CORRUPTIONS: dict[str, tuple[str, str]] = {
    "a day's sum is raised by one": (
        "UPDATE payments_dailysum SET amount_atomic = amount_atomic + 1",
        "daily_sums_true",
    ),
    "bookings grow": ("UPDATE reports_hourlybooking SET in_atomic = 1", "hourly_bookings_true"),
    "bookings are deleted": ("DELETE FROM reports_hourlybooking", "hourly_bookings_true"),
    "a mark has more": ("UPDATE ledger_balancemark SET balance_atomic = 1", "balance_marks_true"),
    "an hour has more payments": ("UPDATE payments_hourlysum SET payments = 9", "hourly_sums_true"),
    "what a merchant sold is deleted": ("DELETE FROM payments_soldsum", "sold_sums_true"),
    "a merchant's month grows": ("UPDATE payments_soldspan SET cents = 1", "sold_spans_true"),
    "a platform has more": ("UPDATE stores_merchantcount SET accounts = 9", "merchants_counted"),
    "a merchant isn't counted": ("DELETE FROM stores_countedmerchant", "merchants_counted"),
    "a platform's day is lost": ("DELETE FROM payments_platformsum", "sold_spans_true"),
    "an amount is raised by one": (
        (
            "UPDATE ledger_entry SET amount_atomic = amount_atomic + 1 WHERE movement_id ="
            f" {SETTLED} AND role = 'net'"
        ),
        "movements_balance",
    ),
    "an entry is deleted": (
        f"DELETE FROM ledger_entry WHERE movement_id = {SETTLED} AND role = 'service_fee'",
        "movements_balance",
    ),
    "every entry of a movement is deleted": (
        f"DELETE FROM ledger_entry WHERE movement_id = {RETURNED}",
        "movements_balance",
    ),
    "a sign is turned": (
        (
            f"UPDATE ledger_entry SET amount_atomic = -amount_atomic WHERE movement_id = {SETTLED}"
            " AND role = 'net'"
        ),
        "books_close",
    ),
    "an entry is given to another asset": (
        f"UPDATE ledger_entry SET asset_id = 'ETH' WHERE movement_id = {DEPOSITED}",
        "entries_fit",
    ),
    "a movement is deleted and its entries are not": (
        f"DELETE FROM ledger_movement WHERE id = {DEPOSITED}",
        "entries_fit",
    ),
    "a movement is moved to live mode": (
        f"UPDATE ledger_movement SET mode = 'live' WHERE id = {DEPOSITED}",
        "entries_fit",
    ),
    "an account is moved to live mode": (
        "UPDATE ledger_account SET mode = 'live' WHERE kind = 'custody_simulated'",
        "entries_fit",
    ),
    "more is spent than there was, and given back later": (
        (
            f"{COPY} FROM ledger_movement WHERE id = {SETTLED}; INSERT INTO ledger_entry"
            " (movement_id, account_id, asset_id, amount_atomic, role) SELECT (SELECT max(id) FROM"
            " ledger_movement), id, asset_id, CASE kind WHEN 'reserved' THEN -(10::numeric ^ 30)"
            " ELSE 10::numeric ^ 30 END, 'principal' FROM ledger_account WHERE kind IN"
            " ('reserved', 'held') AND asset_id = 'SETH' AND store_id = '{store}';"
            f" {COPY.replace('again', 'back')} FROM ledger_movement WHERE id = {SETTLED}; INSERT"
            " INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role) SELECT"
            " (SELECT max(id) FROM ledger_movement), id, asset_id, CASE kind WHEN 'reserved' THEN"
            " 10::numeric ^ 30 ELSE -(10::numeric ^ 30) END, 'principal' FROM ledger_account WHERE"
            " kind IN ('reserved', 'held') AND asset_id = 'SETH' AND store_id = '{store}'"
        ),
        "guarded_never_negative",
    ),
    "a checkpoint is invented": (
        "UPDATE ledger_account SET checkpoint_atomic = 5 WHERE kind = 'available'",
        "checkpoints_true",
    ),
    "a checkpoint skips entries": (
        "UPDATE ledger_account SET checkpoint_id = 9000000000000 WHERE kind = 'available'",
        "checkpoints_true",
    ),
    "a deposit's booking is taken out": (
        (
            f"DELETE FROM ledger_entry WHERE movement_id = {DEPOSITED}; DELETE FROM ledger_movement"
            f" WHERE id = {DEPOSITED}"
        ),
        "deposits_booked_once",
    ),
    "a deposit is booked twice": (
        COPY.replace("'again'", f"'deposit:' || {CONFIRMED} || ':again'")
        + f"FROM ledger_movement WHERE key = 'deposit:' || {CONFIRMED}; "
        + LEGS.format(
            sign="",
            movement=f"(SELECT id FROM ledger_movement WHERE key = 'deposit:' || {CONFIRMED})",
        ),
        "deposits_booked_once",
    ),
    "a deposit is made larger": (
        f"UPDATE chain_deposit SET amount_atomic = amount_atomic + 1 WHERE id = {CONFIRMED}",
        "deposits_booked_once",
    ),
    "a booked deposit never confirmed": (
        (
            "UPDATE chain_deposit SET status = 'confirming', handled_status = 'confirming' WHERE"
            f" id = {CONFIRMED}"
        ),
        "deposits_booked_once",
    ),
    "a booked deposit is deleted": (
        f"DELETE FROM chain_deposit WHERE id = {CONFIRMED}",
        "deposits_booked_once",
    ),
    "a deposit is given to another payment": (
        f"UPDATE ledger_movement SET reference = gen_random_uuid() WHERE id = {DEPOSITED}",
        "deposits_booked_once",
    ),
    "a real deposit is booked as a simulated one": (
        f"UPDATE chain_deposit SET is_simulated = false, block_number = 1 WHERE id = {CONFIRMED}",
        "deposits_booked_once",
    ),
    "a settlement is taken out": (
        (
            f"DELETE FROM ledger_entry WHERE movement_id = {SETTLED}; DELETE FROM ledger_movement"
            f" WHERE id = {SETTLED}"
        ),
        "payments_settled_once",
    ),
    "a payment is settled twice": (
        (
            f"{COPY} FROM ledger_movement WHERE id = {FIRST_SETTLED};"
            f" {LEGS.format(sign='', movement=FIRST_SETTLED)}"
        ),
        "payments_settled_once",
    ),
    "a payment that was settled never completed": (
        f"UPDATE payments_payment SET completed_at = NULL WHERE id = {LAST_COMPLETED}",
        "payments_settled_once",
    ),
    "a settled payment is deleted": (
        f"DELETE FROM payments_payment WHERE id = {LAST_COMPLETED}",
        "payments_settled_once",
    ),
    "a late deposit is accepted and not settled": (
        "UPDATE payments_latedeposit SET accepted_at = now()",
        "payments_settled_once",
    ),
    "the fee is one unit more than agreed": (
        (
            "UPDATE ledger_entry SET amount_atomic = amount_atomic + CASE role WHEN 'net' THEN -1"
            f" ELSE 1 END WHERE movement_id = {SETTLED} AND role IN ('net', 'service_fee')"
        ),
        "splits_add_up",
    ),
    "the platform's share goes to the merchant": (
        (
            "UPDATE ledger_entry SET account_id = (SELECT account_id FROM ledger_entry WHERE"
            f" movement_id = {SETTLED} AND role = 'net') WHERE movement_id = {SETTLED} AND role ="
            " 'platform_fee'"
        ),
        "splits_add_up",
    ),
    "a share is called by another name": (
        (
            f"UPDATE ledger_entry SET role = 'network_fee' WHERE movement_id = {SETTLED} AND role ="
            " 'service_fee'"
        ),
        "splits_add_up",
    ),
    "an open refund is deleted": (
        "DELETE FROM payments_refund WHERE status = 'pending'",
        "reserved_is_open",
    ),
    "an open refund is made larger": (
        "UPDATE payments_refund SET amount_atomic = amount_atomic + 1 WHERE status = 'pending'",
        "reserved_is_open",
    ),
    "a refund is called failed that was confirmed": (
        f"UPDATE payments_refund SET status = 'failed' WHERE id = {CONFIRMED_REFUND}",
        "refunds_booked",
    ),
    "a confirmed refund is made smaller": (
        (
            "UPDATE payments_refund SET amount_atomic = amount_atomic - 1 WHERE id ="
            f" {CONFIRMED_REFUND}"
        ),
        "refunds_booked",
    ),
    "more is refunded than came in": (
        (
            "UPDATE payments_refund SET amount_atomic = 10::numeric ^ 40 WHERE id ="
            f" {CONFIRMED_REFUND}"
        ),
        "refunds_booked",
    ),
    "a refund was never sent": (
        f"UPDATE payments_refund SET is_simulated = false WHERE id = {CONFIRMED_REFUND}",
        "sent_once",
    ),
    "a nonce is skipped": (
        (
            "UPDATE chain_outgoingtransaction SET nonce = 2 WHERE nonce = 1; UPDATE chain_hotwallet"
            " SET next_nonce = 3"
        ),
        "sent_once",
    ),
    "the next nonce is a used one": ("UPDATE chain_hotwallet SET next_nonce = 1", "sent_once"),
    "a status is changed without a word": (
        f"UPDATE payments_payment SET status = 'failed' WHERE id = {LAST_COMPLETED}",
        "history_whole",
    ),
    "a line of history is deleted": (
        "DELETE FROM payments_paymentevent WHERE event_type = 'payment_intent.processing'",
        "history_whole",
    ),
    "a payment comes back from its end": (
        (
            "INSERT INTO payments_paymentevent (id, payment_id, event_type, from_status, to_status,"
            " payload, created_at) SELECT gen_random_uuid(), id, 'payment_intent.processing',"
            " 'expired', 'processing', '{{}}', now() FROM payments_payment WHERE status ="
            " 'expired'; UPDATE payments_payment SET status = 'processing' WHERE status = 'expired'"
        ),
        "history_whole",
    ),
    "history has no beginning": (
        "DELETE FROM payments_paymentevent WHERE event_type = 'payment_intent.created'",
        "history_whole",
    ),
    "an event is deleted": (
        (
            "DELETE FROM webhooks_event WHERE id = (SELECT id FROM webhooks_event WHERE type ="
            " 'transaction.confirmed' AND account_id IS NULL LIMIT 1)"
        ),
        "events_told",
    ),
    "a platform's event is deleted": (
        (
            "DELETE FROM webhooks_event WHERE id = (SELECT id FROM webhooks_event WHERE type ="
            " 'transaction.confirmed' AND account_id IS NOT NULL LIMIT 1)"
        ),
        "events_told",
    ),
    "a platform's event is told to another store": (
        "UPDATE webhooks_event SET store_id = account_id WHERE account_id IS NOT NULL",
        "events_told",
    ),
    "a platform's event becomes its sub-merchant's": (
        "UPDATE webhooks_event SET account_id = NULL WHERE account_id IS NOT NULL",
        "events_told",
    ),
    "an event is told twice": (
        (
            "UPDATE payments_paymentevent SET event_type = 'payment_intent.failed' WHERE sequence"
            f" = {LAST_EVENT}"
        ),
        "events_told",
    ),
    "a delivery is deleted": ("DELETE FROM webhooks_delivery", "events_told"),
    "an event tells another price": (
        (
            "UPDATE webhooks_event SET object = object || '{{\"settlement_amount_cents\": 1}}'"
            " WHERE type = 'payment_intent.completed'"
        ),
        "events_true",
    ),
    "an event tells of other coins": (
        (
            "UPDATE webhooks_event SET object = jsonb_set(object, '{{transaction,amount_atomic}}',"
            " '\"1\"') WHERE type = 'transaction.confirmed'"
        ),
        "events_true",
    ),
    "a delivery leaves the queue before its end": (
        "DELETE FROM webhooks_queueddelivery",
        "deliveries_queued",
    ),
    "a delivery that has ended is in the queue": (
        "UPDATE webhooks_delivery SET status = 'ignored'",
        "deliveries_queued",
    ),
    "a delivery that nobody answered is said to have arrived": (
        "UPDATE webhooks_delivery SET status = 'delivered', delivered_at = now()",
        "deliveries_made",
    ),
}
