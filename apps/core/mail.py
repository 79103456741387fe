"""The one way to send mail: a row queued in the caller's transaction, sent by a worker, tried again
when that fails.

A key's mail is sent once. The email is sealed while it waits and wiped when it has left or was
given up. What others can have sent to a person is bounded (settings.EMAIL_LIMITS), what a store
sends as well (StoreAllowance), and what is about an account leaves before everything else.
"""

import json
import smtplib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parseaddr
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import Q
from django.template import Context, Engine, engines
from django.utils import timezone, translation
from django.utils.module_loading import import_string

from apps.core import crypto, emails, jobs
from apps.core.clock import real_now
from apps.core.db.pruning import prune
from apps.core.errors import Failure
from apps.core.machine import Machine, Step
from apps.core.mail_limits import EmailCounts, NewMail, Sender, StoreAllowance
from apps.core.models import OutgoingMail
from apps.core.text import regions

log = structlog.get_logger(__name__)
_MINUTE = 60
_HOUR = 3600
RETRY_SECONDS = (_MINUTE, 5 * _MINUTE, 15 * _MINUTE, _HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR)
# Longer than any attempt: a worker that died gives its mail back after it.
_LEASE = timedelta(minutes=10)
_BATCH = 100
_TRIES_WITH_FILES = 3
# Until the next looks at a file that is being drawn.
_DRAWING_SECONDS = (2, 10, _MINUTE, 5 * _MINUTE)
_ATTACHED_BYTES_MAX = 10 * 1024 * 1024
_DAY = timedelta(days=1)
_ABOUT_MAX = 200
_UNNAMED = "Store"  # whose name is nothing but a link
_Status = OutgoingMail.Status
# The row is the whole story of an email, and is forgotten with it.
OUTGOING_MAIL = Machine[OutgoingMail, Step](
    {
        _Status.QUEUED: {_Status.SENT, _Status.FAILED},
        _Status.SENT: (),
        _Status.FAILED: (),
        _Status.DROPPED: (),
        _Status.SHOWN: (),
    },
    has_history=False,
)


@dataclass(frozen=True)
class MailFile:
    """A file beside an email."""

    name: str
    content: bytes
    content_type: str


@dataclass(frozen=True)
class ComposedEmail:
    """An email as its reader sees it."""

    sender: str
    subject: str
    text: str
    html: str


def send(
    *,
    key: str,
    to: str,
    template: str,
    context: Mapping[str, Any],
    store: Sender | None = None,
    allowance: StoreAllowance | None = None,
    is_shown: bool = False,
    zone: tzinfo = UTC,
    language: str = "",
    region: str = "",
    unsubscribe_path: str = "",
    attached: tuple[str, str] | None = None,
) -> bool:
    """Queue an email (see NewMail); a key that was used before does nothing.

    False when it is dropped, because others have had too many of them sent there in a day, or the
    store has sent too many. Never waits for a mail server and never fails because of one.
    """
    mail = NewMail(
        key,
        to,
        template,
        context,
        store,
        allowance,
        is_shown,
        zone,
        language,
        region,
        unsubscribe_path,
        attached,
    )
    return send_all([mail])[0]


def send_all(mails: Sequence[NewMail]) -> list[bool]:
    """Queue several emails, each as `send` would after the one before it, in a few statements."""
    at = real_now()
    used = _used(mails)
    counts = EmailCounts(mails, at)
    rows = []
    are_sent = []
    for mail in mails:
        limit, wait = counts.judge(mail)
        rows.append(_row(mail, at, wait))
        are_sent.append(limit is None)
        if mail.key not in used:
            if limit is not None:
                log.warning("mail_dropped", template=mail.template, limit=limit)
            elif not mail.is_shown:
                counts.add(mail)
        used.add(mail.key)
    OutgoingMail.objects.bulk_create(rows, ignore_conflicts=True)
    if any(row.status == _Status.QUEUED for row in rows):
        jobs.enqueue("core.send_mail")
    return are_sent


