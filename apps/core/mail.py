"""The one way to send mail: a row queued in the caller's transaction, sent by a worker, tried again
when that fails.

A key's mail is sent once. The email is sealed while it waits and wiped when it has left or was
given up. What others can have sent to a person is bounded (settings.EMAIL_LIMITS), what a store
sends as well (StoreAllowance), and what is about an account leaves before everything else.
"""

import json
import smtplib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parseaddr
from typing import Any, NamedTuple, Protocol

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
from apps.core.db.sql import Statement, array
from apps.core.errors import Failure
from apps.core.machine import Machine, Step
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
# Beyond a limit, what people wait for still comes as often.
_NEVER_SILENT = timedelta(hours=1)
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


class StoreAllowance(NamedTuple):
    """Number of emails in a store's name that may leave in a day, and in a minute. More wait for
    their turn; more than `days_ahead` days of them are dropped."""

    per_day: int
    per_minute: int
    days_ahead: int

    def wait(self, queued: int, recent: int) -> timedelta | None:
        """Wait of another email, behind those in the queue and those that left in a day; None:
        there are too many."""
        days = (queued + recent) // self.per_day
        if days > self.days_ahead:
            return None
        return timedelta(days=days, minutes=queued // self.per_minute)


class Sender(Protocol):
    """A store, seen from below: in whose name a customer's mail is sent."""

    pk: Any
    name: str
    brand_name: str
    support_email: str


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
    """Queue the email `templates/email/<template>.txt` and `.html` for one person; a key that was
    used before does nothing.

    False when it is dropped, because others have had too many of them sent there in a day, or the
    store has sent too many.

    `key` says which email it is ("invoice_open:<id>"). With `store` it goes out in the store's
    name, answers to its support address, and `allowance` is how many of these leave (for the
    store's own code: apps.stores.emailing.customer_mail). One that `is_shown` leaves no machine:
    it was shown elsewhere, and is only noted. `attached` is a kind of settings.MAIL_FILES and an
    ID: its files are made when the email leaves. Templates also get `base_url` and `sender`;
    times are in `zone`, words in `language`, amounts and dates in the form of `region`. Never
    waits for a mail server and never fails because of one.
    """
    at = real_now()
    id = uuid.uuid4()
    written = compose(template, context, store=store, zone=zone, language=language, region=region)
    content = {"subject": written.subject, "text": written.text, "html": written.html}
    if unsubscribe_path:
        content["unsubscribe"] = f"{settings.DASHBOARD_URL}{unsubscribe_path}"
    if attached is not None:
        content["attached"] = ":".join(attached)
    mailbox = emails.mailbox(to)
    in_name_of = store.pk if store is not None else None
    limit = None if is_shown else _limit_reached(template, mailbox, in_name_of, at)
    wait: timedelta | None = timedelta(0)
    if limit is None and allowance is not None:
        wait = _wait(in_name_of, allowance, at)
        limit = "store" if wait is None else None
    leaves = limit is None and not is_shown
    row = OutgoingMail(
        id=id,
        key=key,
        to=to,
        mailbox=mailbox,
        in_name_of=in_name_of,
        template=template,
        lane=_lane(template, store),
        status=_Status.QUEUED if leaves else _Status.SHOWN if is_shown else _Status.DROPPED,
        sender_name=written.sender,
        reply_to=store.support_email if store is not None else "",
        sealed_letter=crypto.encrypt(json.dumps(content), OutgoingMail.place_of(id))
        if leaves
        else "",
        created_at=at,
        next_attempt_at=at + wait if leaves and wait is not None else None,
    )
    if limit is not None and not OutgoingMail.objects.filter(key=key).exists():
        log.warning("mail_dropped", template=template, limit=limit)
    OutgoingMail.objects.bulk_create([row], ignore_conflicts=True)
    if leaves:
        jobs.enqueue("core.send_mail")
    return limit is None


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
    name = (store.brand_name or store.name) if store is not None else _own_name()
    sender = emails.shown_name(name) or _UNNAMED
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


def _lane(template: str, store: Sender | None) -> int:
    """Emails about an account go first, whatever stores send."""
    is_bulk = store is not None or template in settings.BULK_EMAILS
    return OutgoingMail.Lane.BULK if is_bulk else OutgoingMail.Lane.ACCOUNT


def _wait(in_name_of: Any, allowance: StoreAllowance, at: datetime) -> timedelta | None:
    """Wait of a store's next email. Counting ends where the answer is known."""
    most = allowance.per_day * (allowance.days_ahead + 1)
    ((queued, recent),) = _OF_STORE.rows(
        in_name_of=in_name_of,
        since=at - _DAY,
        oldest=at - _DAY * (allowance.days_ahead + 2),
        most=most,
    )
    return allowance.wait(queued, recent)


_OF_STORE = Statement("""
SELECT count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'sent')
FROM (
    SELECT status FROM core_outgoingmail
    WHERE in_name_of = %(in_name_of)s::uuid AND created_at > %(oldest)s
        AND (status = 'queued' OR status = 'sent' AND sent_at > %(since)s)
    LIMIT %(most)s
) counted
""")


def was_asked(key: str) -> bool:
    """An email with this key was asked for, and isn't forgotten yet."""
    return OutgoingMail.objects.filter(key=key).exists()


def _limit_reached(template: str, mailbox: str, in_name_of: Any, at: datetime) -> str | None:
    """The line of the table that an email would go beyond; some at the same moment may still pass
    together."""
    for name, limit in settings.EMAIL_LIMITS.items():
        if template not in limit.templates:
            continue
        ((in_all, by_store, newest),) = _COUNTED.rows(
            mailbox=mailbox,
            since=at - _DAY,
            templates=array(limit.templates),
            in_name_of=in_name_of,
        )
        is_over = in_all >= limit.in_all or by_store >= limit.by_store
        if is_over and not (limit.is_never_silent and at - newest >= _NEVER_SILENT):
            return name
    return None


_COUNTED = Statement("""
SELECT count(*), count(*) FILTER (WHERE in_name_of IS NOT DISTINCT FROM %(in_name_of)s::uuid),
    coalesce(max(created_at), %(since)s)
FROM core_outgoingmail
WHERE mailbox = %(mailbox)s AND created_at > %(since)s AND template = ANY (%(templates)s::text[])
    AND status NOT IN ('dropped', 'shown')
""")


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
