"""The modules of settings.DUE: what falls due in a store's test mode while its clock is moved.

Most stores have little of most kinds: a module that names the tables it looks at is asked only of
a store that has a row in one of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from django.conf import settings

from apps.core.db.sql import Statement

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model

# In the order of lists, which each of the tables has an index for or few rows of a store: of the
# bare condition PostgreSQL may expect a row soon and read a whole table that has none.
_HAS_ROW = (
    "(SELECT true FROM {} WHERE store_id = %(store_id)s::uuid AND mode = 'test'"
    " ORDER BY created_at DESC LIMIT 1)"
)


class Due(Protocol):
    """A module of settings.DUE: what a store has waiting for its time to come.

    One that waits for strangers says for how long, in all, as `PATIENCE_SECONDS`: then the clock
    moves on without it, and what it has left is due and goes its usual way. One that neither names
    a moment nor does anything for a store without rows in some tables names their models, all of
    which have a store, as `LOOKS_AT`.
    """

    def next_due(self, store_id: Any, after: "datetime | None") -> "datetime | None":
        """The store's next due moment in test mode later than `after`, in store time."""

    def run_due(self, store_id: Any, now: "datetime") -> None:
        """Do everything of the store's test mode that is due at `now`."""


class Modules:
    """All of them, in their order, and whether they have anything of a store.

    A row that is there stays in its table; what was found empty is looked at again once a module
    has run, as that may have made a row of any kind.
    """

    def __init__(self, store_id: Any) -> None:
        self.all = [cast(Due, import_module(path)) for path in settings.DUE]
        self._store_id = store_id
        tables = [(module, getattr(module, "LOOKS_AT", ())) for module in self.all]
        self._looking = [(module, models) for module, models in tables if models]
        self._empty = {module for module, _ in self._looking}
        self._is_known = False

    def has_any(self, module: Due) -> bool:
        """Whether the module may have something of the store."""
        if module in self._empty and not self._is_known:
            self._look()
        return module not in self._empty

    def run(self, module: Due, now: "datetime") -> None:
        self._is_known = False
        module.run_due(self._store_id, now)

    def _look(self) -> None:
        columns = ", ".join(_has_row_in(models) for _, models in self._looking)
        # Names of our own tables.
        (row,) = Statement(f"SELECT {columns}").rows(store_id=self._store_id)
        pairs = zip(self._looking, row, strict=True)
        self._empty = {module for (module, _), has_rows in pairs if not has_rows}
        self._is_known = True


def _has_row_in(models: "tuple[type[Model], ...]") -> str:
    rows = ", ".join(_HAS_ROW.format(model._meta.db_table) for model in models)
    return f"coalesce({rows}, false)"
