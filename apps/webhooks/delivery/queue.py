"""The queue: claiming what is due, writing down what became of it. What waits is found in a table
that follows the deliveries by triggers: who writes locks and changes a delivery (decision 375).

Claims are made one process after the other: of an endpoint two, or more by one process that sends
two at a time; of a host that has never answered 2xx one, however many endpoints name it. A claim
ends with its lease; a result that comes later is not written.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import connection
from msgspec import json

from apps.core import crypto, jobs
from apps.core.clock import real_now
from apps.core.db import locks
from apps.core.db.sql import Statement, array, rows_in_turn
from apps.core.rows import Job
from apps.webhooks import formats, signing
from apps.webhooks.delivery import readiness
from apps.webhooks.models import Delivery, Endpoint

JOB = Job("webhooks.deliver", in_transaction=False)
PER_ENDPOINT_MAX = 2
LEASE_SECONDS = 90
ATTEMPTS_MAX = 10

# Statements in one message, which is one transaction: the last sees what the process that held the
# lock before has claimed. It goes endpoint by endpoint along the index of what may be due, so the
# length of one queue doesn't matter to the others, and endpoints that only wait for a retry aren't
# read: what turns out to be early is demoted until its time comes. A delivery that somebody is
# changing is left to the next claim. Claims and results don't wait for the disk unless a caller's
# transaction does: losing the newest in a crash means sending twice, which receivers must bear.
_UNHURRIED = """set_config('synchronous_commit', CASE WHEN %(is_alone)s::boolean THEN 'off'
    ELSE current_setting('synchronous_commit') END, true)"""
_LOCK = Statement(f"SELECT pg_advisory_xact_lock(%(lock)s::bigint), {_UNHURRIED}")
_PROMOTE = Statement(readiness.PROMOTE)
_PROMOTE_OF_STORE = Statement(readiness.PROMOTE_OF_STORE)
_CLAIM = Statement(f"""
WITH RECURSIVE {readiness.endpoints("ready", "status = 'pending' AND is_ready")},
early AS ({readiness.DEMOTE}), possible AS (
    SELECT one.id, one.next_attempt_at, p.url, p.host, p.sealed_secret, p.api_version,
        moved.seconds, known.yes AS is_known, p.store_id, p.format,
           p.verified_at IS NULL OR p.id = ANY (%(slow)s::uuid[]) AS is_slow
    FROM ready
    JOIN webhooks_endpoint p ON p.id = ready.endpoint_id AND p.status = 'active'
        AND p.deleted_at IS NULL
    JOIN stores_store s ON s.id = p.store_id
    CROSS JOIN LATERAL (SELECT CASE p.mode WHEN 'test' THEN s.test_offset_seconds ELSE 0
        END AS seconds) moved
    CROSS JOIN LATERAL (
        SELECT p.host = ANY (%(excused)s::text[])
            OR EXISTS (SELECT 1 FROM webhooks_host h WHERE h.name = p.host) AS yes
    ) known
    CROSS JOIN LATERAL (
        SELECT count(*) AS count FROM webhooks_queueddelivery q
        WHERE q.endpoint_id = p.id AND q.status = 'attempting'
            AND q.claimed_until > %(now)s::timestamptz
    ) under_way
    LEFT JOIN unnest(%(held_ids)s::uuid[], %(held_counts)s::int[], %(batches)s::int[])
        AS held(endpoint_id, count, batch) ON held.endpoint_id = p.id
    CROSS JOIN LATERAL (
        SELECT q.delivery_id AS id, q.next_attempt_at FROM webhooks_queueddelivery q
        WHERE q.endpoint_id = p.id AND q.status = 'pending' AND q.is_ready
            AND q.next_attempt_at <= %(now)s::timestamptz + moved.seconds * interval '1 second'
        ORDER BY q.next_attempt_at LIMIT greatest(CASE
            WHEN under_way.count <= held.count THEN held.batch - held.count
            ELSE %(per_endpoint)s::int - under_way.count END, 0)
    ) one
    WHERE (%(store_id)s::uuid IS NULL OR (p.store_id = %(store_id)s AND p.mode = 'test'))
      AND (known.yes OR NOT EXISTS (
          SELECT 1 FROM webhooks_endpoint o JOIN webhooks_queueddelivery q ON q.endpoint_id = o.id
          WHERE o.host = p.host AND q.status = 'attempting'
              AND q.claimed_until > %(now)s::timestamptz))
), due AS (
    SELECT * FROM (
        SELECT ranked.*, row_number()
            OVER (PARTITION BY is_slow ORDER BY store_turn, next_attempt_at, id) AS place FROM (
            SELECT possible.*, row_number()
                OVER (PARTITION BY host ORDER BY next_attempt_at, id) AS host_turn,
                   row_number()
                       OVER (PARTITION BY store_id, is_slow
                       ORDER BY next_attempt_at, id) AS store_turn FROM possible
        ) ranked WHERE is_known OR host_turn = 1
    ) placed WHERE place <= CASE WHEN is_slow THEN %(slow_limit)s::int ELSE %(limit)s::int END
), free AS (
    SELECT d.id FROM due JOIN webhooks_delivery d ON d.id = due.id AND d.status = 'pending'
    FOR UPDATE OF d SKIP LOCKED
)
UPDATE webhooks_delivery d SET status = 'attempting', claimed_until = %(until)s::timestamptz
FROM free JOIN due USING (id), webhooks_event e WHERE d.id = free.id AND e.id = d.event_id
RETURNING d.id, d.endpoint_id, d.attempts, d.mode, due.url, due.host, due.sealed_secret,
    due.api_version, due.seconds,
          e.id, e.type, floor(extract(epoch
              FROM e.created_at))::bigint, e.account_id, e.object::text, due.is_slow,
          due.store_id, due.format
