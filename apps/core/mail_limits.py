"""How many emails leave: what others can have sent to a person is bounded (settings.EMAIL_LIMITS),
and what a store sends as well (StoreAllowance)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple, Protocol

from django.conf import settings

from apps.core import emails
from apps.core.db.sql import Statement, array

_DAY = timedelta(days=1)
# Beyond a limit, what people wait for still comes as often.
_NEVER_SILENT = timedelta(hours=1)


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


@dataclass(frozen=True)
class NewMail:
    """An email for one person: `templates/email/<template>.txt` and `.html`.

    `key` says which email it is ("invoice_open:<id>"). With `store` it goes out in the store's
    name, answers to its support address, and `allowance` is how many of these leave (for the
    store's own code: apps.stores.emailing.customer_mail). One that `is_shown` leaves no machine:
    it was shown elsewhere, and is only noted. `attached` is a kind of settings.MAIL_FILES and an
    ID: its files are made when the email leaves. Templates also get `base_url` and `sender`;
    times are in `zone`, words in `language`, amounts and dates in the form of `region`.
    """

    key: str
    to: str
    template: str
    context: Mapping[str, Any]
    store: Sender | None = None
    allowance: StoreAllowance | None = None
    is_shown: bool = False
    zone: tzinfo = UTC
    language: str = ""
    region: str = ""
    unsubscribe_path: str = ""
    attached: tuple[str, str] | None = None

    @property
    def in_name_of(self) -> Any:
        return self.store.pk if self.store is not None else None


class EmailCounts:
    """Emails of the last day that limits and allowances count, among which those that are queued
    now; some at the same moment may still pass together."""

    def __init__(self, mails: Sequence[NewMail], at: datetime) -> None:
        self.at = at
        leaving = [mail for mail in mails if not mail.is_shown]
        self._limits = {
            name: self._sent(
                limit.templates, [mail for mail in leaving if mail.template in limit.templates]
            )
            for name, limit in settings.EMAIL_LIMITS.items()
        }
        allowances = {
            mail.in_name_of: mail.allowance for mail in leaving if mail.allowance is not None
        }
        self._stores = {store: self._of_store(store, row) for store, row in allowances.items()}

    def judge(self, mail: NewMail) -> tuple[str | None, timedelta | None]:
        """The line of the table that the email would go beyond, and its wait if it leaves."""
        if mail.is_shown:
            return None, None
        limit = self._limit_reached(mail)
        if limit is not None:
            return limit, None
        if mail.allowance is None:
            return None, timedelta(0)
        wait = mail.allowance.wait(*self._stores[mail.in_name_of])
        return ("store" if wait is None else None), wait

    def add(self, mail: NewMail) -> None:
        """One more is queued."""
        mailbox = emails.mailbox(mail.to)
        for name, limit in settings.EMAIL_LIMITS.items():
            if mail.template in limit.templates:
                self._limits[name][mailbox].append((mail.in_name_of, self.at))
        if mail.in_name_of in self._stores:
            queued, recent = self._stores[mail.in_name_of]
            self._stores[mail.in_name_of] = queued + 1, recent

    def _limit_reached(self, mail: NewMail) -> str | None:
        mailbox = emails.mailbox(mail.to)
        for name, limit in settings.EMAIL_LIMITS.items():
            if mail.template not in limit.templates:
                continue
            sent = self._limits[name][mailbox]
            by_store = sum(store == mail.in_name_of for store, _ in sent)
            is_over = len(sent) >= limit.in_all or by_store >= limit.by_store
            newest = max((moment for _, moment in sent), default=self.at - _DAY)
            if is_over and not (limit.is_never_silent and self.at - newest >= _NEVER_SILENT):
                return name
        return None

    def _sent(
        self, templates: Sequence[str], mails: Sequence[NewMail]
    ) -> dict[str, list[tuple[Any, datetime]]]:
        """By mailbox, in whose name each was sent and when."""
        sent: dict[str, list[tuple[Any, datetime]]] = defaultdict(list)
        if mails:
            rows = _SENT.rows(
                mailboxes=array({emails.mailbox(mail.to) for mail in mails}),
                since=self.at - _DAY,
                templates=array(templates),
            )
            for mailbox, in_name_of, created_at in rows:
                sent[mailbox].append((in_name_of, created_at))
        return sent

    def _of_store(self, in_name_of: Any, allowance: StoreAllowance) -> tuple[int, int]:
        """Emails of a store that are queued, and that left in a day. Counting ends where the answer
        is known."""
        ((queued, recent),) = _OF_STORE.rows(
            in_name_of=in_name_of,
            since=self.at - _DAY,
            oldest=self.at - _DAY * (allowance.days_ahead + 2),
            most=allowance.per_day * (allowance.days_ahead + 1),
        )
        return queued, recent


_SENT = Statement("""
SELECT mailbox, in_name_of, created_at FROM core_outgoingmail
WHERE mailbox = ANY (%(mailboxes)s::text[]) AND created_at > %(since)s
    AND template = ANY (%(templates)s::text[]) AND status NOT IN ('dropped', 'shown')
""")
_OF_STORE = Statement("""
SELECT count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'sent')
FROM (
    SELECT status FROM core_outgoingmail
    WHERE in_name_of = %(in_name_of)s::uuid AND created_at > %(oldest)s
        AND (status = 'queued' OR status = 'sent' AND sent_at > %(since)s)
    LIMIT %(most)s
) counted
""")
