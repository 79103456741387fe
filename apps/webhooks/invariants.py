"""Invariants of what merchants hear: every line of history once, to those who subscribed, with
the figures of its record, and to their platform.

Old events are pruned: only what is younger than that, by a day's margin, is asked for. History has
the times of its store; a test clock only goes forward, so what it is ahead by now is the most that
it can have been.
"""

from apps.core.invariant import Invariant, written_since

_KEPT = "now() - make_interval(days => %(webhook_kept_days)s) + interval '1 day'"


def _kept(row: str, *, mode: str) -> str:
    """SQL: whether every event since this row was written is still there; `s` is its store."""
    ahead = f"CASE {mode} WHEN 'test' THEN s.test_offset_seconds ELSE 0 END"
    return f"{row}.created_at - {ahead} * interval '1 second' > {_KEPT}"


TOLD = (
    Invariant(
        "events_told",
        "Every line of history that can be subscribed to is an event, for its platform as well, and"
        " each event has a delivery per active endpoint that asked",
        "SELECT count(*) FROM webhooks_event",
        f"""
SELECT 'payment ' || h.payment_id, h.lines || ' times ' || h.event_type || ', told ' ||
    coalesce(t.told, 0) || ' times' FROM (
    SELECT e.payment_id, e.event_type, p.store_id, p.mode, count(*) AS lines
    FROM payments_paymentevent e JOIN payments_payment p ON p.id = e.payment_id
    JOIN stores_store s ON s.id = p.store_id
    WHERE e.event_type = ANY (%(subscribable)s) AND {_kept("e", mode="p.mode")}
    GROUP BY 1, 2, 3, 4) h
LEFT JOIN (
    SELECT e.store_id, e.mode, e.type, e.object ->> 'payment_intent_id' AS payment_id,
        count(*) AS told
    FROM webhooks_event e JOIN stores_store s ON s.id = e.store_id
    WHERE e.account_id IS NULL AND {_kept("e", mode="e.mode")} GROUP BY 1, 2, 3, 4) t
ON t.payment_id = h.payment_id::text AND t.type = h.event_type AND t.store_id = h.store_id
    AND t.mode = h.mode
WHERE h.lines <> coalesce(t.told, 0)
UNION ALL SELECT 'payment ' || p.id, 'its platform heard ' || e.type || ' ' ||
    count(e.account_id) || ' times, its store ' || count(*) FILTER (WHERE e.account_id IS NULL) ||
    ' times, or it was another platform'
FROM payments_payment p JOIN stores_store s ON s.id = p.store_id
JOIN webhooks_event e ON e.object ->> 'payment_intent_id' = p.id::text
WHERE {_kept("p", mode="p.mode")}
GROUP BY p.id, e.type
HAVING count(e.account_id)
    <> count(*) FILTER (WHERE e.account_id IS NULL AND p.platform_id IS NOT NULL)
    OR bool_or(e.account_id IS NOT NULL AND
        (e.store_id, e.account_id) IS DISTINCT FROM (p.platform_id, stores_origin(p.store_id)))
UNION ALL SELECT 'event ' || e.id, 'endpoint ' || p.id || ' was not told' FROM webhooks_event e
JOIN webhooks_endpoint p ON p.store_id = e.store_id AND p.mode = e.mode
    AND e.type = ANY (p.subscribed_events)
WHERE p.status = 'active' AND p.deleted_at IS NULL
    AND greatest(p.created_at, p.updated_at) < e.created_at AND e.created_at > {_KEPT}
  AND NOT EXISTS (SELECT 1 FROM webhooks_delivery d WHERE d.event_id = e.id
      AND (d.endpoint_id = p.id OR d.is_test))
UNION ALL SELECT 'event ' || e.id, 'it tells of a payment, and its delivery says it is a test'
FROM webhooks_delivery d JOIN webhooks_event e ON e.id = d.event_id
JOIN payments_payment p ON p.id::text = e.object ->> 'payment_intent_id' WHERE d.is_test
""",  # noqa: S608  # our own text
        is_incremental=True,
    ),
    Invariant(
        "events_true",
        "Prices, coins, statuses and totals in an event agree with its record",
        "SELECT count(*) FROM webhooks_event",
        """
SELECT 'event ' || e.id, e.type || ' says ' || (e.object ->> 'settlement_amount_cents') || ' '
       || (e.object ->> 'settlement_currency') || ', the payment ' || p.settlement_amount_cents ||
           ' ' || p.settlement_currency
FROM webhooks_event e JOIN payments_payment p ON p.id::text = e.object ->> 'payment_intent_id'
WHERE (e.object ->> 'settlement_amount_cents', e.object ->> 'settlement_currency',
    e.object ->> 'reference')
   IS DISTINCT FROM (p.settlement_amount_cents::text, p.settlement_currency, p.reference)
UNION ALL
    SELECT 'event ' || e.id, e.type || ' says ' ||
    coalesce(e.object #>> '{transaction,amount_atomic}', 'nothing')
       || ', the history nothing of it'
FROM webhooks_event e JOIN payments_payment p ON p.id::text = e.object ->> 'payment_intent_id'
WHERE e.type LIKE 'transaction.%%' AND NOT EXISTS (
    SELECT 1 FROM payments_paymentevent h WHERE h.payment_id = p.id AND h.event_type = e.type
    AND h.payload ->> 'amount_atomic' = e.object #>> '{transaction,amount_atomic}'
    AND h.payload ->> 'tx_hash' = e.object #>> '{transaction,tx_hash}')
UNION ALL
    SELECT 'event ' || e.id, e.type || ' says that the coins came from ' ||
    (e.object #>> '{transaction,from_address}') || ', and no deposit of the payment does'
FROM webhooks_event e JOIN payments_payment p ON p.id::text = e.object ->> 'payment_intent_id'
WHERE e.type LIKE 'transaction.%%' AND e.object #>> '{transaction,from_address}' <> ''
  AND NOT EXISTS (
    SELECT 1 FROM chain_deposit d WHERE d.id IN (SELECT c.id FROM payments_paymentaddress a
            JOIN chain_deposit c ON c.address_id = a.address_id WHERE a.payment_id = p.id
        UNION SELECT l.deposit_id FROM payments_latedeposit l WHERE l.payment_id = p.id)
    AND d.tx_hash = e.object #>> '{transaction,tx_hash}'
    AND lower(d.from_address) = lower(e.object #>> '{transaction,from_address}'))
  AND NOT EXISTS (
    SELECT 1 FROM payments_latedeposit l JOIN chain_deposit d ON d.id = l.deposit_id
    WHERE l.payment_id = p.id AND d.tx_hash = e.object #>> '{transaction,tx_hash}'
    AND lower(d.from_address) = lower(e.object #>> '{transaction,from_address}'))
UNION ALL SELECT 'event ' || e.id, e.type || ' says ' || coalesce(e.object ->> 'status', 'nothing')
    || ' (' || coalesce(e.object ->> 'state_reason', 'no reason') || '), the history another one'
FROM webhooks_event e JOIN payments_payment p ON p.id::text = e.object ->> 'payment_intent_id'
WHERE e.type LIKE 'payment_intent.%%' AND NOT EXISTS (
    SELECT 1 FROM payments_paymentevent h WHERE h.payment_id = p.id AND h.event_type = e.type
    AND (h.from_status, h.to_status, h.payload ->> 'state_reason') IS NOT DISTINCT FROM
        (e.object ->> 'from_status', e.object ->> 'to_status', e.object ->> 'state_reason')
    AND h.to_status IS NOT DISTINCT FROM e.object ->> 'status')
UNION ALL
    SELECT 'event ' || e.id, e.type || ' says another coin, address or number of confirmations than'
    || ' any deposit of ' || (e.object #>> '{transaction,tx_hash}')
FROM webhooks_event e JOIN payments_payment p ON p.id::text = e.object ->> 'payment_intent_id'
WHERE e.type LIKE 'transaction.%%' AND NOT EXISTS (
    SELECT 1 FROM payments_paymentevent h JOIN chain_deposit d
        ON d.id::text = h.payload ->> 'deposit_id'
    WHERE h.payment_id = p.id AND h.event_type = e.type
    AND h.payload ->> 'tx_hash' = e.object #>> '{transaction,tx_hash}'
    AND d.asset_id = e.object #>> '{transaction,asset_id}'
    AND lower(d.address_id) = lower(e.object #>> '{transaction,deposit_address}')
    AND d.required_confirmations::text = e.object #>> '{transaction,required_confirmations}')
UNION ALL
    SELECT 'event ' || e.id, e.type || ' says ' || (e.object ->> 'total_cents') ||
    ', the invoice ' || i.total_cents
FROM webhooks_event e JOIN billing_invoice i ON i.id::text = e.object ->> 'id'
WHERE e.type LIKE 'invoice.%%' AND (e.object ->> 'total_cents', e.object ->> 'currency')
   IS DISTINCT FROM (i.total_cents::text, i.currency)
""",
        is_incremental=True,
    ),
    Invariant(
        "deliveries_queued",
        "A delivery is in the queue while it is pending or attempted, with the same columns",
        "SELECT count(*) FROM webhooks_queueddelivery",
        """
SELECT 'delivery ' || coalesce(d.id, q.delivery_id), 'it is ' || coalesce(d.status, 'not there')
    || ', and in the queue ' || coalesce(q.status, 'it is not')
FROM (
    SELECT * FROM webhooks_delivery WHERE status IN ('pending', 'attempting')
) d FULL JOIN webhooks_queueddelivery q ON q.delivery_id = d.id
WHERE (d.id, d.endpoint_id, d.status, d.attempts, d.next_attempt_at, d.claimed_until)
    IS DISTINCT FROM
    (q.delivery_id, q.endpoint_id, q.status, q.attempts, q.next_attempt_at, q.claimed_until)
""",
    ),
    Invariant(
        "deliveries_made",
        "Every delivered webhook was sent and answered with success, and no other has a "
        "delivery time",
        "SELECT count(*) FROM webhooks_delivery",
        """
SELECT 'delivery ' || id, 'it is ' || status || ' after ' || attempts ||
    ' attempts and an answer of '
       || coalesce(response_status::text, 'nothing')
FROM webhooks_delivery WHERE (status = 'delivered') <> (delivered_at IS NOT NULL)
    OR (status = 'delivered' AND (
    attempts < 1 OR response_status IS NULL OR response_status NOT BETWEEN 200 AND 299
        OR duration_ms IS NULL
    OR next_attempt_at IS NOT NULL OR delivered_at < created_at - interval '1 day'))
""",
        is_incremental=True,
        narrowed={
            "webhooks_delivery": (
                f"SELECT * FROM webhooks_delivery n WHERE {written_since('n')}"  # noqa: S608  # ours
            )
        },
    ),
)
ENDPOINTS = (
    Invariant(
        "endpoints_logged",
        "Every webhook endpoint is on or off as the audit log last said, but for those that the"
        " service turned off",
        "SELECT count(*) FROM webhooks_endpoint",
        """
WITH lines AS (
    SELECT DISTINCT ON (target_id) target_id, action FROM stores_auditentry
    WHERE action IN ('webhook_endpoint.created', 'webhook_endpoint.enabled',
        'webhook_endpoint.disabled', 'webhook_endpoint.deleted')
        OR action = 'webhook_endpoint.secret_rotated' AND details ? 'adopted'
    ORDER BY target_id, id DESC
)
SELECT 'endpoint ' || p.id, CASE WHEN l.action = 'webhook_endpoint.deleted'
    THEN 'it is there again, and the audit log says that it was deleted'
    ELSE 'it is ' || p.status || ', and the audit log says ' || l.action END
FROM webhooks_endpoint p JOIN lines l ON l.target_id = p.id::text
WHERE CASE l.action WHEN 'webhook_endpoint.deleted' THEN p.deleted_at IS NULL
    WHEN 'webhook_endpoint.disabled' THEN p.status = 'active'
    ELSE p.status = 'disabled' OR p.deleted_at IS NOT NULL END
""",
    ),
)