""")  # noqa: S608  # our own text

# Every attempt that failed is kept, for the next one writes over it on the delivery. A retry for an
# endpoint that was turned off meanwhile isn't kept for later. The last arrival at an endpoint is
# noted to the second, so that a busy endpoint's row isn't written with every answer. A delivery
# that failed for good turns its endpoint off. Answers with one row: endpoints turned off, those of
# what waits that are off or were changed, and hosts that answered for the first time.
_RECORD = Statement(f"""
WITH kept AS (
    UPDATE webhooks_delivery d SET
        attempts = d.attempts + 1, claimed_until = NULL, response_status = r.response_status,
            response_body = r.response_body,
        error = r.error, duration_ms = r.duration_ms,
        delivered_at = CASE r.status WHEN 'delivered' THEN r.at END,
        status = CASE WHEN r.status = 'pending' AND NOT is_on.yes THEN 'ignored' ELSE r.status END,
        next_attempt_at = CASE WHEN is_on.yes THEN r.next_attempt_at END
    FROM json_to_recordset(%(results)s::json)
         AS r(id uuid, claimed_until timestamptz, status text, next_attempt_at timestamptz,
             response_status int, response_body text, error text, duration_ms int, at timestamptz)
    JOIN webhooks_delivery mine ON mine.id = r.id
    JOIN webhooks_endpoint p ON p.id = mine.endpoint_id
    CROSS JOIN LATERAL (SELECT p.status = 'active' AND p.deleted_at IS NULL AS yes) is_on
    WHERE d.id = r.id AND d.status = 'attempting' AND d.claimed_until = r.claimed_until
    RETURNING d.id, d.attempts, d.endpoint_id, r.status, r.at, r.response_status, r.response_body,
        r.error, r.duration_ms
), failed_ones AS (
    INSERT INTO webhooks_attempt (delivery_id, number, at, response_status, response_body, error,
        duration_ms)
    SELECT id, attempts, at, response_status, response_body, error, duration_ms FROM kept
        WHERE status <> 'delivered'
), stopped AS (
    UPDATE webhooks_endpoint p
        SET status = 'error', disabled_at = failed.at, updated_at = failed.at, is_notice_due = true
    FROM (SELECT endpoint_id, max(at) AS at FROM kept WHERE status = 'failed' GROUP BY endpoint_id
        ORDER BY endpoint_id) failed
    WHERE p.id = failed.endpoint_id AND p.status = 'active' AND p.deleted_at IS NULL
    RETURNING p.id
), ignored AS (
    UPDATE webhooks_delivery d SET status = 'ignored', next_attempt_at = NULL
    FROM stopped JOIN webhooks_queueddelivery q ON q.endpoint_id = stopped.id
        AND q.status = 'pending'
    WHERE d.id = q.delivery_id AND d.status = 'pending'
), arrived AS (
    SELECT endpoint_id, max(at) AS at FROM kept WHERE status = 'delivered' GROUP BY endpoint_id
), verified AS (
    UPDATE webhooks_endpoint p SET verified_at = greatest(p.verified_at, arrived.at)
    FROM (SELECT e.id FROM webhooks_endpoint e JOIN arrived a ON a.endpoint_id = e.id
          WHERE (e.verified_at IS NULL OR e.verified_at < a.at - interval '1 second')
            AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.endpoint_id = e.id
                AND kept.status = 'failed')
          ORDER BY e.id FOR NO KEY UPDATE OF e) mine
    JOIN arrived ON arrived.endpoint_id = mine.id
    WHERE p.id = mine.id
)
SELECT ARRAY(SELECT id FROM stopped), ARRAY(
    SELECT was.id FROM json_to_recordset(%(waiting)s::json)
        AS was(id uuid, url text, api_version text, sealed_secret text)
    WHERE was.id IN (SELECT id FROM stopped) OR NOT EXISTS (
        SELECT FROM webhooks_endpoint p WHERE p.id = was.id AND p.status = 'active'
            AND p.deleted_at IS NULL AND p.url = was.url AND p.sealed_secret = was.sealed_secret
            AND p.api_version IS NOT DISTINCT FROM was.api_version)
), ARRAY(
    SELECT DISTINCT name FROM json_array_elements_text(%(hosts)s::json) AS h(name)
    WHERE NOT EXISTS (SELECT FROM webhooks_host known WHERE known.name = h.name)
), {_UNHURRIED}
""")  # noqa: S608  # our own text


_ANSWERED = """
INSERT INTO webhooks_host (name, answered_at)
SELECT name, %(now)s::timestamptz FROM unnest(%(hosts)s::text[]) AS h(name)
ORDER BY name ON CONFLICT DO NOTHING
"""


class Claimed(NamedTuple):
    """A row of the statement that claims, in its order."""

    id: uuid.UUID
    endpoint_id: uuid.UUID
    attempts: int
    mode: str
    url: str
    host: str
    sealed_secret: str
    api_version: str
    offset_seconds: int
    event_id: uuid.UUID
    event_type: str
    created: int
    account_id: uuid.UUID | None
    object_json: str
    is_slow: bool
    store_id: uuid.UUID
    format: str


class HeldClaims(NamedTuple):
    """The claims of an endpoint that the caller holds, and how many it may hold alone."""

    endpoint_id: uuid.UUID
    held: int
    limit: int


@dataclass(frozen=True)
class DueAttempt:
    """A delivery that this process has claimed and must send now."""

    delivery_id: uuid.UUID
    number: int
    claimed_until: datetime
    offset_seconds: int
    url: str
    body: bytes
    headers: dict[str, str]
    endpoint_id: uuid.UUID
    host: str = ""
    api_version: str = ""
    sealed_secret: str = ""
    is_slow: bool = False


@dataclass(frozen=True)
class AttemptResult:
    """Result of an attempt. `status` is the delivery's next; times are store time."""

    attempt: DueAttempt
    status: str
    at: datetime
    next_attempt_at: datetime | None = None
    response_status: int | None = None
    response_body: str | None = None
    error: str | None = None
    duration_ms: int = 0


