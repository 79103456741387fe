"""The caller: identity, rights, store and mode. Every interface hands one to a service."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from apps.access.models import SendingLater
from apps.access.scopes import ALL
from apps.core import acting, clock
from apps.core.models import Mode
from apps.stores.models import Role, Store, User
from apps.stores.roles import scopes_of

SECRET = "secret"  # noqa: S105  # the name of a kind
PUBLISHABLE = "publishable"
SESSION = "session"
AGENT = "agent"
OAUTH = "oauth"
PUBLIC = "public"
# What a person has shown of their second factor: a code in the last five minutes, or one for this
# very act.
RECENT = "recent"
ACT = "act"


@dataclass(frozen=True)
class Access(SendingLater):
    """`caller` separates idempotency keys: all secret keys and tokens of a store are one caller."""

    store: Store
    mode: str
    kind: str
    scopes: frozenset[str]
    caller: str
    credential_id: uuid.UUID | None = None
    # The person of a session, or who made the credential or let the app in.
    maker_id: uuid.UUID | None = None
    user: User | None = None
    label: str = ""  # what people know the credential by, never a secret
    # Whose credential it is, when a platform acts for its sub-merchant.
    platform: Store | None = None
    role: str | None = None  # of the person behind a session, or who let the app in; a key has none
    # RECENT or ACT, as far as the view has seen it; services decide whether it is enough.
    proof: str = ""
    # Until then a new credential sends coins only to addresses that the store knows.
    sends_anywhere_from: datetime | None = None

    @property
    def store_id(self) -> uuid.UUID:
        return self.store.pk

    @property
    def is_live(self) -> bool:
        return self.mode == Mode.LIVE

    def now(self) -> datetime:
        return clock.now(self.store, self.mode)

    @classmethod
    def for_session(
        cls, user: User, store: Store, mode: str, role: str = Role.OWNER, proof: str = ""
    ) -> "Access":
        """A person in the dashboard, who has chosen a store and a mode; what they may do is their
        role's."""
        permitted = scopes_of(role, frozenset(ALL))
        return cls(
            store=store,
            mode=mode,
            kind=SESSION,
            scopes=permitted,
            caller=f"user:{user.pk}",
            maker_id=user.pk,
            user=user,
            role=role,
            proof=proof,
        )

    @classmethod
    def for_public(cls, store: Store, mode: str) -> "Access":
        """Somebody without a credential on a public page of one record."""
        return cls(store=store, mode=mode, kind=PUBLIC, scopes=frozenset(), caller="public")


_KINDS = {
    AGENT: acting.ActorKind.AGENT,
    OAUTH: acting.ActorKind.APP,
    SESSION: acting.ActorKind.PERSON,
    PUBLIC: acting.ActorKind.VISITOR,
}


def who(access: Access) -> tuple[str, object, str]:
    """Arguments of `acting.become`: kind, id and name."""
    kind = _KINDS.get(access.kind, acting.ActorKind.KEY)
    return (
        (kind, access.user.pk, access.user.email)
        if access.user is not None
        else (kind, access.credential_id, access.label)
    )