def _row(mail: NewMail, at: datetime, wait: timedelta | None) -> OutgoingMail:
    """An email that leaves after `wait`; None: it is shown or dropped, and isn't written."""
    id = uuid.uuid4()
    store = mail.store
    status = _Status.SHOWN if mail.is_shown else _Status.DROPPED
    return OutgoingMail(
        id=id,
        key=mail.key,
        to=mail.to,
        mailbox=emails.mailbox(mail.to),
        in_name_of=mail.in_name_of,
        template=mail.template,
        lane=_lane(mail.template, store),
        status=status if wait is None else _Status.QUEUED,
        sender_name=_sender_name(store),
        reply_to=store.support_email if store is not None else "",
        sealed_letter="" if wait is None else _sealed(mail, id),
        created_at=at,
        next_attempt_at=None if wait is None else at + wait,
    )


def _sealed(mail: NewMail, id: uuid.UUID) -> str:
    written = compose(
        mail.template,
        mail.context,
        store=mail.store,
        zone=mail.zone,
        language=mail.language,
        region=mail.region,
    )
    content = {"subject": written.subject, "text": written.text, "html": written.html}
    if mail.unsubscribe_path:
        content["unsubscribe"] = f"{settings.DASHBOARD_URL}{mail.unsubscribe_path}"
    if mail.attached is not None:
        content["attached"] = ":".join(mail.attached)
    return crypto.encrypt(json.dumps(content), OutgoingMail.place_of(id))


def compose(
    template: str,
    context: Mapping[str, Any],
    *,
    store: Sender | None = None,
    zone: tzinfo = UTC,
    language: str = "",
    region: str = "",
) -> ComposedEmail:
    """The email as it is read. Names of stores are shown without links."""
    sender = _sender_name(store)
    values = {**context, "base_url": settings.DASHBOARD_URL, "sender": sender}
    # The reader's, and never that of the person who causes the email.
    with (
        timezone.override(zone),
        translation.override(language or settings.LANGUAGE_CODE),
        regions.shown_in(region),
    ):
        text = _render(f"email/{template}.txt", values, is_html=False)
        html = _render(f"email/{template}.html", values, is_html=True)
    subject, _, body = text.partition("\n")
    return ComposedEmail(sender, _line(subject), body.strip() + "\n", html)


def _sender_name(store: Sender | None) -> str:
    name = (store.brand_name or store.name) if store is not None else _own_name()
    return emails.shown_name(name) or _UNNAMED


def _lane(template: str, store: Sender | None) -> int:
    """Emails about an account go first, whatever stores send."""
    is_bulk = store is not None or template in settings.BULK_EMAILS
    return OutgoingMail.Lane.BULK if is_bulk else OutgoingMail.Lane.ACCOUNT


def was_asked(key: str) -> bool:
    """An email with this key was asked for, and isn't forgotten yet."""
    return OutgoingMail.objects.filter(key=key).exists()


def _used(mails: Sequence[NewMail]) -> set[str]:
    """Those of their keys that were used before."""
    keys = OutgoingMail.objects.filter(key__in=[mail.key for mail in mails])
    return set(keys.values_list("key", flat=True))


def send_due(limit: int = _BATCH) -> int:
    """Try every mail that is due, one after the other; how many left."""
    count = 0
    for _ in range(limit):
        row = _claim(real_now())
        if row is None:
            break
        count += _attempt(row)
    return count


def about(*starts: str) -> list[OutgoingMail]:
    """Emails whose keys begin so, oldest first, as long as they are kept."""
    begins = Q()
    for start in starts:
        begins |= Q(key__startswith=start)
    rows = OutgoingMail.objects.filter(begins) if starts else OutgoingMail.objects.none()
    return list(rows.order_by("created_at", "pk")[:_ABOUT_MAX])


def forget(now: datetime) -> dict[str, int]:
    """Delete emails that ended long ago; how many. Their keys are free again: nothing asks for a
    email that old."""
    ended = OutgoingMail.objects.exclude(status=OutgoingMail.Status.QUEUED)
    return {
        "emails": prune(ended.filter(created_at__lt=now - timedelta(days=settings.MAIL_KEPT_DAYS)))
    }


def _claim(now: datetime) -> OutgoingMail | None:
    with transaction.atomic():
        due = OutgoingMail.objects.filter(
            status=OutgoingMail.Status.QUEUED, next_attempt_at__lte=now
        )
        row: OutgoingMail | None = (
            due.defer(None)
            .select_for_update(skip_locked=True)
            .order_by("lane", "next_attempt_at")
            .first()
        )
        if row is not None:
            row.attempts = row.attempts + 1
            row.next_attempt_at = now + _LEASE
            row.save(update_fields=["attempts", "next_attempt_at"])
        return row


