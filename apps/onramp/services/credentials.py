"""A network's secrets and settings: two members of staff change them, one switches a network off
(decision 136).

Secrets are sealed, bound to their row and column, named in the audit log and never shown again.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.core import clock, crypto
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure
from apps.core.text.words import code_words
from apps.onramp.models import Credential
from apps.onramp.services.networks import credential_networks
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.models import StaffRequest, Store, User
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind, StaffRequestRefused

_SHOWN = 8


class CredentialRefused(Failure):
    """The text says why."""


@dataclass(frozen=True)
class CredentialChange:
    """Changes of a network's credential; `row` is None for a new one. An empty secret leaves the
    one that is stored."""

    row: Credential | None
    provider: str
    mode: str
    store: Store | None
    is_active: bool = True
    api_key: str = ""
    webhook_secret: str = ""


def request_change(
    change: CredentialChange, reason: str, staff: User, at: datetime
) -> StaffRequest | None:
    """None when it only switches the network off, which is done at once.

    Raises CredentialRefused, StaffForbidden, or what four_eyes.ask raises.
    """
    row = change.row
    secrets = _secrets(change)
    if row is None and (change.provider not in credential_networks() or not change.api_key):
        raise CredentialRefused(
            "A new credential is of a network that needs one, and has an API key"
        )
    if row is not None and not secrets and change.is_active == row.is_active:
        raise StaffRequestRefused("Nothing of it would change")
    if row is not None and is_switched_off(change):
        staff_roles.check(staff, staff_roles.CARD_NETWORK_OFF)
        row.is_active = False
        keep_secrets(row, reason=reason)
        return None
    facts = {
        "credential": str(row.pk if row else uuid.uuid4()),
        "provider": row.provider if row else change.provider,
        "mode": row.mode if row else change.mode,
        "store": _store_id(row.store_id if row else change.store.pk if change.store else None),
        "is_active": change.is_active,
        "secrets": sorted(secrets),
    }
    owner = row.store if row else change.store
    name = (
        f"Card network {code_words(str(facts['provider']))}, {facts['mode']} mode, of"
        f" {owner.name if owner else 'all stores'}"
    )
    # A new one is known by what it is for: two of a kind can't wait.
    target = str(row.pk) if row else f"{change.provider}:{change.mode}:{facts['store']}"
    return four_eyes.ask(
        CARD_NETWORK,
        Proposal(target, name, facts, _lines(change, secrets), reason, secrets),
        staff,
        at,
    )


def is_switched_off(change: CredentialChange) -> bool:
    """Tells whether the change only stops a network, which one member of staff does."""
    return change.row is not None and not _secrets(change) and not change.is_active


def lines_of(change: CredentialChange) -> list[tuple[str, str, str]]:
    """Differences that a change makes, as (what, before, after)."""
    lines = _lines(change, _secrets(change))
    return [line for line in lines if line[1] != line[2]]


def _secrets(change: CredentialChange) -> dict[str, str]:
    secrets = {"api_key": change.api_key, "webhook_secret": change.webhook_secret}
    return {name: value for name, value in secrets.items() if value}


def _lines(change: CredentialChange, secrets: dict[str, str]) -> list[tuple[str, str, str]]:
    row = change.row
    lines = [
        ("In use", _yes_or_no(row is not None and row.is_active), _yes_or_no(change.is_active))
    ]
    if "api_key" in secrets:
        lines.append(
            (
                "API key",
                row.api_key_hint if row else "None",
                f"New key: {hint_of(change.api_key)}",
            )
        )
    if "webhook_secret" in secrets:
        lines.append(
            (
                "Webhook secret",
                "Stored" if row and row.sealed_webhook_secret else "None",
                "New secret",
            )
        )
    return lines


def _yes_or_no(value: bool) -> str:
    return "Yes" if value else "No"


def _before(facts: Facts) -> Facts:
    row = Credential.objects.select_for_update(of=("self",)).filter(pk=facts["credential"]).first()
    if row is None:
        return {"is_there": False}
    return {"is_there": True, "is_active": row.is_active, "api_key_hint": row.api_key_hint}


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> Credential:
    row = Credential.objects.filter(pk=facts["credential"]).first()
    if row is None:
        row = Credential(
            pk=uuid.UUID(facts["credential"]),
            provider=facts["provider"],
            mode=facts["mode"],
            store_id=facts["store"],
        )
    row.is_active = facts["is_active"]
    in_use = CredentialRefused(
        "Another credential of this network is in use here: switch it off first"
    )
    with refused_by("onramp_credential_one_active", in_use):
        return keep_secrets(row, reason=request.reason, **four_eyes.secrets_of(request))


CARD_NETWORK = RequestKind(
    "card_network", "A change to a card network", staff_roles.CARD_NETWORK, _before, _carry_out
)


@transaction.atomic
def keep_secrets(
    row: Credential, *, api_key: str = "", webhook_secret: str = "", reason: str = ""
) -> Credential:
    """Save the row; an empty secret leaves the one that is stored."""
    is_new = row.created_at is None
    if is_new:
        row.created_at = clock.real_now()
    if api_key:
        row.sealed_api_key = crypto.encrypt(api_key, row.place("sealed_api_key"))
        row.api_key_hint = hint_of(api_key)
    if webhook_secret:
        row.sealed_webhook_secret = crypto.encrypt(
            webhook_secret, row.place("sealed_webhook_secret")
        )
    row.save()
    changed = [
        name for name, value in (("api_key", api_key), ("webhook_secret", webhook_secret)) if value
    ]
    action = "card_credential.created" if is_new else "card_credential.changed"
    details = {"provider": row.provider, "changed": changed, "is_active": row.is_active}
    audit.record(
        action,
        store=row.store_id,
        mode=row.mode,
        target=row,
        name=str(row),
        reason=reason,
        details=details,
    )
    return row


def hint_of(api_key: str) -> str:
    """Visible part of a key."""
    return f"{api_key[:_SHOWN]}…" if len(api_key) > 2 * _SHOWN else "…"


def _store_id(store_id: uuid.UUID | None) -> str | None:
    return str(store_id) if store_id else None
