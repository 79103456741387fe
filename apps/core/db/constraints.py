"""Names of the database's constraints that a row has met: PostgreSQL names it, so that nobody reads
it out of a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction


def constraint_of(error: BaseException) -> str:
    """The name of the constraint, or of the trigger that answers for one; empty when PostgreSQL
    named none."""
    name: str | None = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
    return name or ""


@contextmanager
def refused_by(constraint: str, refusal: Exception | type[Exception]) -> Iterator[None]:
    """A transaction in which a row may violate this constraint, for which the caller gets
    `refusal`. Any other is a bug of ours."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if constraint_of(error) != constraint:
            raise
        raise refusal from None