def claim(
    now: datetime,
    limit: int,
    store_id: uuid.UUID | None = None,
    *,
    slow: Collection[uuid.UUID] = (),
    slow_limit: int | None = None,
    held: Collection[HeldClaims] = (),
) -> list[DueAttempt]:
    """Up to `limit` attempts that are due at `now` (machine time), signed; with `store_id`, of that
    store's test mode alone.

    Endpoints that have never answered 2xx, and those named `slow`, have a lane of their own with
    `slow_limit`. In each, stores take turns. Of an endpoint there are two claims at most, or those
    that `held` allows where nobody else holds any.
    """
    slow_limit = limit if slow_limit is None else slow_limit
    if limit <= 0 and slow_limit <= 0:
        return []
    until = now + timedelta(seconds=LEASE_SECONDS)
    values = {
        "lock": locks.WEBHOOK_CLAIM,
        "is_alone": not connection.in_atomic_block,
        "now": now,
        "until": until,
        "limit": limit,
        "slow": array(slow),
        "slow_limit": slow_limit,
        "store_id": store_id,
        "per_endpoint": PER_ENDPOINT_MAX,
        "held_ids": array(row.endpoint_id for row in held),
        "held_counts": array(row.held for row in held),
        "batches": array(row.limit for row in held),
        "moved": readiness.MOVED_MAX,
        "excused": [host.lower().rstrip(".") for host in settings.WEBHOOK_ALLOW_HOSTS],
    }
    promote = _PROMOTE if store_id is None else _PROMOTE_OF_STORE
    rows = [Claimed(*row) for row in rows_in_turn(_LOCK, promote, _CLAIM, **values)]
    attempts: list[DueAttempt] = []
    secrets: dict[
        uuid.UUID, str
    ] = {}  # an endpoint with many deliveries has its secret opened once
    # One that can't be signed keeps its claim: the lease is its pause, and the others go out.
    JOB.each(
        lambda: rows,
        lambda row: attempts.append(_attempt(row, until, now, secrets)),
        id_of=lambda row: str(row.id),
    )
    return attempts


