"""Reports by id."""

from apps.core.models import Viewer
from apps.core.searching import SearchTerm
from apps.reports.models import Report


def find_reports(viewer: Viewer, term: SearchTerm, limit: int) -> list[Report]:
    if term.id is None:
        return []
    return list(Report.objects.visible_to(viewer).filter(pk=term.id)[:limit])
