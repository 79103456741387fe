"""Documents that show who owns a store: uploaded, replaced until they are submitted, read
by staff alone, deleted in time.

A file's kind is read from its content. Only a process that can do nothing else opens it; what is
kept are pictures of its pages, and nothing else is ever served, as a download to staff who verify.
"""

import hashlib
import re
import uuid
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import Q

from apps.core import clock
from apps.core.db.pruning import BATCH
from apps.core.documents import redrawing
from apps.core.errors import Failure
from apps.core.rows import Job
from apps.stores.auditing import audit
from apps.stores.models import Store, Verification
from apps.stores.models.verification import VerificationDocument
from apps.stores.verifying.uploads import CheckNotPossible, charge

log = structlog.get_logger(__name__)
FORGET = Job("stores.forget_documents", limit=BATCH)
REDRAW = Job("documents.redraw", in_transaction=False)
BYTES_MAX = 3 * 1024 * 1024
DOCUMENTS_MAX = 5
PAGES_MAX = 20
BOUNDS = redrawing.Bounds(
    pixels=4096 * 4096, width=3000, height=3000, pages=PAGES_MAX, cpu_seconds=5
)
UNUSED_DAYS = 30  # how long what was never submitted stays
_Kind = VerificationDocument.Kind
_KINDS: dict[str, str] = {
    redrawing.PDF: _Kind.PDF,
    redrawing.JPEG: _Kind.JPEG,
    redrawing.PNG: _Kind.PNG,
}
# Of a page's picture in a PDF of ours: what says how long it is, up to its first byte.
_PICTURE = re.compile(rb"<<([^<>]*/DCTDecode[^<>]*(?:<<[^<>]*>>[^<>]*)*)>>\s*stream\r?\n")
_LENGTH = re.compile(rb"/Length (\d+)")
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$", re.ASCII)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f<>:\"/\\|?*\u202a-\u202e\u2066-\u2069]")


class NoDocument(Failure):
    field = "document"
    message = "Choose a file"


class DocumentTooLarge(Failure):
    field = "document"
    message = "The file is larger than 3 MB, or its picture than 4096 by 4096 pixels"


class NotADocument(Failure):
    field = "document"
    message = "The file must be a PDF, JPEG or PNG"


class UnreadableDocument(Failure):
    field = "document"
    message = (
        "The file is damaged, protected by a password or too complex. Print it to a new PDF and"
        " upload that"
    )


class TooManyPages(Failure):
    field = "document"
    message = f"The PDF has more than {PAGES_MAX} pages. Upload only those that matter"


class TooManyDocuments(Failure):
    field = "document"
    message = "There are 5 documents already. Remove one first"


class DocumentGone(Failure):
    field = "document"
    message = "This document was removed or submitted already"


def drafts(store: Store) -> list[VerificationDocument]:
    """Documents that will go with the next submission, oldest first."""
    return list(
        VerificationDocument.objects.filter(store=store, verification=None).order_by(
            "uploaded_at", "id"
        )[:DOCUMENTS_MAX]
    )


def documents_of(verification: Verification) -> list[VerificationDocument]:
    rows = VerificationDocument.objects.filter(
        store=verification.store_id, verification=verification
    )
    return list(rows.order_by("uploaded_at", "id")[:DOCUMENTS_MAX])


def add_document(store: Store, name: str, uploaded: bytes) -> VerificationDocument:
    """Keeps pictures of a file's pages for the next submission.

    Raises NoDocument, NotADocument, DocumentTooLarge, TooManyPages, UnreadableDocument,
    TooManyDocuments, TooManyUploads or CheckNotPossible.
    """
    if len(drafts(store)) >= DOCUMENTS_MAX:
        raise TooManyDocuments
    kind = _kind_of(uploaded)
    charge(store, BOUNDS.cpu_seconds, "document")
    content = _redrawn(uploaded)
    id = uuid.uuid4()
    file_name = storages["private"].save(
        f"verification/{store.pk}/{id}.{_ENDINGS[kind]}", ContentFile(content)
    )
    try:
        return _record(store, id, _plain(name, kind), kind, content, file_name, uploaded)
    except BaseException:
        storages["private"].delete(file_name)
        raise


def _record(
    store: Store,
    id: uuid.UUID,
    name: str,
    kind: str,
    content: bytes,
    file_name: str,
    uploaded: bytes,
) -> VerificationDocument:
    at = clock.real_now()
    with transaction.atomic():
        # Two uploads at once are counted one after the other.
        Store.objects.select_for_update(no_key=True).get(pk=store.pk)
        if len(drafts(store)) >= DOCUMENTS_MAX:
            raise TooManyDocuments
        row = VerificationDocument.objects.create(
            id=id,
            store=store,
            name=name,
            kind=kind,
            size_bytes=len(content),
            digest=hashlib.sha256(content).hexdigest(),
            file_name=file_name,
            uploaded_at=at,
            redrawn_at=at,
        )
        audit.record(
            "verification.document_added",
            store=store,
            target=row,
            name=name,
            details={"digest": row.digest, "uploaded": hashlib.sha256(uploaded).hexdigest()},
        )
    return row


