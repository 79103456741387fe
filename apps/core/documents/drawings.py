"""PDF files are drawn by workers, once per content, and kept: a web thread waits for one, and only
for a moment.

What a page says is its key, so a file is never out of date: a page that changed is another drawing.
A file that was pruned or lost is drawn again when somebody asks. What somebody waits for goes
before what is drawn ahead, and owners take turns in both.
"""

import base64
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any, TypedDict

import structlog
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import connection

from apps.core import jobs
from apps.core.clock import real_now
from apps.core.db import locks
from apps.core.db.pruning import BATCH
from apps.core.documents import pdf
from apps.core.documents.metadata import Vocabulary
from apps.core.documents.process import render_apart
from apps.core.errors import Failure, RefusalKind
from apps.core.models import Drawing
from apps.core.redis import buckets

log = structlog.get_logger(__name__)
JOB = "documents.draw"
AT_ONCE = 2  # of the whole service
WAIT_SECONDS = 8.0
LOOK_SECONDS = 0.1
NUDGE_SECONDS = 2.0
LEASE = timedelta(minutes=2)
ATTEMPTS_MAX = 3
KEPT = timedelta(days=90)
UNDRAWN_KEPT = timedelta(hours=1)
# Drawn anew when the drawing itself changes.
REVISION = "1"
# So many of an owner's wait to be drawn ahead; the others are drawn when somebody asks.
AHEAD_MAX = 200
_payer: ContextVar[tuple[str, str, str] | None] = ContextVar("payer", default=None)
_waits: ContextVar[bool] = ContextVar("waits", default=True)
_ASK = """
INSERT INTO core_drawing (digest, html, inside, asked_at, owner, is_awaited, attempts, file_name)
VALUES (%(digest)s, %(html)s, %(inside)s, %(at)s, %(owner)s, %(is_awaited)s, 0, '')
ON CONFLICT (digest) DO UPDATE SET is_awaited = true
WHERE core_drawing.drawn_at IS NULL AND NOT core_drawing.is_awaited AND EXCLUDED.is_awaited
"""
# After the last one's owner comes the next, all the way round.
_CLAIM = """
WITH chosen AS (
    SELECT digest, owner FROM core_drawing
    WHERE drawn_at IS NULL AND attempts < %(most)s
        AND (claimed_until IS NULL OR claimed_until < %(now)s)
    ORDER BY is_awaited DESC, owner <= coalesce((SELECT row_id FROM core_rowturn
        WHERE job = %(job)s), ''), owner, asked_at
    LIMIT 1 FOR UPDATE SKIP LOCKED
), turned AS (
    INSERT INTO core_rowturn (job, row_id) SELECT %(job)s, owner FROM chosen
        ON CONFLICT (job) DO UPDATE SET row_id = EXCLUDED.row_id
)
UPDATE core_drawing d SET claimed_until = %(until)s, attempts = attempts + 1 FROM chosen
    WHERE d.digest = chosen.digest
RETURNING d.digest
"""


class InsideValues(TypedDict):
    """A `pdf.Inside` as its row keeps it, and as it counts for the digest; the vocabulary by
    position, in base64 the content."""

    name: str
    content: str
    description: str
    made_at: str
    vocabulary: list[Any]


class TooManyDrawings(Exception):
    """The caller's budget is too small for another drawing."""

    def __init__(self, allowance: buckets.Allowance) -> None:
        super().__init__(allowance.policy)
        self.taken = allowance


class NotDrawn(Failure):
    """Nobody has drawn it in time."""

    kind = RefusalKind.UNAVAILABLE
    message = "The document is being prepared"

    def __init__(self) -> None:
        super().__init__(retry_after=2)


@contextmanager
def charged_to(policy: str, mode: str, holder: str) -> Iterator[None]:
    """Charges drawings to a caller who has paid for a file; each takes more of the same bucket.
    Raises TooManyDrawings."""
    token = _payer.set((policy, mode, holder))
    try:
        yield
    finally:
        _payer.reset(token)


@contextmanager
def without_waiting() -> Iterator[None]:
    """Has what isn't drawn yet drawn, and NotDrawn raised at once."""
    token = _waits.set(False)
    try:
        yield
    finally:
        _waits.reset(token)


def _charge() -> None:
    payer = _payer.get()
    if payer is None:
        return
    with suppress(buckets.Unavailable):
        allowance = buckets.take(*payer, cost=settings.PDF_TOKENS_PER_DRAWING - 1)
        if allowance.is_limited:
            raise TooManyDrawings(allowance)


