"""Changes of payments, deposits, refunds, events and billing.

Each with the invariant that must name it.
"""

from tests.console.plantings.rows import (
    COMPLETED,
    CYCLE,
    DEPOSIT,
    DEPOSITED,
    ELSEWHERE,
    INVOICE,
    PENDING,
    REFUND,
    SIMULATED,
    TOLD,
    again,
)

SALES: dict[str, tuple[str, str]] = {
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
    "refund confirmed made failed": (
        f"UPDATE payments_refund SET status = 'failed' WHERE id = {REFUND}",
        "refunds_booked",
    ),
    "refund raised": (
        f"UPDATE payments_refund SET amount_atomic = amount_atomic + 1 WHERE id = {REFUND}",
        "refunds_booked",
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
        again("chain_deposit", f"id = {DEPOSIT}", id="gen_random_uuid()", log_index="7"),
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
    "late deposit accepted by nobody": (
        "UPDATE payments_latedeposit SET accepted_at = now()",
        "payments_settled_once",
    ),
    "payment given to another store": (
        (
            "UPDATE payments_payment SET store_id = (SELECT id FROM stores_store WHERE id <>"
            f" '{{store}}' LIMIT 1) WHERE id = {COMPLETED}"
        ),
        "deposits_booked_once",
    ),
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
    "fewer pieces than were sold": (
        "UPDATE links_paymentlink SET stock = 1 WHERE stock IS NOT NULL",
        "stock_never_oversold",
    ),
    "link's payment moved to another mode": (
        "UPDATE links_paymentlink SET mode = 'live' WHERE stock IS NOT NULL",
        "link_payments_fit",
    ),
    "rate changed by its last digit": (
        (
            "UPDATE payments_paymentaddress SET exchange_rate = exchange_rate + 1e-18 WHERE"
            f" payment_id = {COMPLETED}"
        ),
        "payments_sealed",
    ),
    "idempotency key removed": (
        (
            "UPDATE payments_payment SET idempotency_key = NULL, idempotency_caller = '' WHERE"
            " idempotency_key IS NOT NULL"
        ),
        "payments_sealed",
    ),
    "reason of a completed payment": (
        (
            "UPDATE payments_payment SET state_reason = 'completed_underpaid' WHERE id ="
            f" {COMPLETED}"
        ),
        "history_whole",
    ),
    "payment called card-funded": (
        f"UPDATE payments_payment SET is_card_funded = true WHERE id = {PENDING}",
        "card_payments_known",
    ),
    "card's shortfall": (
        f"UPDATE payments_payment SET card_shortfall_bps = 5000 WHERE id = {PENDING}",
        "card_payments_known",
    ),
    "invoice due a month later": (
        "UPDATE billing_invoice SET due_at = due_at + interval '30 days' WHERE status = 'open'",
        "invoices_due_as_told",
    ),
    "invoice paid a month earlier": (
        f"UPDATE billing_invoice SET paid_at = paid_at - interval '30 days' WHERE id = {INVOICE}",
        "invoices_due_as_told",
    ),
    "subscription's quantity": (
        "UPDATE billing_subscription SET quantity = quantity + 1",
        "subscriptions_as_told",
    ),
    "subscription's grace": (
        "UPDATE billing_subscription SET grace_cycles = grace_cycles + 5",
        "subscriptions_as_told",
    ),
    "subscription that ends with its period": (
        "UPDATE billing_subscription SET cancel_at_period_end = NOT cancel_at_period_end",
        "subscriptions_as_told",
    ),
    "deposit's sender": (
        f"UPDATE chain_deposit SET from_address = '{ELSEWHERE}' WHERE id = {SIMULATED}",
        "events_true",
    ),
    "deposit on the chain's sender": (
        f"UPDATE chain_deposit SET from_address = '{ELSEWHERE}' WHERE id = {DEPOSIT}",
        "events_true",
    ),
    "payment said to be given back in full": (
        "UPDATE payments_payment SET refund_state = 'full' WHERE refund_state = 'partial'",
        "payments_marked",
    ),
    "payment said to be given back in part": (
        f"UPDATE payments_payment SET refund_state = 'partial' WHERE id = {COMPLETED}",
        "payments_marked",
    ),
    "refunded payment said to be whole": (
        "UPDATE payments_payment SET refund_state = 'none' WHERE refund_state = 'partial'",
        "payments_marked",
    ),
    "settlement of a completed payment": (
        f"UPDATE payments_payment SET settlement_status = 'failed' WHERE id = {COMPLETED}",
        "payments_marked",
    ),
    "settlement of a payment that nobody paid": (
        f"UPDATE payments_payment SET settlement_status = 'completed' WHERE id = {PENDING}",
        "payments_marked",
    ),
    "payment whose refund waits asks for nobody": (
        "UPDATE payments_payment SET needs_attention = '' WHERE needs_attention = 'held_refund'",
        "payments_marked",
    ),
    "payment that waits for nothing": (
        f"UPDATE payments_payment SET needs_attention = 'held_refund' WHERE id = {COMPLETED}",
        "payments_marked",
    ),
    "payment by no card that waits for a card's refund": (
        f"UPDATE payments_payment SET needs_attention = 'card_refund' WHERE id = {COMPLETED}",
        "payments_marked",
    ),
    "less said to be left at an address": (
        f"UPDATE chain_deposit SET is_unswept = false, left_atomic = amount_atomic - 1 WHERE id ="
        f" {DEPOSIT}",
        "left_as_booked",
    ),
    "more said to be left at an address": (
        f"UPDATE chain_deposit SET is_unswept = false, left_atomic = amount_atomic + 1 WHERE id ="
        f" {DEPOSIT}",
        "left_as_booked",
    ),
    "card payment that waits for nobody": (
        "UPDATE payments_payment SET needs_attention = '' WHERE needs_attention = 'card_refund'",
        "payments_marked",
    ),
    "deposit called lost": (
        f"UPDATE chain_deposit SET is_lost = true WHERE id = {DEPOSIT}",
        "deposits_booked_once",
    ),
    "confirmations of a deposit": (
        f"UPDATE chain_deposit SET required_confirmations = 1 WHERE id = {DEPOSIT}",
        "events_true",
    ),
    "late deposit deleted": ("DELETE FROM payments_latedeposit", "refunds_go_back"),
    "refund's destination": (
        f"UPDATE payments_refund SET destination_address = '{ELSEWHERE}' WHERE id = {REFUND}",
        "refunds_go_back",
    ),
    "refund by itself sent elsewhere": (
        f"UPDATE payments_refund SET destination_address = '{ELSEWHERE}', held_id = NULL"
        " WHERE reason = 'failed_underpaid'",
        "refunds_go_back",
    ),
    "refund's reason": (
        f"UPDATE payments_refund SET reason = 'failed_underpaid' WHERE id = {REFUND}",
        "refunds_go_back",
    ),
    "link's payment deleted": ("DELETE FROM links_linkpayment", "link_payments_fit"),
    "price of a subscription": (
        "UPDATE billing_price SET unit_amount_cents = unit_amount_cents - 1",
        "subscriptions_as_told",
    ),
    "interval of a price": (
        "UPDATE billing_price SET interval_count = interval_count + 1",
        "subscriptions_as_told",
    ),
    "price deleted": ("DELETE FROM billing_price", "subscriptions_as_told"),
    "failed cycles of a subscription": (
        "UPDATE billing_subscription SET failed_cycle_count = 5",
        "subscriptions_as_told",
    ),
    "event's status": (
        (
            "UPDATE webhooks_event SET object = jsonb_set(object, '{{status}}', '\"failed\"')"
            f" WHERE id = {TOLD}"
        ),
        "events_true",
    ),
    "event's reason": (
        (
            "UPDATE webhooks_event SET object = jsonb_set(object, '{{state_reason}}',"
            f" '\"completed_overpaid\"') WHERE id = {TOLD}"
        ),
        "events_true",
    ),
    "coin in an event": (
        "UPDATE webhooks_event SET object = jsonb_set(object, '{{transaction,asset_id}}',"
        " '\"ETH\"') WHERE type = 'transaction.confirmed'",
        "events_true",
    ),
}
