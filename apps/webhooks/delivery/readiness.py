"""Rows of the queue that may be due: statements that claims and the job run.

A row is ready from each change of its delivery until a claim finds it early, by the time of its
store. Whatever waits is promoted when that time has come: nothing else than the rows says so.
"""

# Rows that one statement promotes or demotes: more than a claim takes, and few enough for the lock
# that claims hold.
MOVED_MAX = 1_000
# How far a store's time is ahead of the machine's, or behind.
OFFSET = "CASE p.mode WHEN 'test' THEN s.test_offset_seconds ELSE 0 END * interval '1 second'"
_IS_DUE = "q.status = 'pending' AND NOT q.is_ready AND q.next_attempt_at <= %(now)s::timestamptz"


def endpoints(name: str, condition: str) -> str:
    """A recursive query: the endpoints with such rows, each found by the one before in the index
    of those rows."""
    return f"""
{name}(endpoint_id) AS (
    (SELECT endpoint_id FROM webhooks_queueddelivery WHERE {condition}
        ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT q.endpoint_id FROM webhooks_queueddelivery q
            WHERE {condition} AND q.endpoint_id > {name}.endpoint_id
                ORDER BY q.endpoint_id LIMIT 1)
    FROM {name} WHERE {name}.endpoint_id IS NOT NULL
)"""  # noqa: S608  # our own text


# In the order of time. A store's clock may be behind as well.
PROMOTE = f"""
UPDATE webhooks_queueddelivery SET is_ready = true WHERE delivery_id = ANY (ARRAY(
    SELECT q.delivery_id FROM webhooks_queueddelivery q
    JOIN webhooks_endpoint p ON p.id = q.endpoint_id JOIN stores_store s ON s.id = p.store_id
    WHERE {_IS_DUE} AND q.next_attempt_at <= %(now)s::timestamptz + {OFFSET}
    ORDER BY q.next_attempt_at LIMIT %(moved)s::int FOR UPDATE OF q SKIP LOCKED))
"""  # noqa: S608  # our own text
# Of stores whose clock is ahead, which the order of time doesn't show.
PROMOTE_AHEAD = f"""
WITH RECURSIVE {endpoints("waiting", "status = 'pending'")}
UPDATE webhooks_queueddelivery SET is_ready = true WHERE delivery_id = ANY (ARRAY(
    SELECT one.id FROM waiting
    JOIN webhooks_endpoint p ON p.id = waiting.endpoint_id AND p.mode = 'test'
    JOIN stores_store s ON s.id = p.store_id AND s.test_offset_seconds > 0
    CROSS JOIN LATERAL (
        SELECT q.delivery_id AS id FROM webhooks_queueddelivery q
        WHERE q.endpoint_id = p.id AND {_IS_DUE} + {OFFSET}
        ORDER BY q.next_attempt_at FOR UPDATE SKIP LOCKED
    ) one LIMIT %(moved)s::int))
"""  # noqa: S608  # our own text
# Of the store whose clock is being moved.
PROMOTE_OF_STORE = f"""
UPDATE webhooks_queueddelivery SET is_ready = true WHERE delivery_id = ANY (ARRAY(
    SELECT q.delivery_id FROM stores_store s
    JOIN webhooks_endpoint p ON p.store_id = s.id AND p.mode = 'test'
    JOIN webhooks_queueddelivery q ON q.endpoint_id = p.id AND {_IS_DUE} + {OFFSET}
    WHERE s.id = %(store_id)s::uuid LIMIT %(moved)s::int FOR UPDATE OF q SKIP LOCKED))
"""  # noqa: S608  # our own text
# A part of a claim, which goes through the endpoints of what is ready.
DEMOTE = f"""
    UPDATE webhooks_queueddelivery SET is_ready = false WHERE delivery_id = ANY (ARRAY(
        SELECT one.id FROM ready JOIN webhooks_endpoint p ON p.id = ready.endpoint_id
        JOIN stores_store s ON s.id = p.store_id
        CROSS JOIN LATERAL (
            SELECT q.delivery_id AS id FROM webhooks_queueddelivery q
            WHERE q.endpoint_id = p.id AND q.status = 'pending' AND q.is_ready
                AND q.next_attempt_at > %(now)s::timestamptz + {OFFSET}
            ORDER BY q.next_attempt_at FOR UPDATE SKIP LOCKED
        ) one LIMIT %(moved)s::int
    ))
"""  # noqa: S608  # our own text
