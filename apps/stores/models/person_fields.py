"""The column that says who did something, where anybody did."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

if TYPE_CHECKING:
    from apps.stores.models.stores import User


def optional_person() -> "models.ForeignKey[User | None, User | None]":
    """Kept as long as the record is; nothing is looked up by it."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
