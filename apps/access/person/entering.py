"""The first facts about the signed-in person of a request, by one statement: whether the session
is open, the membership, the second factor and whether there are passkeys.

The person of a request carries the answer, so that nothing is read for a part of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.access.models import SecondFactor
from apps.core.db.prepared_reads import Columns
from apps.core.db.sql import Statement, array
from apps.stores import roles
from apps.stores.models import Member, Store, User

STORE_KEY = "store_id"
SIGN_IN_KEY = "sign_in_id"
_MEMBER = Columns(Member, "m")
_STORE = Columns(Store, "s")
_FACTOR = Columns(SecondFactor, "f")
# The membership of the chosen store, else of the first that is open: stores that were closed come
# last, and accounts of a platform that were closed don't come at all, nor do closed stores of whose
# books their member saw nothing.
_ENTERING = Statement(f"""
SELECT %(sign_in_id)s::uuid IS NULL OR EXISTS (SELECT 1 FROM access_signin i
           WHERE i.id = %(sign_in_id)s::uuid AND i.ended_at IS NULL),
       EXISTS (SELECT 1 FROM django_otp_webauthn_webauthncredential p
           WHERE p.user_id = %(user_id)s::uuid AND p.confirmed),
       {_FACTOR.text}, {_MEMBER.text}, {_STORE.text}
FROM (VALUES (1)) AS one
LEFT JOIN access_secondfactor f ON f.user_id = %(user_id)s::uuid AND f.confirmed
LEFT JOIN LATERAL (
    SELECT k.* FROM stores_member k JOIN stores_store o ON o.id = k.store_id
    WHERE k.user_id = %(user_id)s::uuid AND (o.deleted_at IS NULL
        OR o.platform_id IS NULL AND k.role = ANY (%(readers)s::text[]))
    ORDER BY coalesce(k.store_id = %(store_id)s::uuid, false) DESC,
        o.deleted_at NULLS FIRST, k.created_at
    LIMIT 1
) m ON true
LEFT JOIN stores_store s ON s.id = m.store_id
""")  # noqa: S608  # only names of columns are put in


@dataclass
class EntryFacts:
    """The facts read as a session's person came in. `store_id` is the store that the session had
    chosen."""

    store_id: str | None
    is_open: bool
    has_passkey: bool
    factor: SecondFactor | None
    member: Member | None


def enter(user: User, session: Mapping[str, Any]) -> EntryFacts:
    """Reads it for a request, whose person carries it from here on."""
    user.entry = facts = read(user, session)
    return facts


def read(user: User, session: Mapping[str, Any]) -> EntryFacts:
    chosen = session.get(STORE_KEY)
    sign_in = session.get(SIGN_IN_KEY)
    ((is_open, has_passkey, *columns),) = _ENTERING.rows(
        user_id=user.pk,
        store_id=UUID(chosen) if chosen else None,
        sign_in_id=UUID(sign_in) if sign_in else None,
        readers=array(sorted(roles.TABLE[roles.VIEW])),
    )
    factor = columns[: len(_FACTOR)]
    member = columns[len(_FACTOR) : len(_FACTOR) + len(_MEMBER)]
    store = columns[len(_FACTOR) + len(_MEMBER) :]
    entry = EntryFacts(chosen, is_open, has_passkey, None, None)
    if any(value is not None for value in factor):
        entry.factor = _FACTOR.row(factor)
        entry.factor.user = user
    if any(value is not None for value in member):
        entry.member = _MEMBER.row(member)
        entry.member.store = _STORE.row(store)
    return entry


def entry_of(user: User) -> EntryFacts | None:
    """None for a person who has not come in by a session of this request."""
    entry: EntryFacts | None = user.entry
    return entry


def forget(user: User) -> None:
    """The factor, the passkeys or the membership have changed, or are about to."""
    user.entry = None
