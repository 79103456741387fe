"""Sub-merchants by what their platform has of them; indexes alone are asked."""

from django.db.models import Q

from apps.access.access import Access
from apps.core.searching import SearchTerm
from apps.platforms.selectors import accounts_of
from apps.stores.models import Store


def find_accounts(access: Access, term: SearchTerm, limit: int) -> list[Store]:
    """By id, external id, or how the name begins, newest first."""
    if not access.store.is_platform:
        return []
    condition = Q(pk=term.id) if term.id is not None else term.begins("name")
    return list(accounts_of(access).filter(condition | Q(external_id=term.text))[:limit])
