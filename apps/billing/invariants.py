"""Invariants of billing: totals that add up, numbers without gaps, cycles billed once, payments
counted once, and the credit of customers."""

from apps.core.invariant import Invariant

BILLING = (
    Invariant(
        "invoices_add_up",
        "Every invoice is the sum of its lines, less its discount, plus its tax",
        "SELECT count(*) FROM billing_invoice",
        """
SELECT 'invoice ' || id, 'total ' || total_cents || ' is not ' || subtotal_cents || ' - ' ||
    discount_cents || ' + ' || tax_cents
FROM billing_invoice WHERE total_cents <> subtotal_cents - discount_cents + tax_cents
    OR discount_cents > subtotal_cents
   OR least(subtotal_cents, discount_cents, tax_cents, total_cents) < 0
UNION ALL
    SELECT 'invoice ' || i.id, 'subtotal ' || i.subtotal_cents || ', its lines sum to ' ||
    coalesce(l.amount, 0)
FROM billing_invoice i LEFT JOIN (SELECT invoice_id,
    sum(amount_cents - tax_included_cents) AS amount
    FROM billing_invoiceline GROUP BY 1) l
ON l.invoice_id = i.id WHERE i.subtotal_cents <> coalesce(l.amount, 0)
UNION ALL
    SELECT 'line ' || id, amount_cents || ' is not ' || quantity || ' times ' || unit_amount_cents
FROM billing_invoiceline WHERE amount_cents <> quantity * unit_amount_cents
""",
    ),
    Invariant(
        "invoices_taxed_as_said",
        "The discount and the tax of every invoice are what its own rates make of its lines,"
        " rounded half up once for each category and rate",
        "SELECT count(*) FROM billing_invoice",
        """
WITH stepped AS (
    SELECT *, CASE WHEN currency = ANY (%(whole_unit_currencies)s) THEN 100 ELSE 1 END AS step,
           (subtotal_cents - discount_cents) * coalesce(tax_rate_bps, 0)::numeric AS taxed,
           coalesce(CASE discount_type WHEN 'percent' THEN subtotal_cents * discount_value::numeric
                                       WHEN 'amount' THEN 100 * discount_value::numeric
                                           END, 0) AS given,
           EXISTS (SELECT 1 FROM billing_invoicetax t WHERE t.invoice_id = i.id) AS is_grouped,
           EXISTS (SELECT 1 FROM billing_invoiceline l WHERE l.invoice_id = i.id
               AND l.tax_included_cents > 0) AS holds_tax
    FROM billing_invoice i
), worked AS (
    SELECT *, div(2 * taxed + 10000 * step, 20000 * step) * step AS tax,
           least(subtotal_cents, div(2 * given + 100 * step, 200 * step) * step) AS discount
               FROM stepped
), groups AS (
    SELECT t.*, w.step, div(2 * t.base_cents * t.rate_bps::numeric + 10000 * w.step,
        20000 * w.step) * w.step AS worked_tax, coalesce(n.net, 0) AS net
    FROM billing_invoicetax t JOIN worked w ON w.id = t.invoice_id
    LEFT JOIN (SELECT invoice_id, tax_category, tax_rate_bps,
            sum(amount_cents - tax_included_cents) AS net
        FROM billing_invoiceline GROUP BY 1, 2, 3) n ON n.invoice_id = t.invoice_id
        AND n.tax_category = t.category AND n.tax_rate_bps = t.rate_bps
)
SELECT 'invoice ' || id, 'discount ' || discount_cents || ' and tax ' || tax_cents ||
    ', its rates make ' || discount || ' and ' || tax
FROM worked WHERE NOT is_grouped AND tax_cents <> tax
    OR NOT holds_tax AND discount_cents <> discount
UNION ALL SELECT 'invoice ' || invoice_id, 'tax ' || tax_cents || ' on ' || base_cents || ' at ' ||
    rate_bps || ' is not ' || worked_tax
FROM groups WHERE CASE WHEN inclusive THEN abs(tax_cents - worked_tax) > 2 * step
    ELSE tax_cents <> worked_tax END
UNION ALL SELECT 'invoice ' || invoice_id, 'its lines at ' || rate_bps || ' sum to ' || net ||
    ', and not to ' || base_cents || ' + ' || discount_cents
FROM groups WHERE net <> base_cents + discount_cents
UNION ALL SELECT 'invoice ' || w.id, 'its rate is ' || coalesce(r.rate_bps, w.tax_rate_bps) ||
    ', and a line is charged at ' || coalesce(l.tax_rate_bps, 0)
FROM worked w JOIN billing_invoiceline l ON l.invoice_id = w.id
LEFT JOIN billing_taxrate r ON r.id = l.tax_rate_id
WHERE w.is_grouped AND coalesce(r.rate_bps, w.tax_rate_bps) <> coalesce(l.tax_rate_bps, 0)
UNION ALL SELECT 'invoice ' || w.id, 'its taxes sum to ' || g.tax || ', and not to ' || w.tax_cents
FROM worked w JOIN (SELECT invoice_id, sum(tax_cents) AS tax FROM billing_invoicetax GROUP BY 1) g
    ON g.invoice_id = w.id WHERE g.tax <> w.tax_cents
""",
    ),
    Invariant(
        "periods_follow",
        "The running period of a subscription is its trial or the one that its invoice names, and"
        " the next begins where it ends",
        "SELECT count(*) FROM billing_subscription",
        """
SELECT 'subscription ' || s.id, 'its period from ' || s.current_period_start || ' to ' ||
    s.current_period_end || CASE
    WHEN s.next_billing_at IS DISTINCT FROM n.due
        THEN ' is followed at ' || coalesce(s.next_billing_at::text, 'no time')
    WHEN s.current_period_start = s.started_at AND s.trial_end IS NOT NULL THEN ' is not its trial'
    ELSE ' is billed as ' || coalesce(i.description, 'nothing') END
FROM billing_subscription s
CROSS JOIN LATERAL (
    SELECT CASE WHEN s.status IN ('trialing', 'active', 'past_due') THEN s.current_period_end
        END AS due,
           s.current_period_start AT TIME ZONE 'UTC' AS first,
               s.current_period_end AT TIME ZONE 'UTC' AS last) n
CROSS JOIN LATERAL (
    SELECT s.current_period_start AT TIME ZONE coalesce(nullif(s.time_zone, ''), 'UTC') AS first,
           s.current_period_end AT TIME ZONE coalesce(nullif(s.time_zone, ''), 'UTC') AS last) z
LEFT JOIN billing_invoice i ON i.period_key = s.id || ':' ||
    to_char(n.first, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
WHERE s.next_billing_at IS DISTINCT FROM n.due OR CASE
    WHEN s.current_period_start = s.started_at AND s.trial_end IS NOT NULL
        THEN s.current_period_end <> s.trial_end
    WHEN i.supplied_from IS NOT NULL
        THEN i.supplied_from <> z.first::date
          OR i.supplied_until <> greatest(z.first::date, z.last::date - 1)
          OR i.description IS DISTINCT FROM
            to_char(i.supplied_from, 'YYYY-MM-DD') || ' to ' ||
            to_char(i.supplied_until, 'YYYY-MM-DD')
          OR s.time_zone = '' AND z.first::time <> z.last::time
    ELSE i.description IS DISTINCT
        FROM to_char(n.first, 'YYYY-MM-DD') || ' to ' || to_char(n.last, 'YYYY-MM-DD')
      OR n.first::time <> n.last::time END
""",
    ),
    Invariant(
        "invoices_numbered",
        "Finalized invoices, and they alone, have a number and a link; a store's numbers of a mode"
        " have no gaps",
        "SELECT count(*) FROM billing_invoice WHERE number IS NOT NULL",
        """
SELECT 'store ' || i.store_id, i.mode || ' invoices: ' || count(*) || ' numbers up to ' ||
    max(i.number) || ', the counter stands at '
       || coalesce(max(c.last_number), 0)
FROM billing_invoice i LEFT JOIN billing_invoicecounter c ON c.store_id = i.store_id
    AND c.mode = i.mode
WHERE i.number IS NOT NULL GROUP BY i.store_id, i.mode
HAVING count(DISTINCT i.number) <> max(i.number) OR count(*) <> max(i.number)
    OR max(i.number) IS DISTINCT FROM max(c.last_number)
UNION ALL SELECT 'invoice ' || id, 'it is ' || status || CASE WHEN number IS NULL
    THEN ', without a number' ELSE ', with a number' END
FROM billing_invoice WHERE (number IS NULL) <> (finalized_at IS NULL)
    OR (number IS NULL) <> (public_token IS NULL)
   OR (status = 'draft' AND number IS NOT NULL)
       OR (status IN ('open', 'paid', 'uncollectible') AND number IS NULL)
UNION ALL SELECT 'store ' || store_id, mode || ' invoices ' || series || ': ' || count(*)
    || ' numbers from ' || min(series_number) || ' to ' || max(series_number)
FROM billing_invoice WHERE series IS NOT NULL GROUP BY store_id, mode, series
HAVING count(*) <> max(series_number) - min(series_number) + 1
    OR (min(series_number) <> 1 AND series <> 'INV-')
""",
    ),
    Invariant(
        "credit_notes_numbered",
        "Credit notes have numbers without gaps, take back no more than was billed, and are the sum"
        " of their lines",
        "SELECT count(*) FROM billing_creditnote",
        """
SELECT 'store ' || n.store_id, n.mode || ' credit notes: ' || count(*) || ' numbers up to '
    || max(n.number) || ', the counter stands at ' || coalesce(max(c.last_credit_note), 0)
FROM billing_creditnote n LEFT JOIN billing_invoicecounter c ON c.store_id = n.store_id
    AND c.mode = n.mode
GROUP BY n.store_id, n.mode
HAVING count(*) <> max(n.number) OR max(n.number) IS DISTINCT FROM max(c.last_credit_note)
UNION ALL SELECT 'store ' || store_id, mode || ' credit notes ' || series || ': ' || count(*)
    || ' numbers from ' || min(series_number) || ' to ' || max(series_number)
FROM billing_creditnote WHERE series IS NOT NULL GROUP BY store_id, mode, series
HAVING count(*) <> max(series_number) - min(series_number) + 1
    OR (min(series_number) <> 1 AND series <> 'CN-')
UNION ALL SELECT 'credit note ' || n.id, 'it is of ' || n.refunded_cents || ' refunded, and '
    || i.refunded_cents || ' was'
FROM billing_creditnote n JOIN billing_invoice i ON i.id = n.invoice_id
    WHERE n.refunded_cents > i.refunded_cents
UNION ALL SELECT 'invoice ' || i.id, 'credit notes take back ' || sum(n.total_cents) || ' of '
    || i.total_cents
FROM billing_invoice i JOIN billing_creditnote n ON n.invoice_id = i.id
GROUP BY i.id HAVING sum(n.total_cents) > i.total_cents
UNION ALL SELECT 'credit note ' || n.id, 'it takes back ' || n.total_cents || ', its lines '
    || coalesce(sum(l.net_cents + l.tax_cents), 0)
FROM billing_creditnote n LEFT JOIN billing_creditnoteline l ON l.credit_note_id = n.id
GROUP BY n.id HAVING n.total_cents <> coalesce(sum(l.net_cents + l.tax_cents), 0)
""",
    ),
    Invariant(
        "invoices_due_as_told",
        "An invoice was due and paid when its events say",
        "SELECT count(*) FROM billing_invoice WHERE finalized_at IS NOT NULL",
        """
SELECT 'invoice ' || i.id, e.type || ' says that it was due ' || coalesce(
    e.object ->> 'due_at', 'never') || ' and paid ' || coalesce(e.object ->> 'paid_at', 'never')
FROM webhooks_event e JOIN billing_invoice i ON i.id::text = e.object ->> 'id'
WHERE e.type IN ('invoice.finalized', 'invoice.paid')
    AND ((e.object ->> 'due_at')::timestamptz IS DISTINCT FROM i.due_at
      OR e.type = 'invoice.paid'
        AND (e.object ->> 'paid_at')::timestamptz IS DISTINCT FROM i.paid_at)
""",
    ),
    Invariant(
        "subscriptions_as_told",
        "A subscription costs what its newest event says, with the grace, the failed cycles and the"
        " end that it says, and no price is another one than an event said",
        "SELECT count(*) FROM billing_subscription",
        """
SELECT 'subscription ' || s.id, 'its event says ' || (e.object ->> 'quantity') || ' of price ' ||
    (e.object ->> 'price_id') || ' with ' || (e.object ->> 'grace_cycles') || ' cycles of grace'
    || ', failed: ' || (e.object ->> 'failed_cycle_count')
FROM billing_subscription s JOIN (
    SELECT DISTINCT ON (t.object ->> 'id') t.object FROM webhooks_event t
    WHERE t.type LIKE 'subscription.%%' ORDER BY t.object ->> 'id', t.created_at DESC, t.id DESC
) e ON e.object ->> 'id' = s.id::text
WHERE (e.object ->> 'quantity', e.object ->> 'price_id', e.object ->> 'grace_cycles',
    e.object ->> 'cancel_at_period_end', e.object ->> 'failed_cycle_count')
    IS DISTINCT FROM (s.quantity::text, s.price_id::text, s.grace_cycles::text,
    s.cancel_at_period_end::text, s.failed_cycle_count::text)
UNION ALL SELECT DISTINCT 'price ' || (e.object #>> '{price,id}'), CASE WHEN p.id IS NULL
    THEN 'an event says it, and it is gone'
    ELSE 'an event says ' || (e.object #>> '{price,unit_amount_cents}') || ' ' ||
        (e.object #>> '{price,currency}') || ', and it is ' || p.unit_amount_cents || ' ' ||
        p.currency END
FROM webhooks_event e JOIN billing_subscription s ON s.id::text = e.object ->> 'id'
LEFT JOIN billing_price p ON p.id::text = e.object #>> '{price,id}'
WHERE e.type LIKE 'subscription.%%' AND e.object #>> '{price,id}' IS NOT NULL
    AND (e.object #>> '{price,unit_amount_cents}', e.object #>> '{price,currency}',
    e.object #>> '{price,interval}', e.object #>> '{price,interval_count}')
    IS DISTINCT FROM (p.unit_amount_cents::text, p.currency, p.interval, p.interval_count::text)
""",
    ),
    Invariant(
        "cycles_billed_once",
        "Each cycle of a subscription has at most one invoice, its customer's, and the running one"
        " has it",
        "SELECT count(*) FROM billing_subscription",
        """
SELECT 'cycle ' || period_key, 'it has ' || count(*) || ' invoices' FROM billing_invoice
    WHERE period_key IS NOT NULL
GROUP BY period_key HAVING count(*) > 1
UNION ALL
    SELECT 'invoice ' || i.id, 'its cycle key, mode, store or customer is not its subscription''s'
FROM billing_invoice i LEFT JOIN billing_subscription s ON s.id = i.subscription_id
WHERE (i.subscription_id IS NULL) <> (i.period_key IS NULL) OR (i.subscription_id IS NOT NULL AND (
      s.id IS NULL OR split_part(i.period_key, ':', 1) <> s.id::text
      OR (i.store_id, i.mode, i.customer_id) IS DISTINCT FROM (s.store_id, s.mode, s.customer_id)))
UNION ALL
    SELECT 'subscription ' || s.id, 'the period from ' || s.current_period_start ||
    ' was not billed' FROM billing_subscription s
WHERE s.status IN ('active', 'past_due')
    AND NOT EXISTS (SELECT 1 FROM billing_invoice i WHERE i.subscription_id = s.id AND i.period_key
      = s.id || ':' || to_char(s.current_period_start AT TIME ZONE 'UTC',
          'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
UNION ALL
    SELECT 'subscription ' || s.id, 'it is ' || s.status || ', its history says ' ||
    coalesce(h.to_status, 'nothing')
FROM billing_subscription s LEFT JOIN LATERAL (SELECT to_status FROM billing_subscriptionchange
     WHERE subscription_id = s.id ORDER BY id DESC LIMIT 1) h ON true WHERE s.status IS DISTINCT
         FROM h.to_status
""",
    ),
    Invariant(
        "customer_credit_adds_up",
        "A customer's credit is what came for their invoices beyond what is owed, less what was"
        " paid back or used, and never below zero",
        "SELECT count(*) FROM billing_customercreditline",
        """
SELECT 'customer ' || customer_id, 'the credit is ' || sum(amount_cents) || ' ' || currency
FROM billing_customercreditline GROUP BY customer_id, currency HAVING sum(amount_cents) < 0
UNION ALL SELECT 'invoice ' || i.id, 'it took ' || i.credit_applied_cents
    || ' of credit, the lines say ' || coalesce(l.used, 0)
FROM billing_invoice i LEFT JOIN (SELECT invoice_id, -sum(amount_cents) AS used
    FROM billing_customercreditline WHERE kind = 'applied' GROUP BY 1) l ON l.invoice_id = i.id
WHERE i.credit_applied_cents <> coalesce(l.used, 0)
UNION ALL SELECT 'invoice ' || i.id, 'credit of ' || l.moved || ' came from ' || i.amount_paid_cents
FROM billing_invoice i JOIN (SELECT invoice_id, sum(amount_cents) AS moved
    FROM billing_customercreditline WHERE kind <> 'applied' GROUP BY 1) l ON l.invoice_id = i.id
WHERE l.moved < 0 OR l.moved > i.amount_paid_cents
UNION ALL SELECT 'credit line ' || l.id, 'it is of another customer, currency or store'
FROM billing_customercreditline l JOIN billing_invoice i ON i.id = l.invoice_id
WHERE (l.store_id, l.mode, l.customer_id, l.currency)
    IS DISTINCT FROM (i.store_id, i.mode, i.customer_id, i.currency)
""",
    ),
    Invariant(
        "invoices_paid_as_counted",
        "What an invoice was paid is what its intents brought, each counted once, and the credit"
        " that it took; it is paid when that is its total",
        "SELECT count(*) FROM billing_invoicepayment",
        """
SELECT 'invoice ' || i.id, 'paid ' || i.amount_paid_cents || ' and refunded ' || i.refunded_cents ||
    ', its intents brought '
       || coalesce(c.counted, 0) || ', its credit ' || i.credit_applied_cents ||
    ' and gave back ' || coalesce(c.refunded, 0)
FROM billing_invoice i LEFT
    JOIN (SELECT invoice_id, sum(counted_cents + late_cents) AS counted,
    sum(refunded_cents) AS refunded
     FROM billing_invoicepayment GROUP BY 1) c ON c.invoice_id = i.id
WHERE i.amount_paid_cents <> coalesce(c.counted, 0) + i.credit_applied_cents
    OR i.refunded_cents <> coalesce(c.refunded, 0)
UNION ALL
    SELECT 'invoice ' || id, 'it is ' || status || ', and ' || amount_paid_cents || ' of ' ||
    total_cents || ' is paid'
FROM billing_invoice WHERE (status = 'paid' AND amount_paid_cents < total_cents)
    OR (status = 'open' AND amount_paid_cents >= total_cents)
UNION ALL
    SELECT 'invoice ' || i.id, 'it is ' || i.status || ', its history says ' ||
    coalesce(h.to_status, 'nothing')
FROM billing_invoice i LEFT JOIN LATERAL (SELECT to_status FROM billing_invoicechange
     WHERE invoice_id = i.id ORDER BY id DESC LIMIT 1) h ON true
WHERE i.status <> 'draft' AND i.status IS DISTINCT FROM h.to_status
UNION ALL
    SELECT 'payment ' || p.id, 'it is ' || p.status || ', and counted ' || l.counted_cents ||
    ' toward its invoice'
FROM billing_invoicepayment l JOIN payments_payment p ON p.id = l.payment_id
WHERE (l.counted_cents > 0 AND p.completed_at IS NULL)
    OR l.counted_cents + l.late_cents > p.settlement_amount_cents
   OR least(l.counted_cents, l.late_cents) < 0
UNION ALL
    SELECT 'payment ' || l.payment_id,
    'late deposits counted toward its invoice, and none was accepted' FROM billing_invoicepayment l
WHERE l.late_cents > 0 AND NOT EXISTS (SELECT 1 FROM payments_latedeposit d
    WHERE d.payment_id = l.payment_id AND d.accepted_at IS NOT NULL)
UNION ALL SELECT 'invoice ' || l.invoice_id, count(*) || ' intents can be paid'
    FROM billing_invoicepayment l
JOIN payments_payment p ON p.id = l.payment_id WHERE p.status IN ('pending', 'processing')
    GROUP BY l.invoice_id HAVING count(*) > 1
""",
    ),
)
