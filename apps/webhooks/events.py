"""An event is written in the transaction of the change it tells of, with a delivery for every
endpoint that asked for it.

A sub-merchant's event is written again for its platform, at the platform's time, with the
sub-merchant's id as `account`. An endpoint that is turned off gets its delivery as `ignored`. One
of BitPay's format gets those of the payments that name it.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import json
from psycopg.types.json import Jsonb

from apps.core import jobs
from apps.core.db import sql
from apps.core.ids import id_beside_sql, new_id
from apps.core.messages.documents import Document
from apps.webhooks import notices
from apps.webhooks.catalogue import FANS_OUT

# Two named parts of a larger statement: they follow one called `made`, and write nothing when it is
# empty.
RECORD_CTE = f"""webhook_event AS (
    INSERT INTO webhooks_event (id, store_id, mode, created_at, type, object, account_id)
    SELECT one.id, one.store_id, %(event_mode)s::text, %(event_at)s::timestamptz + coalesce((
               SELECT (theirs.test_offset_seconds - its.test_offset_seconds) * interval '1 second'
               FROM stores_store theirs, stores_store its
               WHERE theirs.id = one.store_id AND its.id = one.account_id
                   AND %(event_mode)s::text = 'test'
           ), interval '0'), %(event_type)s::text, %(event_object)s::jsonb, one.account_id
    FROM made, jsonb_to_recordset(%(event_copies)s) AS one(id uuid, store_id uuid, account_id uuid)
    RETURNING id, store_id, created_at
), webhook_delivery AS (
    INSERT INTO webhooks_delivery (id, store_id, mode, created_at, event_id, endpoint_id, status,
        attempts, next_attempt_at, is_test)
    SELECT {id_beside_sql("e.id")}, e.store_id, %(event_mode)s::text, e.created_at, e.id, p.id,
           CASE p.status WHEN 'active' THEN 'pending' ELSE 'ignored' END, 0,
           CASE p.status WHEN 'active' THEN e.created_at END, false
    FROM webhook_event e
    CROSS JOIN LATERAL (
        SELECT id, status FROM webhooks_endpoint
        WHERE store_id = e.store_id AND mode = %(event_mode)s::text AND deleted_at IS NULL
            AND %(event_type)s::text = ANY (subscribed_events)
            AND (format <> 'bitpay'
                OR id::text = %(event_object)s::jsonb #>> '{{metadata,{notices.ENDPOINT}}}')
        OFFSET 0
    ) p
    RETURNING id
)"""  # noqa: S608  # no input in it
_RECORD_ALL = sql.Statement(f"""
WITH webhook_event AS (
    INSERT INTO webhooks_event (id, store_id, mode, created_at, type, object)
    SELECT id, store_id, mode, created_at, type, object
    FROM jsonb_to_recordset(%(events)s) AS one(
        id uuid, store_id uuid, mode text, created_at timestamptz, type text, object jsonb
    )
    RETURNING id, store_id, mode, created_at, type
), webhook_delivery AS (
    INSERT INTO webhooks_delivery (id, store_id, mode, created_at, event_id, endpoint_id, status,
        attempts, next_attempt_at, is_test)
    SELECT {id_beside_sql("e.id")}, e.store_id, e.mode, e.created_at, e.id, p.id,
           CASE p.status WHEN 'active' THEN 'pending' ELSE 'ignored' END, 0,
           CASE p.status WHEN 'active' THEN e.created_at END, false
    FROM webhook_event e
    CROSS JOIN LATERAL (
        SELECT id, status FROM webhooks_endpoint
        WHERE store_id = e.store_id AND mode = e.mode AND deleted_at IS NULL
            AND e.type = ANY (subscribed_events)
        OFFSET 0
    ) p
    RETURNING id
)
SELECT ARRAY(SELECT id FROM webhook_delivery)
""")  # noqa: S608  # no input in it
_RECORD = sql.Statement(
    # No input in it.
    f"WITH made AS (SELECT 1), {RECORD_CTE} SELECT ARRAY(SELECT id FROM webhook_delivery)",  # noqa: S608
    stays=True,
)


def record_parameters(
    *,
    store_id: uuid.UUID,
    mode: str,
    type: str,
    object: Document,
    at: datetime,
    platform_id: uuid.UUID | None = None,
) -> dict[str, object]:
    """The parameters of RECORD_CTE; `at` is store time. `platform_id` counts only for events that
    platforms hear of."""
    copies = [{"id": str(new_id()), "store_id": str(store_id)}]
    if platform_id is not None and type.startswith(FANS_OUT):
        copies.append(
            {"id": str(new_id()), "store_id": str(platform_id), "account_id": str(store_id)}
        )
    return {
        "event_copies": Jsonb(copies),
        "event_mode": mode,
        "event_type": type,
        "event_object": Jsonb(object, dumps=json.encode),
        "event_at": at,
    }


def record(
    *,
    store_id: uuid.UUID,
    mode: str,
    type: str,
    object: Document,
    at: datetime,
    platform_id: uuid.UUID | None = None,
) -> None:
    """Write an event and its deliveries, and wake the sender on commit."""
    parameters = record_parameters(
        store_id=store_id, mode=mode, type=type, object=object, at=at, platform_id=platform_id
    )
    ((deliveries,),) = _RECORD.rows(**parameters)
    if deliveries:
        jobs.enqueue("webhooks.deliver", *deliveries)


@dataclass(frozen=True)
class NewEvent:
    """An event of a store that no platform hears of; `at` is store time."""

    store_id: uuid.UUID
    mode: str
    type: str
    object: Document
    at: datetime


def record_all(events: Sequence[NewEvent]) -> None:
    """Write several events and their deliveries in one statement, and wake the sender on commit."""
    if not events:
        return
    rows = [
        {
            "id": str(new_id()),
            "store_id": str(event.store_id),
            "mode": event.mode,
            "created_at": event.at.isoformat(),
            "type": event.type,
            "object": event.object,
        }
        for event in events
    ]
    ((deliveries,),) = _RECORD_ALL.rows(events=Jsonb(rows, dumps=json.encode))
    if deliveries:
        jobs.enqueue("webhooks.deliver", *deliveries)
