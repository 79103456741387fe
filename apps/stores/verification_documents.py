"""Documents that show who stands behind a store: uploaded, replaced until they are submitted, read
by staff alone, deleted in time.

What a file is is told by its content. Pictures are drawn anew; nothing is ever served but as a
download to staff who verify.
"""

import hashlib
import io
import re
import uuid
import warnings
import zlib
from collections.abc import Iterator
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
from apps.core.errors import Flat
from apps.core.rows import Job
from apps.stores import audit
from apps.stores.models import Store, Verification
from apps.stores.verification_models import VerificationDocument

log = structlog.get_logger(__name__)
FORGET = Job("stores.forget_documents", limit=BATCH)
BYTES_MAX = 3 * 1024 * 1024
DOCUMENTS_MAX = 5
PIXELS_MAX = 4096 * 4096
SIDE_MAX = 3000
UNUSED_DAYS = 30  # how long what was never submitted stays
_Kind = VerificationDocument.Kind
# Names by which a PDF runs, opens or carries something.
_ACTIVE = re.compile(
    rb"/(JavaScript|JS|Launch|EmbeddedFiles?|RichMedia|XFA|Encrypt)(?![A-Za-z0-9])"
)
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
INFLATED_MAX = 16 * 1024 * 1024
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$", re.ASCII)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f<>:\"/\\|?*\u202a-\u202e\u2066-\u2069]")


class NoDocument(Flat):
    field = "document"
    message = "Choose a file"


class DocumentTooLarge(Flat):
    field = "document"
    message = "The file is larger than 3 MB, or its picture than 4096 by 4096 pixels"


class NotADocument(Flat):
    field = "document"
    message = "The file must be a PDF, JPEG or PNG"


class ActiveDocument(Flat):
    field = "document"
    message = (
        "The PDF is encrypted, or contains scripts or other files. Print it to a new PDF and upload"
        " that"
    )


class TooManyDocuments(Flat):
    field = "document"
    message = "There are 5 documents already. Remove one first"


class DocumentGone(Flat):
    field = "document"
    message = "This document was removed or submitted already"


def drafts(store: Store) -> list[VerificationDocument]:
    """What will go with the next submission, oldest first."""
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
    """Keeps a file for the next submission. Raises NotADocument, ActiveDocument, DocumentTooLarge
    or TooManyDocuments."""
    if len(drafts(store)) >= DOCUMENTS_MAX:
        raise TooManyDocuments
    kind, content = _checked(uploaded)
    id = uuid.uuid4()
    file_name = storages["private"].save(
        f"verification/{store.pk}/{id}.{_ENDINGS[kind]}", ContentFile(content)
    )
    try:
        return _record(store, id, _plain(name, kind), kind, content, file_name)
    except BaseException:
        storages["private"].delete(file_name)
        raise


def _record(
    store: Store, id: uuid.UUID, name: str, kind: str, content: bytes, file_name: str
) -> VerificationDocument:
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
            uploaded_at=clock.real_now(),
        )
        audit.record(
            "verification.document_added",
            store=store,
            target=row,
            name=name,
            details={"digest": row.digest},
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
    """For whoever decides, which is written down; None when its file is gone."""
    try:
        file = storages["private"].open(document.file_name)
    except OSError:
        return None
    audit.record(
        "verification.document_read", store=document.store_id, target=document, name=document.name
    )
    return file


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
    """What the merchant called it, fit to be shown and to be a name of a file; its ending is that
    of what it is."""
    bare = " ".join(_UNPRINTABLE.sub(" ", name).split())
    stem = _ENDING.sub("", bare).strip(". ")[:80] or "document"
    return f"{stem}.{_ENDINGS[kind]}"


_ENDINGS: dict[str, str] = {_Kind.PDF: "pdf", _Kind.JPEG: "jpg", _Kind.PNG: "png"}


def _checked(uploaded: bytes) -> tuple[str, bytes]:
    """What it is, and what of it is kept."""
    if not uploaded:
        raise NoDocument
    if len(uploaded) > BYTES_MAX:
        raise DocumentTooLarge
    if uploaded.startswith(b"%PDF-"):
        return _Kind.PDF, _plain_pdf(uploaded)
    return _redrawn(uploaded)


def _plain_pdf(uploaded: bytes) -> bytes:
    """As it is: nothing of it runs, opens anything, or carries another file."""
    if b"%%EOF" not in uploaded[-2048:]:
        raise NotADocument
    for part in _objects(uploaded):
        if _ACTIVE.search(_unescaped(part)):
            raise ActiveDocument
    return uploaded


def _objects(pdf: bytes) -> Iterator[bytes]:
    """What describes it: all but the contents of streams, and streams that hold such descriptions
    themselves."""
    at = 0
    room = INFLATED_MAX
    while (begin := pdf.find(b"stream", at)) >= 0:
        end = pdf.find(b"endstream", begin)
        if end < 0:
            break
        described = pdf[at:begin]
        yield described
        if b"/ObjStm" in _unescaped(described[-2048:]):
            inflated = _inflated(pdf[begin + len(b"stream") : end].lstrip(b"\r\n"), room)
            room -= len(inflated)
            yield inflated
        at = end + len(b"endstream")
    yield pdf[at:]


def _inflated(packed: bytes, room: int) -> bytes:
    """Raises ActiveDocument for what can't be looked into, or is larger than `room`."""
    try:
        content = zlib.decompressobj().decompress(packed, room + 1)
    except zlib.error:
        raise ActiveDocument from None
    if len(content) > room:
        raise ActiveDocument
    return content


def _unescaped(text: bytes) -> bytes:
    """A name may be written with the numbers of its letters."""
    return _ESCAPED.sub(lambda match: bytes([int(match[1], 16)]), text)


def _redrawn(uploaded: bytes) -> tuple[str, bytes]:
    """Upright, and without what else the file carried: places, comments, anything behind the
    picture."""
    from PIL import Image, ImageOps  # for those few requests alone

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(uploaded), formats=("PNG", "JPEG")) as picture:
                if picture.width * picture.height > PIXELS_MAX:
                    raise DocumentTooLarge
                kind = _Kind.JPEG if picture.format == "JPEG" else _Kind.PNG
                upright = ImageOps.exif_transpose(picture).convert("RGB")
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise DocumentTooLarge from None
    except (OSError, ValueError, SyntaxError, EOFError, OverflowError):
        raise NotADocument from None
    upright.thumbnail((SIDE_MAX, SIDE_MAX))
    bare = Image.new("RGB", upright.size)
    buffer = io.BytesIO()
    bare.paste(upright)
    bare.save(
        buffer, kind.upper(), **({"quality": 88} if kind == _Kind.JPEG else {"optimize": False})
    )
    return kind, buffer.getvalue()
