"""The agent that an app's token represents when a language model's host presents it."""

from dataclasses import replace
from datetime import datetime

from apps.access import scopes
from apps.access.access import Access
from apps.access.authorization.apps import StoreRequired, agent_credential
from apps.access.models import AccessToken, AgentCredential, Grant
from apps.access.services import (
    InvalidAgentCredential,
    access_of_agent,
    active_token,
)
from apps.core import clock
from apps.core.db import tenancy
from apps.core.errors import Failure, RefusalKind
from apps.stores.selectors import role_of


def agent_of_token(credential: str) -> Access:
    """The access of the one agent of the token's app, person, store and mode, which is made at its
    first use, with all that its person may let agents do. One that was revoked stays so until the
    app is authorized again. Coins go to known addresses alone while token or agent has to wait.

    Raises Unauthenticated, StoreRequired, or Failure without the scope.
    """
    token = active_token(credential)
    if scopes.AGENTS not in token.scope.split():
        raise Failure(
            scopes.missing_message(scopes.AGENTS),
            code="insufficient_scope",
            kind=RefusalKind.FORBIDDEN,
        )
    if token.store is None:
        raise StoreRequired
    tenancy.narrow(token.store, modes=[token.mode])
    row = AgentCredential.objects.filter(
        application=token.application, user=token.user, store=token.store, mode=token.mode
    ).first()
    if row is None or _is_over(row, token):
        row, _ = agent_credential(token, None, clock.real_now())
    access = access_of_agent(row, token.store, role_of(token.user, token.store))
    return replace(access, sends_anywhere_from=_later(row.sends_anywhere_from, token))


def _is_over(row: AgentCredential, token: AccessToken) -> bool:
    """True if the agent ended before the app was authorized anew, and so may be made again. A
    refreshed token is newer than the authorization, which alone counts. Raises
    InvalidAgentCredential."""
    if row.revoked_at is None:
        return False
    authorized = Grant.objects.filter(token_family=token.token_family, used_at__gt=row.revoked_at)
    if not authorized.exists():
        raise InvalidAgentCredential
    return True


def _later(of_agent: datetime | None, token: AccessToken) -> datetime | None:
    """An agent of an earlier authorization doesn't end the wait of a new one."""
    moments = [moment for moment in (of_agent, token.sends_anywhere_from) if moment is not None]
    return max(moments, default=None)
