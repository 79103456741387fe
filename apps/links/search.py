"""Payment links by what people have of them, and payments by who paid at a link; indexes alone are
asked."""

from typing import Any

from django.db.models import Q, QuerySet

from apps.core.models import Viewer
from apps.core.searching import SearchTerm
from apps.links.models import LinkPayment, PaymentLink
from apps.links.selectors import links_visible_to, payments_by_email


def find_links(viewer: Viewer, term: SearchTerm, limit: int) -> list[PaymentLink]:
    """By id, the end of the address, or how the title begins, newest first; archived ones are not
    found."""
    condition = (
        Q(pk=term.id)
        if term.id is not None
        else term.begins("title") | Q(token=term.text.rsplit("/", 1)[-1].lower())
    )
    return list(links_visible_to(viewer).filter(condition, archived_at=None)[:limit])


def payments_of_email(viewer: Viewer, term: SearchTerm) -> "QuerySet[LinkPayment, Any] | None":
    """The ids of the payments by customers who gave exactly this address at a link."""
    if not term.email:
        return None
    return payments_by_email(viewer, term.text)