def _attempt(
    row: Claimed, until: datetime, now: datetime, secrets: dict[uuid.UUID, str]
) -> DueAttempt:
    raw = _body(row)
    if row.endpoint_id not in secrets:
        secrets[row.endpoint_id] = crypto.decrypt(
            row.sealed_secret, signing.secret_place(row.endpoint_id)
        )
    secret = secrets[row.endpoint_id]
    headers = {
        **signing.plain_headers(row.id, row.event_id, row.event_type, row.attempts + 1),
        **(
            signing.signatures(secret, row.event_id, raw, int(now.timestamp()))
            if row.format == Endpoint.Format.TILLGATE
            else formats.signatures(row.format, secret, raw)
        ),
    }
    return DueAttempt(
        delivery_id=row.id,
        number=row.attempts + 1,
        claimed_until=until,
        offset_seconds=row.offset_seconds,
        url=row.url,
        body=raw,
        headers=headers,
        host=row.host,
        endpoint_id=row.endpoint_id,
        api_version=row.api_version,
        sealed_secret=row.sealed_secret,
        is_slow=row.is_slow,
    )


def _body(row: Claimed) -> bytes:
    if row.format != Endpoint.Format.TILLGATE:
        return formats.body(
            row.format,
            delivery_id=row.id,
            endpoint_id=row.endpoint_id,
            store_id=row.store_id,
            type=row.event_type,
            created=row.created,
            object_json=row.object_json,
        )
    return signing.body(
        event_id=row.event_id,
        type=row.event_type,
        created=row.created,
        is_live=row.mode == "live",
        api_version=row.api_version,
        account_id=row.account_id,
        object_json=row.object_json,
    )


def record(results: list[AttemptResult], waiting: Sequence[DueAttempt] = ()) -> Sequence[uuid.UUID]:
    """Write the results of claims that still hold; turn off the endpoints on which a delivery has
    failed for good. Of the endpoints of `waiting`, returns those that are off or were changed since
    these attempts were signed."""
    if not results and not waiting:
        return []
    ((stopped, changed, new_hosts, _),) = _RECORD.rows(
        results=json.encode([_result_row(result) for result in results]).decode(),
        waiting=json.encode(
            [
                {
                    "id": attempt.endpoint_id,
                    "url": attempt.url,
                    "api_version": attempt.api_version,
                    "sealed_secret": attempt.sealed_secret,
                }
                for attempt in waiting
            ]
        ).decode(),
        hosts=json.encode(
            list(
                {
                    result.attempt.host
                    for result in results
                    if result.status == Delivery.Status.DELIVERED
                }
            )
        ).decode(),
        is_alone=not connection.in_atomic_block,
    )
    if new_hosts:
        with connection.cursor() as cursor:
            cursor.execute(_ANSWERED, {"now": real_now(), "hosts": new_hosts})
    for endpoint_id in stopped:
        jobs.enqueue("webhooks.tell_owners", endpoint_id)
    return list(changed)


