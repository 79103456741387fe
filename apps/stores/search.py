"""People of a store."""

from django.db.models import Q

from apps.core.models import Viewer
from apps.core.searching import SearchTerm
from apps.stores.models import Member


def find_members(viewer: Viewer, term: SearchTerm, limit: int) -> list[Member]:
    """By a part of the name or the email address: a team is small, and walked by its store's
    index."""
    if not term.text or term.is_exact:
        return []
    condition = Q(user__email__icontains=term.text) | Q(user__name__icontains=term.text)
    rows = Member.objects.filter(condition, store_id=viewer.store_id).select_related("user")
    return list(rows.order_by("created_at")[:limit])
