"""A transfer that was mined while its token moved for nobody, or not for our wallet: its app asks
for it again by itself, under a reference of its own.

An attempt follows only one that the chain has reverted for good, and the signer counts all of them
against the coins that are set aside once (`reservations`).
"""

from collections.abc import Callable, Sequence

from apps.chain.models import OutgoingTransaction
from apps.chain.sending import sender, token_stops

# Each costs gas; after the last the app acts as upon any failure.
ATTEMPTS_MAX = 6
SUBJECT_LENGTH = 36


def references(subject: object) -> list[str]:
    """Those of all attempts at what an app's record asks for, in their order."""
    return [str(subject), *(f"{subject}-{number}" for number in range(1, ATTEMPTS_MAX))]


def references_sql(subject: str) -> str:
    """These references in SQL, of an expression of a uuid. Never of input."""
    later = (f"{subject} || '-{number}'" for number in range(1, ATTEMPTS_MAX))
    return f"ARRAY[{', '.join((f'{subject}::text', *later))}]"


def subject_of(reference: str) -> str:
    """The id of the record that an attempt is for."""
    return reference[:SUBJECT_LENGTH]


def number_of(row: OutgoingTransaction) -> int:
    """How many attempts there were before this one."""
    return references(subject_of(row.reference)).index(row.reference)


def others(reference: str) -> Sequence[str]:
    """The attempts at the same besides this one. Raises ValueError for what is no attempt."""
    rest = references(subject_of(reference))
    rest.remove(reference)
    return rest


def next_after(row: OutgoingTransaction) -> str | None:
    """The reference of the attempt that follows one that has failed; None when none does."""
    if row.status != OutgoingTransaction.Status.FAILED or row.reason_code not in token_stops.STOPS:
        return None
    number = number_of(row) + 1
    return references(subject_of(row.reference))[number] if number < ATTEMPTS_MAX else None


def newest(
    ask: Callable[[str], OutgoingTransaction],
    subject: object,
    book_gas: Callable[[OutgoingTransaction], object],
) -> OutgoingTransaction:
    """The attempt that decides what becomes of a record, asked for if need be. Inside the caller's
    transaction, under the record's lock.

    `ask` requests one under a reference; `book_gas` books what one has cost in vain.
    """
    row = ask(str(subject))
    while (reference := next_after(row)) is not None:
        if row.handled_status != row.status:
            book_gas(row)
            sender.mark_handled(row)
        row = ask(reference)
    return row