def _result_row(result: AttemptResult) -> dict[str, object]:
    return {
        "id": result.attempt.delivery_id,
        "claimed_until": result.attempt.claimed_until,
        "status": result.status,
        "next_attempt_at": result.next_attempt_at,
        "response_status": result.response_status,
        "response_body": result.response_body,
        "error": result.error,
        "duration_ms": result.duration_ms,
        "at": result.at,
    }


# Of an endpoint that was turned off meanwhile, it is ignored like whatever waited for it.
_RELEASE = """
UPDATE webhooks_delivery d SET claimed_until = NULL,
    status = CASE WHEN is_on.yes THEN 'pending' ELSE 'ignored' END,
    next_attempt_at = CASE WHEN is_on.yes THEN d.next_attempt_at END
FROM unnest(%(ids)s::uuid[], %(claims)s::timestamptz[]) AS r(id, claimed_until)
JOIN webhooks_delivery mine ON mine.id = r.id
JOIN webhooks_endpoint p ON p.id = mine.endpoint_id
CROSS JOIN LATERAL (SELECT p.status = 'active' AND p.deleted_at IS NULL AS yes) is_on
WHERE d.id = r.id AND d.status = 'attempting' AND d.claimed_until = r.claimed_until
"""


def release(attempts: list[DueAttempt]) -> None:
    """Give back claims of which nothing was sent."""
    if attempts:
        with connection.cursor() as cursor:
            cursor.execute(
                _RELEASE,
                {
                    "ids": [attempt.delivery_id for attempt in attempts],
                    "claims": [attempt.claimed_until for attempt in attempts],
                },
            )


_PUT_BACK = """
UPDATE webhooks_delivery SET status = 'pending', claimed_until = NULL WHERE id IN (
    SELECT d.id FROM webhooks_queueddelivery q
    JOIN webhooks_delivery d ON d.id = q.delivery_id AND d.status = 'attempting'
    WHERE q.status = 'attempting' AND q.claimed_until <= %(now)s AND d.claimed_until <= %(now)s
    FOR UPDATE OF d SKIP LOCKED)
"""
# By the endpoints that something waits for: of those that are off there is no end.
_IGNORE = f"""
WITH RECURSIVE {readiness.endpoints("waiting", "status = 'pending'")}, off AS MATERIALIZED (
    SELECT p.id FROM waiting JOIN webhooks_endpoint p ON p.id = waiting.endpoint_id
    WHERE p.status <> 'active' OR p.deleted_at IS NOT NULL
)
UPDATE webhooks_delivery d SET status = 'ignored', next_attempt_at = NULL, claimed_until = NULL
FROM off JOIN webhooks_queueddelivery q ON q.endpoint_id = off.id AND q.status = 'pending'
WHERE d.id = q.delivery_id AND d.status = 'pending'
"""  # noqa: S608  # our own text
_IS_BUSY = """
SELECT EXISTS (SELECT 1 FROM webhooks_endpoint p
    JOIN webhooks_queueddelivery q ON q.endpoint_id = p.id
    WHERE p.store_id = %s AND p.mode = 'test' AND p.status = 'active' AND p.deleted_at IS NULL
        AND (q.status = 'attempting' OR (q.status = 'pending' AND q.next_attempt_at <= %s)))
"""


def tidy(now: datetime) -> None:
    """Put back what a dead process had claimed, promote what is due by clocks that are ahead, and
    ignore what slipped into the queue of an endpoint that is off."""
    with connection.cursor() as cursor:
        cursor.execute(_PUT_BACK, {"now": now})
        cursor.execute(readiness.PROMOTE_AHEAD, {"now": now, "moved": readiness.MOVED_MAX})
        cursor.execute(_IGNORE)


def is_busy(store_id: uuid.UUID, now: datetime) -> bool:
    """True if the store's test mode has a delivery under way, or one that is due at `now` (store
    time)."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_BUSY, [store_id, now])
        return bool(cursor.fetchone()[0])
