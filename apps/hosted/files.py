"""Files behind signed links: one of the private storage, to be kept and never shown inside a
page."""

from pathlib import PurePosixPath

from django.core.files.storage import storages
from django.http import FileResponse, Http404, HttpRequest
from django.views.decorators.http import require_safe

from apps.core.documents.private_files import name_in
from apps.core.web.refusals import private_download

_TYPES = {".pdf": "application/pdf", ".csv": "text/csv; charset=utf-8"}


@require_safe
def download(request: HttpRequest, token: str) -> FileResponse:
    """404 for a link that was changed or has expired, and for a file that is gone."""
    name = name_in(token)
    if name is None:
        raise Http404
    try:
        file = storages["private"].open(name)
    except OSError:
        raise Http404 from None
    path = PurePosixPath(name)
    kind = _TYPES.get(path.suffix, "application/octet-stream")
    return private_download(file, path.name, kind)
