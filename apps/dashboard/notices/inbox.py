"""THE table of what needs a person of the store: kind, who may see and resolve it, its selector,
and how a row is shown.

One statement counts every kind, and is drawn up once; rows are read of the kinds
alone that have any, one statement each, so that a store in which all is well pays for the count and
nothing else.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, cached_property
from typing import Any, Self

from django.db.models import CharField, DateTimeField, DurationField, QuerySet, UUIDField

from apps.access.access import Access
from apps.assets.attention import stopped_assets
from apps.billing import attention as billing
from apps.chain.attention import delayed_wallets, sendings_in_review
from apps.core import clock
from apps.core.db.sql import BlankParameter, Statement, statement_of_names
from apps.core.redis import value_cache
from apps.dashboard.notices import payments as inbox_payments
from apps.dashboard.notices import rows as inbox_rows
from apps.dashboard.notices.notices import Notice, RowButton, age_words
from apps.payments import attention as payments
from apps.payments.proceeds import progress_by_payment
from apps.payouts import attention as payouts
from apps.stores import roles
from apps.stores.attention import is_business_in_review, rejected_verifications
from apps.webhooks.attention import failing_endpoints

# How much of a kind is read and counted, and how long what may be left alone is shown.
KIND_MAX = 100
SHOWN_FOR = timedelta(days=30)
KEPT_SECONDS = 60


@dataclass(frozen=True)
class SelectorParameters:
    """Parameters of the selectors for a person who looks now: values, or a blank for each of
    them."""

    store_id: Any
    mode: Any
    user: Any
    real_now: Any
    ahead: Any
    shown_since: Any
    is_verified: bool  # the store's business; it decides what is asked

    @classmethod
    def of(cls, access: Access) -> Self:
        return cls(
            store_id=access.store_id,
            mode=access.mode,
            user=access.user,
            real_now=clock.real_now(),
            ahead=clock.offset(access.store, access.mode),
            shown_since=access.now() - SHOWN_FOR,
            is_verified=_is_verified(access),
        )

    @classmethod
    def of_anybody(cls, is_verified: bool) -> Self:
        return cls(
            store_id=BlankParameter("store_id", UUIDField()),
            mode=BlankParameter("mode", CharField()),
            user=BlankParameter("user", UUIDField()),
            real_now=BlankParameter("real_now", DateTimeField()),
            ahead=BlankParameter("ahead", DurationField()),
            shown_since=BlankParameter("shown_since", DateTimeField()),
            is_verified=is_verified,
        )


def _is_verified(access: Access) -> bool:
    return access.store.kyc_confirmed_at is not None


def _since(
    find: Callable[[Any, datetime], "QuerySet[Any]"],
) -> Callable[[SelectorParameters], "QuerySet[Any]"]:
    return lambda look: find(look, look.shown_since)


def _delayed(look: SelectorParameters) -> "QuerySet[Any]":
    return delayed_wallets(look, look.real_now, look.ahead)


def _unmatched(look: SelectorParameters) -> "QuerySet[Any]":
    return payments.unmatched_transfers(look, look.ahead)


def _approvals(look: SelectorParameters) -> "QuerySet[Any]":
    return payouts.open_approvals(look, look.user)


def _bank_accounts(look: SelectorParameters) -> "QuerySet[Any]":
    rows = payouts.bank_accounts_waiting(look).annotate(is_in_review=is_business_in_review())
    return rows.none() if look.is_verified else rows


@dataclass(frozen=True)
class InboxKind:
    """`rows` finds them, newest first, and `notice_of` says one; who lacks `resolves` reads it
    without a button. What nobody of the store has to do anything about isn't in the number that is
    shown."""

    name: str
    rows: Callable[[SelectorParameters], "QuerySet[Any]"]
    notice_of: Callable[[Any], Notice]
    resolves: str
    sees: str = roles.VIEW
    is_counted: bool = True
    is_in_part: bool = False  # says how much of the payment has come


KINDS = (
    InboxKind(
        "late_deposit", payments.late_deposits, inbox_payments.of_late_deposit, roles.MOVE_MONEY
    ),
    InboxKind(
        "flagged_payment",
        payments.flagged_payments,
        inbox_payments.of_flagged_payment,
        roles.MOVE_MONEY,
    ),
    InboxKind(
        "held_refund", payments.held_refunds, inbox_payments.of_held_refund, roles.MOVE_MONEY
    ),
    InboxKind(
        "unreturned_payment",
        payments.unreturned_payments,
        inbox_payments.of_unreturned_payment,
        roles.MOVE_MONEY,
    ),
    InboxKind(
        "short_payment",
        payments.short_payments,
        inbox_payments.of_short_payment,
        roles.VIEW,
        is_in_part=True,
    ),
    InboxKind(
        "underpaid_payment",
        _since(payments.underpaid_payments),
        inbox_payments.of_underpaid_payment,
        roles.VIEW,
        is_in_part=True,
    ),
    InboxKind(
        "overpaid_payment",
        _since(payments.overpaid_payments),
        inbox_payments.of_overpaid_payment,
        roles.MOVE_MONEY,
        is_in_part=True,
    ),
    InboxKind(
        "failed_refund",
        _since(payments.failed_refunds),
        inbox_payments.of_failed_refund,
        roles.MOVE_MONEY,
    ),
    InboxKind(
        "unmatched_transfer",
        _unmatched,
        inbox_payments.of_unmatched_transfer,
        roles.MOVE_MONEY,
    ),
    InboxKind(
        "sending_in_review",
        sendings_in_review,
        inbox_rows.of_sending,
        roles.VIEW,
        is_counted=False,
    ),
    InboxKind("approval", _approvals, inbox_rows.of_approval, roles.MOVE_MONEY),
    InboxKind(
        "failed_payout", payouts.failed_payouts, inbox_rows.of_failed_payout, roles.MOVE_MONEY
    ),
    InboxKind(
        "returned_payout",
        _since(payouts.returned_payouts),
        inbox_rows.of_returned_payout,
        roles.MOVE_MONEY,
    ),
    InboxKind(
        "payout_in_review",
        payouts.payouts_in_review,
        inbox_rows.of_payout,
        roles.VIEW,
        is_counted=False,
    ),
    InboxKind("bank_account", _bank_accounts, inbox_rows.of_bank_account, roles.MANAGE),
    InboxKind("verification", rejected_verifications, inbox_rows.of_verification, roles.MANAGE),
    InboxKind("stopped_asset", stopped_assets, inbox_rows.of_stopped_asset, roles.VIEW),
    InboxKind(
        "delayed_payouts", _delayed, inbox_rows.of_delayed_wallet, roles.VIEW, is_counted=False
    ),
    InboxKind(
        "flagged_invoice", _since(billing.flagged_invoices), inbox_rows.of_invoice, roles.VIEW
    ),
    InboxKind(
        "past_due_subscription",
        billing.past_due_subscriptions,
        inbox_rows.of_subscription,
        roles.VIEW,
    ),
    InboxKind(
        "failing_endpoint", failing_endpoints, inbox_rows.of_endpoint, roles.DEVELOP, roles.INSPECT
    ),
)


@dataclass(frozen=True)
class InboxLine:
    """A notice, and whether the person who looks may resolve it; one that isn't counted is only
    shown."""

    notice: Notice
    may_resolve: bool
    age_seconds: int
    is_counted: bool
    role: str | None

    @property
    def age(self) -> str:
        return age_words(self.age_seconds)

    @property
    def also(self) -> list[RowButton]:
        """The further buttons that this person may press."""
        return [
            button
            for button in self.notice.also
            if not button.needs or roles.may(self.role, button.needs)
        ]


def _badge(counts: Counter[str]) -> str:
    counted = [counts[kind.name] for kind in KINDS if kind.is_counted]
    more = "+" if max(counted) >= KIND_MAX else ""
    return f"{sum(counted)}{more}" if any(counted) else ""


@cache
def _counting(role: str | None, is_verified: bool) -> Statement | None:
    """Says the name of each row that somebody of this role sees, KIND_MAX of a kind at most; None
    for a role that sees no kind."""
    look = SelectorParameters.of_anybody(is_verified)
    kinds = {kind.name: kind.rows(look) for kind in KINDS if roles.may(role, kind.sees)}
    return statement_of_names(kinds, limit=KIND_MAX) if kinds else None


class Inbox:
    """A person's view of the inbox. Nothing is read before it is asked for."""

    def __init__(self, access: Access) -> None:
        self.access = access

    @cached_property
    def counts(self) -> Counter[str]:
        """Of each kind that has any, KIND_MAX at most: one statement for all."""
        access = self.access
        look = SelectorParameters.of(access)
        counting = _counting(access.role, look.is_verified)
        rows = (
            counting.rows(
                store_id=look.store_id,
                mode=look.mode,
                user=access.user and access.user.pk,
                real_now=look.real_now,
                shown_since=look.shown_since,
            )
            if counting is not None
            else []
        )
        counts = Counter(name for (name,) in rows)
        self._keep(counts)
        return counts

    @property
    def count(self) -> int:
        return self.counts.total()

    @property
    def badge(self) -> str:
        """The number beside Home, empty without one: on pages that show no rows it may be
        KEPT_SECONDS old."""
        if "counts" not in self.__dict__:
            badge = self._kept_badge
            if isinstance(badge, str):
                return badge
        return _badge(self.counts)

    @cached_property
    def _kept_badge(self) -> object:
        """A page has two side bars."""
        return value_cache.get(self._key)

    def forget(self) -> None:
        """Drops the cached count after an act of this person, which may have resolved something."""
        value_cache.forget(self._key)

    def _keep(self, counts: Counter[str]) -> None:
        value_cache.put(self._key, _badge(counts), KEPT_SECONDS)

    @property
    def _key(self) -> str:
        access = self.access
        return f"inbox:{access.store_id}:{access.mode}:{access.caller}:{access.role}"

    def lines(self, limit: int) -> list[InboxLine]:
        """The newest, of all kinds together; last what is only shown."""
        result: list[InboxLine] = []
        now = self.access.now()
        for kind, rows in self._rows(limit):
            may_resolve = roles.may(self.access.role, kind.resolves)
            result += [
                InboxLine(
                    item,
                    may_resolve,
                    max(int((now - item.at).total_seconds()), 0),
                    kind.is_counted,
                    self.access.role,
                )
                for item in map(kind.notice_of, rows)
            ]
        return sorted(result, key=lambda line: (line.is_counted, line.notice.at), reverse=True)[
            :limit
        ]

    def _rows(self, limit: int) -> list[tuple[InboxKind, list[Any]]]:
        """Of each kind that has any; payments that have come in part with their progress."""
        look = SelectorParameters.of(self.access)
        found = [
            (kind, list(kind.rows(look)[: min(limit, KIND_MAX)]))
            for kind in KINDS
            if self.counts[kind.name]
        ]
        in_part = [row for kind, rows in found if kind.is_in_part for row in rows]
        progress = progress_by_payment(in_part)
        for row in in_part:
            row.progress = progress[row.pk]
        return found
