"""Authorization of an agent's acts by the store's authorization provider, which staff choose.
Without one most things are refused."""

from typing import cast

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from apps.access.access import Access
from apps.access.models import AgentCredential
from apps.agents.models import AgentSettings, AuthorizationProvider
from apps.agents.providers.base import Authorizer, Details, Envelope, ProviderError, Question
from apps.core.errors import Failure, RefusalKind
from apps.stores.models import Store

log = structlog.get_logger(__name__)
RETRY_SECONDS = 10


class MandateRequired(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "mandate_required"
    message = "A usable mandate is required"


class AuthorizationDenied(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "authorization_denied"
    message = "The store's authorization provider refused"


class AuthorizationUnavailable(Failure):
    kind = RefusalKind.UNAVAILABLE
    code = "authorization_unavailable"
    message = "The store's authorization provider can't be reached"


def has_provider(store: Store) -> bool:
    return AgentSettings.of(store).authorization_provider != AuthorizationProvider.NONE


def provider_of(store: Store) -> Authorizer | None:
    """The store's provider; None when it has none."""
    chosen = AgentSettings.of(store)
    if chosen.authorization_provider == AuthorizationProvider.NONE:
        return None
    adapter = import_string(settings.AUTHORIZERS[chosen.authorization_provider])
    has_rules = chosen.authorization_provider == AuthorizationProvider.POLICY
    return cast(
        Authorizer, adapter(chosen.authorization_policy if has_rules else chosen.authorization_url)
    )


def require_provider(store: Store) -> Authorizer:
    """For what is blocked without a provider: refunds, changes of tokens, mandates, draws. Raises
    MandateRequired."""
    provider = provider_of(store)
    if provider is None:
        raise MandateRequired
    return provider


def question(
    access: Access,
    details: Details,
    envelope: Envelope | None,
    *,
    asset_id: str | None = None,
    amount_atomic: int | None = None,
    scope: str | None = None,
) -> Question:
    """The question for the provider, in the agent's name."""
    return Question(
        details=details,
        store_id=access.store_id,
        mode=access.mode,
        principal=agent_of(access).principal,
        envelope=envelope,
        asset_id=asset_id,
        amount_atomic=amount_atomic,
        scope=scope,
    )


def agent_of(access: Access) -> AgentCredential:
    """The credential behind an agent's access."""
    return cast(
        AgentCredential, AgentCredential.objects.visible_to(access).get(pk=access.credential_id)
    )


def ask(provider: Authorizer, question: Question) -> None:
    """Raises AuthorizationDenied or AuthorizationUnavailable. A remote provider is never asked
    inside a transaction."""
    try:
        is_allowed = provider.allows(question)
    except ProviderError as error:
        log.warning("authorization_unavailable", action=question.action, error=str(error))
        raise AuthorizationUnavailable(retry_after=RETRY_SECONDS) from None
    if not is_allowed:
        raise AuthorizationDenied


def require(
    access: Access, details: Details, envelope: Envelope | None, *, asset_id: str | None = None
) -> None:
    """For refunds and changes of tokens. Raises MandateRequired too."""
    ask(require_provider(access.store), question(access, details, envelope, asset_id=asset_id))


def consult(
    access: Access,
    details: Details,
    envelope: Envelope | None,
    *,
    asset_id: str | None = None,
    amount_atomic: int | None = None,
) -> None:
    """For what works without a provider: payments, and payouts that have caps."""
    provider = provider_of(access.store)
    if provider is not None:
        ask(
            provider,
            question(access, details, envelope, asset_id=asset_id, amount_atomic=amount_atomic),
        )
