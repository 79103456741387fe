"""Invariants of what takes two members of staff: asked for by one, approved by another, and nothing
of it done without.

What was done before staff requests came is left alone.
"""

from apps.core.invariant import Invariant

_SINCE = (
    "(SELECT applied FROM django_migrations WHERE app = 'stores' AND name = '0014_staff_requests')"
)
_TERMS_SINCE = (
    "(SELECT applied FROM django_migrations WHERE app = 'assets'"
    " AND name = '0007_confirmations_floor')"
)
_LIMITS_SINCE = (
    "(SELECT applied FROM django_migrations WHERE app = 'ledger'"
    " AND name = '0005_the_web_posts_by_function')"
)
_BY_TWO = (
    "(r.state = 'approved' AND r.decided_by_id IS NOT NULL AND r.decided_by_id <> r.asked_by_id)"
)


def _near(kind: str) -> str:
    """Condition that two approved this kind of request for the target of line `l`, just then."""
    return (
        f"EXISTS (SELECT 1 FROM stores_staffrequest r WHERE r.kind = '{kind}' AND {_BY_TWO} AND"  # noqa: S608  # ours
        f" abs(extract(epoch FROM l.at - r.decided_at)) < 60 AND (r.target_id = l.target_id"
        " OR r.content::jsonb -> 'wanted' ->> 'credential' = l.target_id))"
    )


def _rises(column: str) -> str:
    """Condition that line `l` raises or removes a limit."""
    value = f"l.details -> '{column}'"
    return (
        f"(jsonb_typeof({value}) = 'array' AND coalesce(({value} ->> 1)::numeric >"
        f" ({value} ->> 0)::numeric, {value} ->> 1 IS NULL))"
    )


