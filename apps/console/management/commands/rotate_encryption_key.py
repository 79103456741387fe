"""`rotate_encryption_key`: seal every recoverable secret anew under the first of ENCRYPTION_KEYS,
so that an older key can be dropped."""

from collections.abc import Callable
from typing import Any

from django.db import models, transaction

from apps.access.models import SecondFactor
from apps.billing.models import TaxSettings
from apps.core import crypto
from apps.core.models import OutgoingMail
from apps.onramp.models import Credential
from apps.payouts.models import Destination
from apps.stores.auditing import audit
from apps.stores.command import OperatorCommand, Result
from apps.stores.models import StaffRequest
from apps.webhooks.models import Endpoint
from apps.webhooks.signing import secret_place

# Every column that holds a sealed secret, and where its secrets say they are.
SEALED: list[tuple[type[models.Model], str, Callable[[Any], str]]] = [
    (Endpoint, "sealed_secret", lambda row: secret_place(row.pk)),
    (SecondFactor, "sealed_key", lambda row: row.place("sealed_key")),
    (SecondFactor, "sealed_backup_codes", lambda row: row.place("sealed_backup_codes")),
    (Credential, "sealed_api_key", lambda row: row.place("sealed_api_key")),
    (Credential, "sealed_webhook_secret", lambda row: row.place("sealed_webhook_secret")),
    (OutgoingMail, "sealed_letter", lambda row: row.place),
    (Destination, "account_sealed", lambda row: row.account_place),
    (TaxSettings, "sealed_ksef_token", lambda row: row.ksef_place),
    (StaffRequest, "sealed", lambda row: row.place),
]


class RotationResult(Result, frozen=True, kw_only=True):
    """How many values were sealed anew, by table and column."""

    resealed: dict[str, int]


class Command(OperatorCommand[RotationResult]):
    help = "Encrypt every recoverable secret again with the first of ENCRYPTION_KEYS"

    def run(self, **options: Any) -> RotationResult:
        counts = {
            f"{model._meta.db_table}.{column}": _reseal(model, column, place)
            for model, column, place in SEALED
        }
        audit.record("encryption_key.rotated", details={"rows": sum(counts.values())})
        return RotationResult(resealed=counts)


def _reseal(model: type[models.Model], column: str, place: Callable[[Any], str]) -> int:
    """How many values were sealed anew; each row under its lock, so that a change of the secret
    meanwhile isn't lost."""
    count = 0
    for pk in list(model._default_manager.exclude(**{column: ""}).values_list("pk", flat=True)):
        with transaction.atomic():
            row = model._default_manager.select_for_update().get(pk=pk)
            sealed = getattr(row, column)
            if sealed and not crypto.is_current(sealed):
                setattr(row, column, crypto.encrypt(crypto.decrypt(sealed, place(row)), place(row)))
                row.save(update_fields=[column])
                count += 1
    return count
