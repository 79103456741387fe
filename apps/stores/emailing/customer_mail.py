"""Emails to customers in a store's name: the one way to send them.

In live mode a store's age and verification say how many leave in a day. In test mode only the
store's own people are written to: everybody can open a store and name any address as a customer's.
What others would have got is shown in the dashboard.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings

from apps.core import emails, mail
from apps.core.clock import real_now
from apps.core.db.pruning import prune
from apps.core.mail_limits import NewMail, StoreAllowance
from apps.core.models import Mode
from apps.stores.models import Member, Store
from apps.stores.models.mail import TestLetter

_DAY = timedelta(days=1)
_SUBJECT_MAX = 500


def send(
    store: Store,
    mode: str,
    *,
    key: str,
    to: str,
    template: str,
    context: Mapping[str, Any],
    language: str = "",
    attached: tuple[str, str] | None = None,
) -> bool:
    """Queue an email to a customer, or show it. False when it is dropped (core.mail.send), and for
    an archive of test data, which writes to nobody (decision 740)."""
    if store.archive_of_id is not None:
        return False
    queue = partial(
        mail.send,
        key=key,
        to=to,
        template=template,
        context=context,
        store=store,
        language=language,
        attached=attached,
    )
    if mode == Mode.LIVE:
        return queue(allowance=allowance_of(store, real_now()))
    at = real_now()
    if _is_used_up(store, at):
        return False
    is_sent = leaves(store, mode, to)
    if not queue(is_shown=not is_sent):
        return False
    email = mail.compose(template, context, store=store, language=language)
    row = TestLetter(
        store=store,
        mode=mode,
        created_at=at,
        key=key,
        to=to,
        template=template,
        subject=email.subject[:_SUBJECT_MAX],
        text=email.text,
        is_sent=is_sent,
    )
    TestLetter.objects.bulk_create([row], ignore_conflicts=True)
    return True


def live_mail(
    store: Store,
    at: datetime,
    *,
    key: str,
    to: str,
    template: str,
    context: Mapping[str, Any],
    language: str = "",
    attached: tuple[str, str] | None = None,
) -> NewMail:
    """An email of live mode to a customer, for `mail.send_all`. The store is no archive: those have
    test data alone."""
    return NewMail(
        key=key,
        to=to,
        template=template,
        context=context,
        store=store,
        allowance=allowance_of(store, at),
        language=language,
        attached=attached,
    )


def leaves(store: Store, mode: str, to: str) -> bool:
    """True if an email to this address is sent, and not only shown."""
    if mode == Mode.LIVE or settings.TEST_MAIL_TO_EVERYBODY:
        return True
    own = Member.objects.filter(store=store, user__is_active=True)
    return own.filter(user__email_key=emails.canonical(to)).exists()


def allowance_of(store: Store, at: datetime) -> StoreAllowance:
    """More with each day of its age, and far more once the business is verified."""
    line = settings.STORE_EMAILS[store.kyc_confirmed_at is not None]
    days = max(0, (at - store.created_at).days)
    return StoreAllowance(
        min(line.most, line.first + line.per_day_of_age * days),
        settings.STORE_EMAILS_PER_MINUTE,
        settings.STORE_EMAILS_DAYS_AHEAD,
    )


def _is_used_up(store: Store, at: datetime) -> bool:
    rows = TestLetter.objects.filter(store=store, mode=Mode.TEST, created_at__gt=at - _DAY)
    # The index has the moment: the emails themselves aren't read.
    newest = rows.order_by("-created_at").values_list("created_at")
    return len(newest[: settings.TEST_EMAILS_PER_DAY]) >= settings.TEST_EMAILS_PER_DAY


def forget(now: datetime) -> dict[str, int]:
    """Delete emails of test mode that were shown long enough; how many."""
    old = TestLetter.objects.filter(created_at__lt=now - timedelta(days=settings.MAIL_KEPT_DAYS))
    return {"test_emails": prune(old)}
