"""Invariants of who is let in: keys, agents' credentials and members of a team are what the audit
log says of them.

What was made before the audit log began is left alone.
"""

from apps.core.invariant import Invariant

_LOG_BEGAN = "(SELECT min(at) FROM stores_auditentry)"

CREDENTIALS = (
    Invariant(
        "credentials_logged",
        "Every key and agent credential was made by somebody in the audit log, with those scopes,"
        " and none that was revoked works again",
        "SELECT (SELECT count(*) FROM access_apikey) + (SELECT count(*) FROM"
        " access_agentcredential)",
        f"""
WITH credential AS (
    SELECT 'API key ' || id AS subject, id, key_type AS kind, scopes, created_at, revoked_at,
        NULL::uuid AS application_id FROM access_apikey
    UNION ALL SELECT 'agent credential ' || id, id, NULL, scopes, created_at, revoked_at,
        application_id FROM access_agentcredential
), lines AS (
    SELECT target_id, max(id) FILTER (WHERE action LIKE '%%.created') AS created,
        max(id) FILTER (WHERE action LIKE '%%.revoked') AS revoked
    FROM stores_auditentry WHERE action IN ('api_key.created', 'api_key.revoked',
        'agent_credential.created', 'agent_credential.revoked') GROUP BY 1
), compared AS (
    SELECT c.subject, CASE
        WHEN l.created IS NULL AND c.created_at > {_LOG_BEGAN}
            THEN 'the audit log doesn''t say who made it'
        WHEN c.revoked_at IS NULL AND l.revoked > coalesce(l.created, 0)
            THEN 'it works, and the audit log says that it was revoked'
        WHEN c.revoked_at IS NULL AND NOT a.is_active THEN 'it works, and its app is turned off'
        WHEN m.details ? 'scopes' AND m.details -> 'scopes' <> to_jsonb(c.scopes)
            THEN 'its scopes are not those in the audit log'
        WHEN m.details ->> 'type' <> c.kind THEN 'it is not the kind of key in the audit log'
    END AS why
    FROM credential c LEFT JOIN lines l ON l.target_id = c.id::text
    LEFT JOIN stores_auditentry m ON m.id = l.created
    LEFT JOIN access_application a ON a.id = c.application_id
)
SELECT subject, why FROM compared WHERE why IS NOT NULL
UNION ALL SELECT 'app ' || a.id, 'it may be let in, and the audit log says that it was turned off'
FROM access_application a WHERE a.is_active AND EXISTS (
    SELECT FROM stores_auditentry l WHERE l.action = 'oauth_app.deactivated'
        AND l.target_id = a.id::text)
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "members_joined",
        "Everybody in a store's team has opened it or joined it by the audit log, and nobody who"
        " joined is missing without having left",
        "SELECT count(*) FROM stores_member",
        f"""
WITH opened AS (
    SELECT store_id, max(details ->> 'user') AS user_id FROM stores_auditentry
    WHERE action = 'store.opened' GROUP BY 1
), lines AS (
    SELECT DISTINCT ON (store_id, target_id) store_id, target_id, action FROM stores_auditentry
    WHERE action IN ('member.joined', 'member.role_changed', 'member.left', 'member.removed',
        'store.ownership_handed_over') OR action = 'staff.deleted' AND target_type = 'user'
    ORDER BY store_id, target_id, id DESC
)
SELECT 'member ' || m.id, CASE WHEN l.action IS NULL
    THEN 'nobody of the audit log has let ' || m.user_id || ' in'
    ELSE 'the audit log says that ' || m.user_id || ' has left' END
FROM stores_member m JOIN stores_store s ON s.id = m.store_id
LEFT JOIN opened o ON o.store_id = m.store_id
LEFT JOIN lines l ON l.store_id = m.store_id AND l.target_id = m.user_id::text
WHERE CASE WHEN l.action IS NOT NULL THEN l.action IN ('member.left', 'member.removed')
    WHEN o.user_id IS NOT NULL THEN o.user_id <> m.user_id::text
    WHEN o.store_id IS NOT NULL THEN m.created_at <> s.created_at
    ELSE m.created_at > {_LOG_BEGAN} AND m.created_at <> s.created_at END
UNION ALL SELECT 'store ' || l.store_id, l.target_id || ' joined its team, and is not in it'
FROM lines l JOIN stores_store s ON s.id = l.store_id AND s.deleted_at IS NULL
WHERE l.action IN ('member.joined', 'member.role_changed', 'store.ownership_handed_over')
    AND NOT EXISTS (SELECT FROM stores_member m WHERE m.store_id = l.store_id
        AND m.user_id::text = l.target_id)
    AND NOT EXISTS (SELECT FROM stores_auditentry c WHERE c.target_id = l.target_id
        AND c.action IN ('person.closed', 'staff.deleted'))
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "ways_in_logged",
        "Every passkey and invitation was made by somebody in the audit log, second factors that"
        " were set up are there, and the staff have the roles that it says",
        "SELECT count(*) FROM stores_user",
        f"""
WITH factors AS (
    SELECT DISTINCT ON (target_id) target_id, action FROM stores_auditentry
    WHERE action IN ('second_factor.set_up', 'second_factor.removed', 'person.closed')
    ORDER BY target_id, id DESC
), roles AS (
    SELECT DISTINCT ON (target_id) target_id, details -> 'roles' ->> 1 AS said
    FROM stores_auditentry WHERE action = 'staff.roles_changed' ORDER BY target_id, id DESC
)
SELECT 'passkey ' || k.id, 'the audit log doesn''t say who added it'
FROM django_otp_webauthn_webauthncredential k WHERE k.created_at > {_LOG_BEGAN}
    AND NOT EXISTS (SELECT FROM stores_auditentry l
        WHERE l.action = 'passkey.added' AND l.target_id = k.id::text)
UNION ALL SELECT 'invitation ' || i.id, 'the audit log doesn''t say who sent it, or with this role'
FROM stores_invitation i WHERE i.created_at > {_LOG_BEGAN}
    AND NOT EXISTS (SELECT FROM stores_auditentry l WHERE l.action = 'member.invited'
        AND l.target_id = i.id::text AND l.details ->> 'role' = i.role
        AND l.store_id = i.store_id)
UNION ALL SELECT 'account ' || f.target_id, 'its second factor was set up, and is gone'
FROM factors f WHERE f.action = 'second_factor.set_up'
    AND NOT EXISTS (SELECT FROM access_secondfactor s WHERE s.user_id::text = f.target_id
        AND s.confirmed)
    AND EXISTS (SELECT FROM stores_user u WHERE u.id::text = f.target_id)
UNION ALL SELECT 'account ' || r.target_id, 'it is staff as other than the audit log says'
FROM roles r JOIN stores_user u ON u.id::text = r.target_id
WHERE CASE WHEN u.is_staff THEN array_to_string(u.staff_roles, ', ') ELSE '' END
    IS DISTINCT FROM replace(r.said, 'none', '') OR u.is_superuser
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "founders_own",
        "Whoever opened a store is its owner, as long as the audit log says nothing else",
        "SELECT count(*) FROM stores_auditentry WHERE action = 'store.opened'",
        """
WITH opened AS (
    SELECT s.id, m.id AS member_id, m.user_id, m.role, u.staff_changes
    FROM stores_store s
    LEFT JOIN stores_member m ON m.store_id = s.id AND m.created_at = s.created_at
    LEFT JOIN LATERAL (SELECT count(*) AS staff_changes FROM stores_auditentry l
        WHERE l.store_id = s.id AND (l.action = 'staff.changed' AND NOT l.details ? 'typed'
            OR l.action = 'store.ownership_handed_over' AND NOT l.details ? 'role')) u ON true
    WHERE s.deleted_at IS NULL AND EXISTS (SELECT FROM stores_auditentry l
        WHERE l.action = 'store.opened' AND l.store_id = s.id)
)
SELECT 'store ' || id, 'who opened it is its ' || role FROM opened o
WHERE role <> 'owner' AND staff_changes = 0 AND NOT EXISTS (
    SELECT FROM stores_auditentry l WHERE l.store_id = o.id AND l.target_id = o.user_id::text
    AND l.action IN ('member.joined', 'member.role_changed', 'store.ownership_handed_over'))
UNION ALL SELECT 'store ' || id, 'who opened it is not in its team any more' FROM opened o
WHERE member_id IS NULL AND staff_changes = 0 AND NOT EXISTS (
    SELECT FROM stores_auditentry l WHERE l.store_id = o.id
    AND l.action IN ('member.left', 'member.removed', 'store.closed', 'staff.deleted'))
""",
    ),
)
