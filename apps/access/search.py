"""API keys and agents by what people may see of them, and calls by the ID of their request."""

from django.db.models import Q

from apps.access import request_log
from apps.access.access import Access
from apps.access.models import AgentCredential, ApiKey, RequestEntry
from apps.core.models import Viewer
from apps.core.searching import SearchTerm

# Shorter ones, which a caller may choose, are found in the log itself.
_REQUEST_ID_MIN = 16
_PREFIX_LENGTH = ApiKey._meta.get_field("prefix").max_length


def find_keys(viewer: Viewer, term: SearchTerm, limit: int) -> list[ApiKey]:
    """Those in use by id, prefix, last four characters or how the name begins, newest first."""
    # Of a whole key that somebody pastes, only what its list shows of it is compared.
    by_text = Q(prefix=term.text[:_PREFIX_LENGTH]) | Q(last_four=term.text) | term.begins("name")
    condition = Q(pk=term.id) if term.id is not None else by_text
    rows = ApiKey.objects.visible_to(viewer).filter(condition, revoked_at=None)
    return list(rows.order_by("-created_at", "-id")[:limit])


def find_agents(viewer: Viewer, term: SearchTerm, limit: int) -> list[AgentCredential]:
    """Those in use by id, newest first."""
    if term.id is None:
        return []
    rows = AgentCredential.objects.visible_to(viewer).filter(pk=term.id, revoked_at=None)
    return list(rows.order_by("-created_at", "-id")[:limit])


def find_requests(access: Access, term: SearchTerm, limit: int) -> list[RequestEntry]:
    """Calls by the ID of their request, as each answer carries it, newest first."""
    text = term.text
    if len(text) < _REQUEST_ID_MIN or " " in text or term.tx_hash or term.address:
        return []
    return list(request_log.entries(access).filter(request_id=text)[:limit])
