"""The records of a store's test mode that its owner puts away: while that is done test mode is
closed, and afterwards an archive has them, a closed store that nobody opens (decision 740)."""

from apps.core.errors import Failure, RefusalKind
from apps.stores.models import Store


class DataBeingReset(Failure):
    kind = RefusalKind.CONFLICT
    code = "test_data_resetting"
    message = "The test data of this store is being reset; try again in two minutes"


def refuse_closed(store: Store, mode: str) -> None:
    """Raises DataBeingReset."""
    if store.is_closed_in(mode):
        raise DataBeingReset