def pdf_of(html: str, inside: pdf.EmbeddedFile | None = None, *, owner: object = "") -> bytes:
    """The page as PDF. Raises NotDrawn when no worker has it in time, TooManyDrawings when
    its caller has had too many drawn."""
    values = _inside_values(inside)
    digest = _digest(html, values)
    content = _read(digest)
    if content is not None:
        return content
    if not Drawing.objects.filter(pk=digest, drawn_at=None, is_awaited=True).exists():
        _charge()
    _ask(digest, html, values, owner, is_awaited=True)
    if settings.WORK_INLINE:
        draw_due()
    else:
        jobs.nudge(JOB)
    deadline = time.monotonic() + (WAIT_SECONDS if _waits.get() else 0)
    nudge_at = time.monotonic() + NUDGE_SECONDS
    while (content := _read(digest)) is None:
        if time.monotonic() >= deadline:
            raise NotDrawn
        if time.monotonic() > nudge_at:
            jobs.nudge(JOB)  # the seats were taken
            nudge_at += NUDGE_SECONDS
        time.sleep(LOOK_SECONDS)
    return content


def prepare(html: str, inside: pdf.EmbeddedFile | None = None, *, owner: object) -> None:
    """Have a page drawn that somebody will ask for. Nobody waits for it."""
    values = _inside_values(inside)
    digest = _digest(html, values)
    ahead = Drawing.objects.filter(owner=str(owner), is_awaited=False, drawn_at=None)
    if ahead.count() < AHEAD_MAX:
        _ask(digest, html, values, owner, is_awaited=False)
        jobs.nudge(JOB)


def draw_due() -> int:
    """Draw what waits, owners in turns, unless enough are drawing already; how many were drawn."""
    for seat in range(AT_ONCE):
        with locks.try_hold(locks.LockKind.DRAWING, seat) as is_mine:
            if is_mine:
                return _draw_all()
    return 0


def forget(at: datetime) -> int:
    """Delete what was drawn long ago, and what nobody could draw."""
    old = Drawing.objects.filter(drawn_at__lt=at - KEPT) | Drawing.objects.filter(
        drawn_at=None, asked_at__lt=at - UNDRAWN_KEPT
    )
    ids = list(old.values_list("digest", "file_name")[:BATCH])
    for _, name in ids:
        if name:
            storages["private"].delete(name)
    Drawing.objects.filter(pk__in=[digest for digest, _ in ids]).delete()
    return len(ids)


def _read(digest: str) -> bytes | None:
    row = Drawing.objects.filter(pk=digest).exclude(drawn_at=None).only("file_name").first()
    if row is None:
        return None
    try:
        with storages["private"].open(row.file_name) as file:
            content: bytes = file.read()
            return content
    except OSError:
        row.delete()  # to be drawn again
        return None


def _ask(
    digest: str, html: str, values: InsideValues | None, owner: object, *, is_awaited: bool
) -> None:
    inside = Drawing._meta.get_field("inside").get_db_prep_save(values, connection)
    arguments = {
        "digest": digest,
        "html": html,
        "inside": inside,
        "at": real_now(),
        "owner": str(owner),
        "is_awaited": is_awaited,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ASK, arguments)


def _draw_all() -> int:
    count = 0
    while (row := _claim()) is not None:
        try:
            content = render_apart(row.html, _inside(row.inside))
        except Exception:
            log.exception("document_not_drawn", digest=row.digest, attempts=row.attempts)
            continue
        name = storages["private"].save(f"documents/{row.digest}.pdf", ContentFile(content))
        Drawing.objects.filter(pk=row.pk).update(
            drawn_at=real_now(), file_name=name, html="", inside=None, claimed_until=None
        )
        count += 1
    return count


def _claim() -> Drawing | None:
    now = real_now()
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, {"now": now, "until": now + LEASE, "most": ATTEMPTS_MAX, "job": JOB})
        row = cursor.fetchone()
    return Drawing.objects.get(pk=row[0]) if row else None


def _digest(html: str, values: InsideValues | None) -> str:
    return hashlib.sha256(repr((REVISION, html, values)).encode()).hexdigest()


def _inside_values(inside: pdf.EmbeddedFile | None) -> InsideValues | None:
    if inside is None:
        return None
    vocabulary = inside.vocabulary
    return {
        "name": inside.name,
        "content": base64.b64encode(inside.content).decode(),
        "description": inside.description,
        "made_at": inside.made_at.isoformat(),
        "vocabulary": [
            vocabulary.title,
            vocabulary.namespace,
            vocabulary.prefix,
            dict(vocabulary.words),
        ],
    }


def _inside(values: InsideValues | None) -> pdf.EmbeddedFile | None:
    if values is None:
        return None
    title, namespace, prefix, words = values["vocabulary"]
    terms = {
        name: (str(value), str(kind), str(text)) for name, (value, kind, text) in words.items()
    }
    return pdf.EmbeddedFile(
        values["name"],
        base64.b64decode(values["content"]),
        values["description"],
        datetime.fromisoformat(values["made_at"]),
        Vocabulary(title=title, namespace=namespace, prefix=prefix, words=terms),
    )
