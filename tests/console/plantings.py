"""What somebody with the database's keys might change, each with the invariant that must name it.
`{store}` is the merchant's."""

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
DEPOSIT = "(SELECT id FROM chain_deposit WHERE status = 'confirmed' AND NOT is_simulated)"
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


def _again(table: str, where: str, **columns: str) -> str:
    changed = ", ".join(f"'{name}', {value}" for name, value in columns.items())
    row = f"(jsonb_populate_record(t, jsonb_build_object({changed}))).*"
    return f"INSERT INTO {table} SELECT {row} FROM {table} t WHERE {where}"


def _correct(amount: str) -> str:
    """A correction that nobody signed, against the treasury as all are."""
    made = COPY.replace("{staff}", ", staff_user_id").format(
        key="correction:x", kind="correction", reference="NULL"
    )
    legs = (
        LEG.format(amount=amount, kind="available", owner="store_id = '{store}'"),
        LEG.format(amount=f"-({amount})", kind="treasury", owner="mode = 'test'"),
    )
    return f"{made} FROM ledger_movement WHERE id = {CORRECTED}; " + "; ".join(legs)


_ZEROED = "; ".join(
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

PLAIN: dict[str, tuple[str, str]] = {
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
    "movement deleted": (
        (
            f"DELETE FROM ledger_entry WHERE movement_id = {DEPOSITED}; DELETE FROM ledger_movement"
            f" WHERE id = {DEPOSITED}"
        ),
        "deposits_booked_once",
    ),
    "payment completed made failed": (
        f"UPDATE payments_payment SET status = 'failed' WHERE id = {COMPLETED}",
        "history_whole",
    ),
    "payment pending made completed": (
        (
            "UPDATE payments_payment SET status = 'completed', completed_at = now() WHERE id ="
            f" {PENDING}"
        ),
        "history_whole",
    ),
    "refund without a transaction": (
        f"UPDATE payments_refund SET is_simulated = false WHERE id = {REFUND}",
        "sent_once",
    ),
    "refund confirmed made failed": (
        f"UPDATE payments_refund SET status = 'failed' WHERE id = {REFUND}",
        "refunds_booked",
    ),
    "refund raised": (
        f"UPDATE payments_refund SET amount_atomic = amount_atomic + 1 WHERE id = {REFUND}",
        "refunds_booked",
    ),
    "payout doubled": (
        _again("payouts_payout", f"id = {PAID_OUT}", id="gen_random_uuid()", idempotency_key="'x'"),
        "payouts_booked",
    ),
    "payout sent twice": (
        _again(
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
    "checkpoints one up and one down": (
        (
            "UPDATE ledger_account SET checkpoint_atomic = checkpoint_atomic + CASE kind WHEN"
            " 'available' THEN 1 ELSE -1 END WHERE asset_id = 'SETH' AND (kind = 'service_fees' OR"
            " store_id = '{store}' AND kind = 'available')"
        ),
        "checkpoints_true",
    ),
    "audit line changed": (
        f"UPDATE stores_auditentry SET actor_name = 'x' WHERE id = {LINE}",
        "audit_log_sealed",
    ),
    "audit line deleted": (f"DELETE FROM stores_auditentry WHERE id = {LINE}", "audit_log_sealed"),
    "audit line slipped in": (
        _again(
            "stores_auditentry",
            f"id = {LINE}",
            id="(SELECT max(id) + 1 FROM stores_auditentry)",
            at="now() - interval '3 days'",
        ),
        "audit_log_sealed",
    ),
    "deposit changed": (
        f"UPDATE chain_deposit SET amount_atomic = amount_atomic + 1 WHERE id = {SIMULATED}",
        "deposits_booked_once",
    ),
    "deposit deleted": (
        f"DELETE FROM chain_deposit WHERE id = {SIMULATED}",
        "deposits_booked_once",
    ),
    "deposit invented": (
        _again("chain_deposit", f"id = {DEPOSIT}", id="gen_random_uuid()", log_index="7"),
        "deposits_booked_once",
    ),
    "deposit moved to another payment": (
        (
            "UPDATE chain_deposit SET address_id = (SELECT address_id FROM payments_paymentaddress"
            f" WHERE payment_id = {PENDING} LIMIT 1) WHERE id = {DEPOSIT}"
        ),
        "deposits_booked_once",
    ),
    "line of history deleted": (
        (
            "DELETE FROM payments_paymentevent WHERE sequence = (SELECT max(sequence) FROM"
            f" payments_paymentevent WHERE payment_id = {COMPLETED} AND event_type ="
            " 'payment_intent.completed')"
        ),
        "history_whole",
    ),
    "event deleted": (
        (
            "DELETE FROM webhooks_event WHERE id = (SELECT id FROM webhooks_event "
            "WHERE type = 'transaction.confirmed' AND store_id = '{store}' LIMIT 1)"
        ),
        "events_told",
    ),
    "delivery deleted": (
        (
            "DELETE FROM webhooks_delivery WHERE id = (SELECT id FROM webhooks_delivery WHERE NOT"
            " is_test LIMIT 1)"
        ),
        "events_told",
    ),
    "invoice open made paid": (
        (
            "UPDATE billing_invoice SET status = 'paid', amount_paid_cents = total_cents WHERE"
            " status = 'open'"
        ),
        "invoices_paid_as_counted",
    ),
    "invoice numbered otherwise": (
        f"UPDATE billing_invoice SET number = 99 WHERE id = {INVOICE}",
        "invoices_numbered",
    ),
    "invoice moved to another cycle": (
        f"UPDATE billing_invoice SET period_key = period_key || 'x' WHERE id = {CYCLE}",
        "cycles_billed_once",
    ),
    "mandate less spent": (
        "UPDATE agents_mandate SET spent_atomic = spent_atomic - 1",
        "mandates_add_up",
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
    "nonce changed": (
        "UPDATE chain_outgoingtransaction SET nonce = 7 WHERE nonce = 1",
        "sent_once",
    ),
    "late deposit accepted by nobody": (
        "UPDATE payments_latedeposit SET accepted_at = now()",
        "payments_settled_once",
    ),
    "fee fraction lowered": (
        f"UPDATE payments_payment SET fee_fraction = fee_fraction / 2 WHERE id = {COMPLETED}",
        "splits_add_up",
    ),
    "payment given to another store": (
        (
            "UPDATE payments_payment SET store_id = (SELECT id FROM stores_store WHERE id <>"
            f" '{{store}}' LIMIT 1) WHERE id = {COMPLETED}"
        ),
        "deposits_booked_once",
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
    "account no longer guarded": (
        (
            f"{UNGUARD}UPDATE ledger_account SET is_guarded = false WHERE kind = 'available' AND"
            " store_id = '{store}'"
        ),
        "accounts_guarded",
    ),
}

HARD: dict[str, tuple[str, str]] = {
    "payout and its transaction readdressed": (
        (
            f"UPDATE payouts_payout SET destination_address = '{ELSEWHERE}' WHERE id = {SENT_OUT};"
            f" UPDATE chain_outgoingtransaction SET to_address = '{ELSEWHERE}' WHERE"
            f" left(reference, 36) = {SENT_OUT}::text"
        ),
        "sent_as_signed",
    ),
    "balance zeroed by a movement of a plausible kind": (_ZEROED, "payouts_booked"),
    "price": (
        (
            "UPDATE payments_payment SET settlement_amount_cents = settlement_amount_cents + 1"
            f" WHERE id = {COMPLETED}"
        ),
        "prices_locked",
    ),
    "required amount": (
        (
            "UPDATE payments_paymentaddress SET required_atomic = required_atomic - 1 WHERE"
            f" payment_id = {COMPLETED}"
        ),
        "prices_locked",
    ),
    "locked rate": (
        (
            "UPDATE payments_paymentaddress SET exchange_rate = exchange_rate * 1.01 WHERE"
            f" payment_id = {COMPLETED}"
        ),
        "prices_locked",
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
    "correction invented": (_correct("5"), "corrections_signed"),
    "delivery marked delivered": (
        (
            "UPDATE webhooks_delivery SET status = 'delivered', delivered_at = now() WHERE status ="
            " 'pending'"
        ),
        "deliveries_made",
    ),
    "event's amount": (
        (
            "UPDATE webhooks_event SET object = jsonb_set(object,"
            f" '{{{{settlement_amount_cents}}}}', '1') WHERE id = {TOLD}"
        ),
        "events_true",
    ),
    "deposit's block number": (
        f"UPDATE chain_deposit SET block_number = block_number + 1 WHERE id = {DEPOSIT}",
        "deposits_in_blocks",
    ),
    "deposit's hash": (
        f"UPDATE chain_deposit SET tx_hash = '0x{'7' * 64}' WHERE id = {DEPOSIT}",
        "deposits_in_blocks",
    ),
    "head moved ahead by 50": ("UPDATE chain_head SET number = number + 50", "blocks_follow"),
    "block missing": ("DELETE FROM chain_block WHERE number = 105", "blocks_follow"),
    "triggers of the ledger disabled": (
        "ALTER TABLE ledger_entry DISABLE TRIGGER USER",
        "guards_stand",
    ),
    "zero-sum trigger dropped": ("DROP TRIGGER entry_checked ON ledger_entry", "guards_stand"),
    "web may change bookings": ("GRANT UPDATE ON ledger_entry TO tillgate_web", "grants_stand"),
    "everybody may look at sessions": ("GRANT SELECT ON django_session TO PUBLIC", "grants_stand"),
    "a worker may no longer book": (
        "REVOKE INSERT ON ledger_movement FROM tillgate_worker",
        "grants_stand",
    ),
    "invoice's tax rate": (
        f"UPDATE billing_invoice SET tax_rate_bps = tax_rate_bps + 100 WHERE id = {INVOICE}",
        "invoices_taxed_as_said",
    ),
    "subscription's period a month later": (
        (
            "UPDATE billing_subscription SET current_period_end = current_period_end + interval '1"
            " month'"
        ),
        "periods_follow",
    ),
    "idempotency key": (
        (
            "UPDATE payments_payment SET idempotency_key = idempotency_key || 'x' WHERE"
            " idempotency_key IS NOT NULL"
        ),
        "payments_sealed",
    ),
    "newest audit seal removed with its lines": (
        (
            "DELETE FROM stores_auditentry e USING stores_auditseal s WHERE e.id = ANY"
            " (s.entry_ids) AND s.number = (SELECT max(number) FROM stores_auditseal); DELETE FROM"
            " stores_auditseal WHERE number = (SELECT max(number) FROM stores_auditseal)"
        ),
        "payments_sealed",
    ),
}

MORE: dict[str, tuple[str, str]] = {
    "fewer pieces than were sold": (
        "UPDATE links_paymentlink SET stock = 1 WHERE stock IS NOT NULL",
        "stock_never_oversold",
    ),
    "link's payment moved to another mode": (
        "UPDATE links_paymentlink SET mode = 'live' WHERE stock IS NOT NULL",
        "link_payments_fit",
    ),
    "the web is shown everybody's payments": (
        "ALTER TABLE payments_payment DISABLE ROW LEVEL SECURITY",
        "policies_stand",
    ),
    "a policy says something else": (
        "ALTER POLICY rows_in_scope ON billing_customer USING (true)",
        "policies_stand",
    ),
    "there is one policy more": (
        "CREATE POLICY mine ON payouts_payout TO tillgate_web USING (true)",
        "policies_stand",
    ),
    "next nonce one too low": (
        "UPDATE chain_hotwallet SET next_nonce = next_nonce - 1",
        "sent_once",
    ),
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
    "rate changed by its last digit": (
        (
            "UPDATE payments_paymentaddress SET exchange_rate = exchange_rate + 1e-18 WHERE"
            f" payment_id = {COMPLETED}"
        ),
        "payments_sealed",
    ),
    "correction raised": (
        (
            "UPDATE ledger_entry SET amount_atomic = amount_atomic * 2 WHERE movement_id ="
            f" {CORRECTED}"
        ),
        "corrections_signed",
    ),
    "idempotency key removed": (
        (
            "UPDATE payments_payment SET idempotency_key = NULL, idempotency_caller = '' WHERE"
            " idempotency_key IS NOT NULL"
        ),
        "payments_sealed",
    ),
    "block's parent changed": (
        f"UPDATE chain_block SET parent_hash = '0x{'7' * 64}' WHERE number = 105",
        "blocks_follow",
    ),
    "head behind": ("UPDATE chain_head SET number = number - 5", "blocks_follow"),
    "deposit's block hash": (
        f"UPDATE chain_deposit SET block_hash = '0x{'7' * 64}' WHERE id = {DEPOSIT}",
        "deposits_in_blocks",
    ),
    "movement of no known kind": (
        f"UPDATE ledger_movement SET kind = 'bonus' WHERE id = {SETTLED}",
        "movements_serve",
    ),
    "refund's movement without the refund": (
        f"UPDATE ledger_movement SET key = 'refund:x' WHERE key = 'refund:' || {REFUND}",
        "movements_serve",
    ),
    "draw booked for another store": (
        (
            "UPDATE ledger_entry e SET account_id = o.id FROM ledger_account o WHERE o.kind ="
            " 'available' AND o.asset_id = 'SETH' AND o.store_id <> '{store}' AND"
            f" e.amount_atomic < 0 AND e.movement_id = {LAST.replace('{kind}', 'x402_settled')}"
        ),
        "draws_are_booked",
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
        _again("payments_withdrawal", "true", id="gen_random_uuid()", reference="'x'"),
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
        _again(
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
    "transfer to cold storage readdressed": (
        f"UPDATE chain_outgoingtransaction SET to_address = '{ELSEWHERE}' WHERE purpose = 'cold'",
        "sent_as_signed",
    ),
    "movement to cold storage deleted": (
        (
            "DELETE FROM ledger_entry WHERE movement_id ="
            f" {LAST.replace('{kind}', 'cold_transfer_sent')}; DELETE FROM ledger_movement WHERE id"
            f" = {LAST.replace('{kind}', 'cold_transfer_sent')}"
        ),
        "cold_booked",
    ),
    "movement to cold storage invented": (
        f"UPDATE ledger_movement SET kind = 'cold_transfer_sent' WHERE id = {CORRECTED}",
        "movements_serve",
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
}
