"""Settings of an app above the stores: one narrow row per store, in a table of that app.

A store without the row has the defaults; the first change makes it (apps.stores.settings).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Self

from django.db import models

if TYPE_CHECKING:
    from apps.stores.models.stores import Store


class StoreSettings(models.Model):
    """The base of such a row. No two of them have a column of the same name: staff name a setting
    by its column alone."""

    store = models.OneToOneField(
        "stores.Store", primary_key=True, on_delete=models.PROTECT, related_name="+"
    )

    # The columns that two members of staff change together (apps.stores.staff.dispatch).
    takes_two: ClassVar[tuple[str, ...]] = ()
    # Those that decide about the store's money (apps.stores.staff.terms).
    terms: ClassVar[tuple[str, ...]] = ()
    # Columns, and names within their values, whose words aren't what people say.
    labels: ClassVar[Mapping[str, str]] = {}

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return str(self.store)

    @classmethod
    def of(cls, store: "Store") -> Self:
        """The store's row, or the defaults in a row that isn't saved."""
        row = cls._default_manager.filter(pk=store.pk).first() or cls()
        row.store = store
        return row
