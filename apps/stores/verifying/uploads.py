"""Cost of a store's files: seconds of the processor, taken from the store's bucket before a file is
opened, and the redrawing of its pictures and documents (apps.core.documents.redrawing)."""

from contextlib import suppress

from apps.core.errors import Failure, RefusalKind
from apps.core.models import Mode
from apps.core.redis import buckets
from apps.stores.models import Store

POLICY = "uploads"
ROWS = "upload_rows"


class TooManyUploads(Failure):
    kind = RefusalKind.TOO_MANY
    message = "Your store has uploaded many files in a short time. Try again in a minute"


class CheckNotPossible(Failure):
    kind = RefusalKind.UNAVAILABLE
    message = "Files can't be checked right now. Try again in a moment"


def charge(store: Store, seconds: int, field: str, *, rows: int = 0) -> None:
    """Take from the store's buckets, shared by its modes, the seconds that opening a file may last
    and the rows that it brings. Raises TooManyUploads; without Redis it passes."""
    with suppress(buckets.Unavailable):
        for policy, cost in ((ROWS, rows), (POLICY, seconds)):
            if not cost:
                continue
            allowance = buckets.take(policy, Mode.LIVE, str(store.pk), cost)
            if allowance.is_limited:
                raise TooManyUploads(retry_after=allowance.retry_after_seconds, field=field)
