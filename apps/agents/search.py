"""Mandates by id."""

from apps.agents.models import Mandate
from apps.core.models import Viewer
from apps.core.searching import SearchTerm


def find_mandates(viewer: Viewer, term: SearchTerm, limit: int) -> list[Mandate]:
    if term.id is None:
        return []
    rows = Mandate.objects.visible_to(viewer).filter(pk=term.id)
    return list(rows.select_related("asset", "credential")[:limit])
