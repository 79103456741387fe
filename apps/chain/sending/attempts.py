"""A transfer that was mined while its token moved for nobody, or not for our wallet: its app asks
for it again by itself, under a reference of its own.

An attempt follows only one that the chain has reverted for good, and the signer counts all of them
against the coins that are set aside once (`reservations`).
"""

from collections.abc import Sequence

from apps.chain.models import OutgoingTransaction
from apps.chain.sending import token_stops

# Each costs gas; after the last the app acts as upon any failure.
ATTEMPTS_MAX = 6
SUBJECT_LENGTH = 36


def references(subject: object) -> list[str]:
    """Those of all attempts at what an app's record asks for, in their order."""
    return [str(subject), *(f"{subject}-{number}" for number in range(1, ATTEMPTS_MAX))]


def until(first: str, number: int) -> list[str]:
    """Those of the first attempt and the next ones, before the one with that number. Raises
    ValueError for a number that no attempt has."""
    if not 0 < number < ATTEMPTS_MAX:
        raise ValueError(number)
    return references(first)[:number]


def references_sql(subject: str) -> str:
    """These references in SQL, of an expression of a uuid. Never of input."""
    later = (f"{subject} || '-{number}'" for number in range(1, ATTEMPTS_MAX))
    return f"ARRAY[{', '.join((f'{subject}::text', *later))}]"


def subject_of(reference: str) -> str:
    """The id of the record that an attempt is for."""
    return reference[:SUBJECT_LENGTH]


def number_of(row: OutgoingTransaction) -> int:
    """Number of attempts before this one."""
    return references(subject_of(row.reference)).index(row.reference)


def others(reference: str) -> Sequence[str]:
    """The attempts at the same besides this one. Raises ValueError for what is no attempt."""
    rest = references(subject_of(reference))
    rest.remove(reference)
    return rest


def next_after(row: OutgoingTransaction) -> str | None:
    """The reference of the attempt that follows one that has failed; None when none does."""
    return following(row, references(subject_of(row.reference)))


def following(row: OutgoingTransaction, every: Sequence[str]) -> str | None:
    """The one of these references that follows an attempt which its token has stopped."""
    if row.status != OutgoingTransaction.Status.FAILED or row.reason_code not in token_stops.STOPS:
        return None
    number = every.index(row.reference) + 1
    return every[number] if number < len(every) else None