STAFF = (
    Invariant(
        "staff_requests_by_two",
        "Every approved staff request was approved in time by somebody else, as it was asked, and"
        " the audit log has both",
        "SELECT count(*) FROM stores_staffrequest WHERE state = 'approved'",
        f"""
SELECT 'staff request ' || r.id, 'nobody else approved it in time' FROM stores_staffrequest r
WHERE r.state = 'approved' AND (NOT coalesce({_BY_TWO}, false) OR r.decided_at >= r.expires_at)
UNION ALL SELECT 'staff request ' || r.id, 'it is not what was asked for' FROM stores_staffrequest r
WHERE r.digest <> encode(sha256(convert_to(r.content, 'UTF8')), 'hex')
UNION ALL SELECT 'staff request ' || r.id, 'the audit log doesn''t say who asked for it'
    FROM stores_staffrequest r
WHERE NOT EXISTS (
    SELECT 1 FROM stores_auditentry l WHERE l.action = 'staff_request.asked'
        AND l.target_id = r.id::text
    AND l.details ->> 'digest' = r.digest AND l.details ->> 'asked_by' = r.asked_by_id::text)
UNION ALL SELECT 'staff request ' || r.id, 'the audit log doesn''t say who approved it'
    FROM stores_staffrequest r
WHERE r.state = 'approved' AND NOT EXISTS (
    SELECT 1 FROM stores_auditentry l WHERE l.action = 'staff_request.approved'
        AND l.target_id = r.id::text
    AND l.details ->> 'digest' = r.digest AND l.details ->> 'decided_by' = r.decided_by_id::text)
UNION ALL SELECT 'staff request ' || l.target_id, 'the audit log says that it was approved'
    FROM stores_auditentry l
WHERE l.action = 'staff_request.approved' AND NOT EXISTS (
    SELECT 1 FROM stores_staffrequest r WHERE r.id::text = l.target_id AND r.state = 'approved')
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "corrections_by_two",
        "Every correction was asked for by one member of staff and approved by another, but for"
        " what the chain brought a hot wallet",
        "SELECT count(*) FROM stores_auditentry WHERE action = 'books.corrected' AND at >"  # noqa: S608  # ours
        f" {_SINCE}",
        f"""
SELECT 'movement ' || m.id, CASE WHEN r.id IS NULL THEN 'nobody asked for this correction'
    WHEN coalesce({_BY_TWO}, false) THEN 'two approved another correction'
        ELSE 'nobody else approved this correction' END
FROM stores_auditentry l JOIN ledger_movement m ON m.id = (l.details ->> 'movement')::bigint
LEFT JOIN stores_staffrequest r ON r.id::text = l.details ->> 'request' AND r.kind = 'correction'
LEFT JOIN LATERAL (SELECT r.content::jsonb -> 'wanted' AS wanted) w ON true
WHERE l.action = 'books.corrected' AND l.at > {_SINCE}
  AND NOT (m.key LIKE 'correction:funding:%%' AND l.details ->> 'account' = 'custody_hot')
  AND NOT coalesce({_BY_TWO} AND r.asked_by_id = m.staff_user_id
      AND m.key = 'correction:' || (w.wanted ->> 'key')
      AND m.mode = w.wanted ->> 'mode' AND l.details ->> 'asset' = w.wanted ->> 'asset'
      AND l.details ->> 'account' = w.wanted ->> 'account'
          AND l.details ->> 'amount_atomic' = w.wanted ->> 'amount_atomic'
      AND l.store_id::text IS NOT DISTINCT FROM w.wanted ->> 'store', false)
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "payouts_let_go",
        "Every payout that left review was approved, above the threshold by two members of staff,"
        " or waited for a stop that ended by itself",
        "SELECT count(*) FROM stores_auditentry WHERE action = 'payout.approved' AND at >"  # noqa: S608  # ours
        f" {_SINCE}",
        f"""
SELECT 'payout ' || l.target_id, 'worth ' ||
    coalesce(l.details ->> 'worth_cents', 'an unknown number of') || ' cents, one let it go'
FROM stores_auditentry l LEFT JOIN stores_staffrequest r ON r.id::text = l.details ->> 'request'
    AND r.kind = 'payout'
WHERE l.action = 'payout.approved' AND l.at > {_SINCE}
  AND coalesce((l.details ->> 'worth_cents')::numeric > (l.details ->> 'limit_cents')::numeric,
      true)
  AND NOT coalesce({_BY_TWO} AND r.target_id = l.target_id, false)
UNION ALL SELECT 'payout ' || t.payout_id, 'it was held for review, and nobody let it go' FROM (
    SELECT payout_id, to_status, note, lead(to_status)
        OVER (PARTITION BY payout_id ORDER BY id) AS next FROM payouts_payouttransition
) t JOIN payouts_payout p ON p.id = t.payout_id
WHERE t.to_status = 'requires_review' AND t.note = ANY (%(held_for_review)s)
    AND t.next IN ('pending', 'submitted', 'confirmed')
  AND p.created_at > {_SINCE} AND NOT EXISTS (
    SELECT 1 FROM stores_auditentry l WHERE l.action = 'payout.approved'
        AND l.target_id = t.payout_id::text)
  AND NOT (t.note = %(asset_stopped)s AND EXISTS (
    SELECT 1 FROM stores_auditentry l JOIN stores_auditentry e
        ON e.action = 'asset.review_ended' AND e.actor_kind = 'system' AND e.store_id = l.store_id
        AND e.mode = l.mode AND e.target_name = p.asset_id
        AND e.id < l.id AND e.at > l.at - interval '1 hour'
    WHERE l.action = 'payout.released' AND l.target_id = t.payout_id::text
        AND l.store_id = stores_origin(p.store_id) AND l.mode = p.mode))
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "staff_acts_by_two",
        "No second factor, card network, dispatch, staff role, member's role, fee, review,"
        " payout limit or confirmations were changed on the staff site without a second member of"
        " staff",
        "SELECT count(*) FROM stores_auditentry WHERE actor_kind = 'staff'",
        f"""
SELECT 'account ' || l.target_name, 'one took off its second factor' FROM stores_auditentry l
WHERE l.action = 'second_factor.removed' AND l.actor_kind IN ('staff', 'command')
    AND l.at > {_SINCE} AND NOT {_near("second_factor")}
UNION ALL SELECT 'card network ' || l.target_name, 'one changed it' FROM stores_auditentry l
WHERE l.action IN ('card_credential.created', 'card_credential.changed')
    AND l.actor_kind IN ('staff', 'command') AND l.at > {_SINCE}
  AND l.details -> 'changed' <> '[]' AND NOT {_near("card_network")}
UNION ALL SELECT 'store ' || l.target_id, 'one changed its cards or agents' FROM stores_auditentry l
WHERE l.action = 'store.changed' AND l.actor_kind = 'staff' AND l.at > {_SINCE}
    AND NOT {_near("dispatch")}
  AND (l.details ?| ARRAY['authorization_provider', 'authorization_url', 'authorization_policy']
       OR 'true' IN (l.details -> 'x402_dispatch' ->> 1, l.details -> 'card_funding_live' ->> 1,
           l.details -> 'card_funding_test' ->> 1))
UNION ALL
    SELECT 'account ' || l.target_name, 'one gave it the staff roles ' ||
    (l.details -> 'roles' ->> 1) FROM stores_auditentry l
WHERE l.action = 'staff.roles_changed' AND l.actor_kind = 'staff' AND l.at > {_SINCE}
    AND NOT {_near("staff_roles")} AND EXISTS (
    SELECT 1 FROM unnest(ARRAY['admin', 'finance']) AS given
    WHERE strpos(l.details -> 'roles' ->> 1, given) > 0
        AND strpos(l.details -> 'roles' ->> 0, given) = 0)
UNION ALL SELECT 'store ' || l.store_id, 'one changed the role of ' || l.target_name
    FROM stores_auditentry l
WHERE l.action = 'member.role_changed' AND l.actor_kind = 'staff' AND l.at > {_TERMS_SINCE}
    AND NOT EXISTS (SELECT 1 FROM stores_staffrequest r WHERE r.kind = 'member_role' AND {_BY_TWO}
        AND r.content::jsonb -> 'wanted' ->> 'user' = l.target_id
        AND r.content::jsonb -> 'wanted' ->> 'store' = l.store_id::text
        AND abs(extract(epoch FROM l.at - r.decided_at)) < 60)
UNION ALL SELECT 'store ' || l.target_id, 'one changed its fees or reviews'
    FROM stores_auditentry l
WHERE l.action IN ('store.changed', 'staff.changed') AND l.actor_kind = 'staff'
    AND l.target_type = 'store' AND l.at > {_TERMS_SINCE} AND NOT {_near("store_terms")}
    AND (l.details ?| ARRAY['fee_fraction', 'platform_fee_fraction', 'payout_network_fee']
        OR 'true' IN (l.details -> 'is_platform' ->> 1, l.details -> 'platform_may_pay_out' ->> 1)
        OR l.details -> 'review_new_destinations' ->> 1 = 'false'
        OR l.details -> 'kyc_confirmed_at' ->> 1 IS NOT NULL
        OR {_rises("underpayment_tolerance_bps")} OR {_rises("overpayment_tolerance_bps")}
        OR {_rises("payout_review_threshold_cents")})
UNION ALL SELECT 'store ' || l.target_id, 'one suspended it, or ended that'
    FROM stores_auditentry l,
        LATERAL unnest(ARRAY['payments', 'payouts', 'sign_ins']) AS part
WHERE l.action IN ('store.changed', 'staff.changed') AND l.actor_kind = 'staff'
    AND l.target_type = 'store' AND l.details ? (part || '_suspended_at')
    AND NOT EXISTS (SELECT 1 FROM stores_staffrequest r WHERE r.kind = 'suspension' AND {_BY_TWO}
        AND r.target_id = l.target_id || ':' || part
        AND abs(extract(epoch FROM l.at - r.decided_at)) < 60)
UNION ALL SELECT 'store ' || l.store_id, 'one raised its payout limits'
    FROM stores_auditentry l
WHERE l.action IN ('payout_cap.changed', 'staff.changed') AND l.actor_kind = 'staff'
    AND l.target_type = 'storepayoutcap' AND l.at > {_LIMITS_SINCE} AND NOT {_near("payout_limits")}
    AND ({_rises("per_tx_atomic")} OR {_rises("daily_atomic")})
UNION ALL SELECT 'chain ' || l.target_id, 'one changed its confirmations' FROM stores_auditentry l
WHERE l.action IN ('chain.changed', 'staff.changed') AND l.actor_kind = 'staff'
    AND l.target_type = 'chain' AND l.at > {_TERMS_SINCE} AND NOT {_near("confirmations")}
    AND l.details ? 'required_confirmations'
""",  # noqa: S608  # our own text
    ),
)
