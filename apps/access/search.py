"""API keys by what people may see of them."""

from django.db.models import Q

from apps.access.models import ApiKey
from apps.core.models import Viewer
from apps.core.searching import Term

_PREFIX_LENGTH = ApiKey._meta.get_field("prefix").max_length


def find_keys(viewer: Viewer, term: Term, limit: int) -> list[ApiKey]:
    """Those in use by id, prefix, last four characters or how the name begins, newest first."""
    # Of a whole key that somebody pastes, only what its list shows of it is compared.
    by_text = Q(prefix=term.text[:_PREFIX_LENGTH]) | Q(last_four=term.text) | term.begins("name")
    condition = Q(pk=term.id) if term.id is not None else by_text
    rows = ApiKey.objects.visible_to(viewer).filter(condition, revoked_at=None)
    return list(rows.order_by("-created_at", "-id")[:limit])