def _attempt(row: OutgoingMail) -> bool:
    try:
        _message(row).send()
    except Exception as error:  # whatever a mail backend raises: the email waits, the queue goes on
        _failed(row, error)
        return False
    _close(row, OutgoingMail.Status.SENT, sent_at=real_now())
    return True


def _message(row: OutgoingMail) -> EmailMultiAlternatives:
    content = json.loads(crypto.decrypt(row.sealed_letter, row.place))
    own = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    message = EmailMultiAlternatives(
        content["subject"],
        content["text"],
        f'"{_quoted(row.sender_name)}" <{own}>',
        [row.to],
        reply_to=[row.reply_to] if row.reply_to else None,
        headers={
            "Message-ID": f"<{row.pk}@{own.rpartition('@')[2]}>",
            "Auto-Submitted": "auto-generated",
            **_unsubscribing(content.get("unsubscribe", "")),
        },
    )
    message.attach_alternative(content["html"], "text/html")
    if "attached" in content:
        _attach_files(message, row, content["attached"])
    return message


def _attach_files(message: EmailMultiAlternatives, row: OutgoingMail, attached: str) -> None:
    """Files that can't be made hold an email up for a while; then it leaves without them, since it
    has a link to the same."""
    kind, _, id = attached.partition(":")
    try:
        files = import_string(settings.MAIL_FILES[kind])(id)
    except Exception as error:  # whatever makes them: the email has a link
        if row.attempts < _TRIES_WITH_FILES or _is_being_drawn(row, error):
            raise
        log.warning("mail_without_files", mail=str(row.pk), error=type(error).__name__)
        return
    if sum(len(file.content) for file in files) <= _ATTACHED_BYTES_MAX:
        for file in files:
            message.attach(file.name, file.content, file.content_type)


def _unsubscribing(url: str) -> dict[str, str]:
    """Headers that let a mail program unsubscribe its reader by one press (RFC 8058)."""
    if not url:
        return {}
    return {"List-Unsubscribe": f"<{url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def _failed(row: OutgoingMail, error: Exception) -> None:
    if _is_being_drawn(row, error):
        due = real_now() + timedelta(seconds=_DRAWING_SECONDS[row.attempts - 1])
        _mine(row).update(next_attempt_at=due)
        return
    log.warning(
        "mail_failed",
        mail=str(row.pk),
        template=row.template,
        attempts=row.attempts,
        error=type(error).__name__,
    )
    if row.attempts > len(RETRY_SECONDS) or _is_final(error):
        _close(row, OutgoingMail.Status.FAILED, error=type(error).__name__)
        return
    due = real_now() + timedelta(seconds=RETRY_SECONDS[row.attempts - 1])
    _mine(row).update(next_attempt_at=due, error=type(error).__name__)


def _is_being_drawn(row: OutgoingMail, error: Exception) -> bool:
    """True while a file of it may still be ready at the next look."""
    is_waiting = isinstance(error, Failure) and error.retry_after is not None
    return is_waiting and row.attempts <= len(_DRAWING_SECONDS)


def _is_final(error: Exception) -> bool:
    """True if the server said that this person can't be written to at all."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return type(error).__name__ in (
        "AnymailRecipientsRefused",
        "AnymailInvalidAddress",
        "BadHeaderError",
    )


def _close(row: OutgoingMail, status: str, **columns: Any) -> None:
    OUTGOING_MAIL.change_all(
        _mine(row),
        OutgoingMail.Status.QUEUED,
        Step(status),
        sealed_letter="",
        next_attempt_at=None,
        **columns,
    )


def _mine(row: OutgoingMail) -> Any:
    """The row, unless another worker has taken it over since."""
    return OutgoingMail.objects.filter(
        pk=row.pk, attempts=row.attempts, status=OutgoingMail.Status.QUEUED
    )


def _render(name: str, values: Mapping[str, Any], *, is_html: bool) -> str:
    engine: Engine = engines["django"].engine  # type: ignore[attr-defined]  # the one engine there is
    return engine.get_template(name).render(Context(values, autoescape=is_html)).strip()


def _own_name() -> str:
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[0] or "Tillgate"


def _line(text: str) -> str:
    """On one line: a line break may not be in a header."""
    return " ".join(text.split())


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