def remove_draft(store: Store, document_id: str) -> None:
    """Only what isn't submitted. Raises DocumentGone."""
    with transaction.atomic():
        rows = VerificationDocument.objects.select_for_update(of=("self",)).filter(
            store=store, verification=None
        )
        row = rows.filter(pk=document_id).first()
        if row is None:
            raise DocumentGone
        audit.record("verification.document_removed", store=store, target=row, name=row.name)
        _delete(row)


def attach_drafts(verification: Verification) -> int:
    """They go with a submission, in its transaction, and aren't changed any more; how many."""
    return VerificationDocument.objects.filter(
        store=verification.store_id, verification=None
    ).update(verification=verification)


def open_document(document: VerificationDocument) -> "File[Any] | None":
    """For anyone who decides, which is written down; None when its file is gone, or is as it was
    uploaded."""
    file = _file_of(document)
    if file is not None:
        note_opened(document)
    return file


def _file_of(document: VerificationDocument) -> "File[Any] | None":
    if document.redrawn_at is None:
        return None
    try:
        return storages["private"].open(document.file_name)
    except OSError:
        return None


def note_opened(document: VerificationDocument) -> None:
    audit.record(
        "verification.document_read", store=document.store_id, target=document, name=document.name
    )


def pages_of(document: VerificationDocument) -> list[tuple[str, bytes]]:
    """The pictures of its pages, each with its content type. A PDF here is one of ours, whose pages
    are JPEGs and nothing else."""
    file = _file_of(document)
    if file is None:
        return []
    with file:
        content = file.read()
    if document.kind != _Kind.PDF:
        return [(f"image/{document.kind}", content)]
    pictures: list[tuple[str, bytes]] = []
    for found in _PICTURE.finditer(content):
        length = _LENGTH.search(found[1])
        if length is not None:
            pictures.append(("image/jpeg", content[found.end() : found.end() + int(length[1])]))
    return pictures[:PAGES_MAX]


def redraw_uploaded() -> int:
    """Replace what an earlier release has kept as it was uploaded; how many were tried. What can't
    be drawn stays closed."""
    uploaded = VerificationDocument.objects.filter(redrawn_at=None, is_refused=False)
    return REDRAW.walk(uploaded.order_by("pk"), _redraw)


def _redraw(row: VerificationDocument) -> None:
    rows = VerificationDocument.objects.filter(pk=row.pk, redrawn_at=None)
    try:
        with storages["private"].open(row.file_name) as file:
            content = _redrawn(file.read())
    except (FileNotFoundError, UnreadableDocument, DocumentTooLarge, TooManyPages):
        rows.update(is_refused=True)
        return
    name = storages["private"].save(
        f"verification/{row.store_id}/{row.pk}.{_ENDINGS[row.kind]}", ContentFile(content)
    )
    was_changed = rows.update(
        file_name=name,
        size_bytes=len(content),
        digest=hashlib.sha256(content).hexdigest(),
        redrawn_at=clock.real_now(),
    )
    storages["private"].delete(row.file_name if was_changed else name)


def forget(now: datetime) -> int:
    """Delete what was decided long enough ago, and what was never submitted; how many."""
    decided = now - timedelta(days=settings.VERIFICATION_DOCUMENT_DAYS)
    over = Q(verification__reviewed_at__lt=decided)
    unused = Q(verification=None, uploaded_at__lt=now - timedelta(days=UNUSED_DAYS))
    return FORGET.walk(
        VerificationDocument.objects.filter(over | unused).order_by("uploaded_at"), _delete
    )


def _delete(row: VerificationDocument) -> None:
    """The file goes once the row is gone for good."""
    name = row.file_name
    row.delete()
    transaction.on_commit(lambda: storages["private"].delete(name))


def _plain(name: str, kind: str) -> str:
    """The merchant's name of a document, fit to be shown and to be a name of a file; its ending is
    that of its kind."""
    bare = " ".join(_UNPRINTABLE.sub(" ", name).split())
    stem = _ENDING.sub("", bare).strip(". ")[:80] or "document"
    return f"{stem}.{_ENDINGS[kind]}"


_ENDINGS: dict[str, str] = {_Kind.PDF: "pdf", _Kind.JPEG: "jpg", _Kind.PNG: "png"}


def _kind_of(uploaded: bytes) -> str:
    """Kind of a file by its size and first bytes; nothing else of it is read here."""
    if not uploaded:
        raise NoDocument
    if len(uploaded) > BYTES_MAX:
        raise DocumentTooLarge
    kind = _KINDS.get(redrawing.kind_of(uploaded))
    if kind is None:
        raise NotADocument
    return kind


def _redrawn(uploaded: bytes) -> bytes:
    """A file of ours with pictures of the pages."""
    draw = redrawing.pdf if redrawing.kind_of(uploaded) == redrawing.PDF else redrawing.picture
    try:
        return draw(uploaded, BOUNDS)
    except redrawing.TooManyPixels:
        raise DocumentTooLarge from None
    except redrawing.PageLimitExceeded:
        raise TooManyPages from None
    except redrawing.NotRedrawn:
        raise UnreadableDocument from None
    except redrawing.NotPossible:
        raise CheckNotPossible(field="document") from None
