"""Files of lists whose columns nobody chooses: by name, each a plain value of a row. Those whose
columns people choose are `Listing`s (apps.dashboard.tables.lists)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from apps.access.models import RequestEntry
from apps.agents.models import Mandate, SignedPayment
from apps.assets.models import Asset
from apps.chain.networks.families import shown_address
from apps.core import clock, money
from apps.core.db.replica import reads_may_lag
from apps.dashboard.site.views import Answer, PageRequest
from apps.dashboard.tables.exports import csv_answer, exported
from apps.ledger.documents import BalanceDocument
from apps.links.models import LinkPayment
from apps.payouts.models import Destination, Schedule
from apps.platforms.selectors import AccountSummary
from apps.webhooks.models import Event

Cells = Mapping[str, Callable[[Any], object]]


@dataclass(frozen=True)
class ListFile:
    """`noun` is what the file is called, `page` where its list is; what a row needs comes with
    it."""

    noun: str
    page: str
    cells: Cells

    def of(self, request: PageRequest, rows: "QuerySet[Any]", *arguments: str) -> Answer:
        """The rows of a list that may be long, in its order; `arguments` are those of its page."""
        return self.of_each(request, exported(rows), *arguments)

    @reads_may_lag("a file for later")
    def of_each(self, request: PageRequest, rows: Iterable[Any], *arguments: str) -> Answer:
        """Rows that are read already, or as the file is written."""
        lines = ([cell(row) for cell in self.cells.values()] for row in rows)
        back = reverse(f"dashboard:{self.page}", args=arguments)
        return csv_answer(request, self.noun, [*self.cells], lines, back=back)


def coins_of(amount_atomic: int | None, asset: Asset) -> str:
    if amount_atomic is None:
        return ""
    return money.decimal_from_atomic(amount_atomic, asset.atomic_decimals)


def cents_of(amount_cents: int | None) -> str:
    return "" if amount_cents is None else money.text_from_cents(amount_cents)


def _yes(is_so: object) -> str:
    return "yes" if is_so else "no"


def _identity(of: Callable[[Any], Any] = lambda row: row) -> Cells:
    """Cells by which records are matched, with their mode."""
    return {"mode": lambda row: of(row).mode, "id": lambda row: of(row).pk}


def _made(row: Any) -> str:
    at: datetime = row.created_at
    return clock.iso(at)


# --- what customers have paid at a link -----------------------------------------------------------


def _link_payment(name: str) -> Callable[[LinkPayment], object]:
    return lambda row: getattr(row.payment, name)


LINK_PAYMENTS = ListFile(
    "payment-link",
    "link",
    {
        "reference": _link_payment("reference"),
        "customer_name": lambda row: row.customer_name,
        "customer_email": lambda row: row.customer_email,
        "amount": lambda row: cents_of(row.payment.settlement_amount_cents),
        "currency": _link_payment("settlement_currency"),
        "status": _link_payment("status"),
        "state_reason": _link_payment("state_reason"),
        "created_at": lambda row: clock.iso(row.payment.created_at),
        "completed_at": lambda row: clock.iso(row.payment.completed_at),
        **_identity(lambda row: row.payment),
    },
)


# --- money that goes out --------------------------------------------------------------------------

BATCHES = ListFile(
    "mass-payouts",
    "payout_batches",
    {
        "file": lambda row: row.filename,
        "status": lambda row: row.status,
        "uploaded_by": lambda row: row.uploaded_by.email,
        "uploaded_at": _made,
        "released_by": lambda row: row.released_by.email if row.released_by else "",
        "released_at": lambda row: clock.iso(row.released_at),
        **_identity(),
    },
)


def balances_file(currency: str) -> ListFile:
    """`currency` is the one that balances are valued in."""

    def coins(name: str) -> Callable[[BalanceDocument], str]:
        return lambda row: money.decimal_from_atomic(int(getattr(row, name)), row.atomic_decimals)

    return ListFile(
        "balances",
        "balances",
        {
            "asset": lambda row: row.asset_id,
            "coin": lambda row: row.coin_symbol,
            "network": lambda row: row.chain_symbol,
            "available": coins("balance_atomic"),
            "held": coins("pending_atomic"),
            "reserved": coins("reserved_atomic"),
            "total": coins("total_atomic"),
            "worth": lambda row: cents_of(row.amount_cents),
            "currency": lambda row: "" if row.amount_cents is None else currency,
        },
    )


def schedules_file(to: Callable[[Schedule], str], last: Callable[[Schedule], str]) -> ListFile:
    """`to` and `last` say where it pays and what came of its last run, as the page does."""
    return ListFile(
        "payout-schedules",
        "payout_schedules",
        {
            "asset": lambda row: row.asset_id,
            "coin": lambda row: row.asset.coin_symbol,
            "network": lambda row: row.asset.chain.name,
            "frequency": lambda row: row.frequency,
            "destination": to,
            "minimum": lambda row: cents_of(row.minimum_fiat_cents),
            "minimum_currency": lambda row: (
                "" if row.minimum_fiat_cents is None else row.minimum_fiat_currency
            ),
            "swap_into": lambda row: row.swap_target_asset_id or "",
            "active": lambda row: _yes(row.is_active),
            "next_payout_at": lambda row: clock.iso(row.next_payout_at),
            "last_payout_at": lambda row: clock.iso(row.last_payout_at),
            "last_problem": last,
            "usable_from": lambda row: clock.iso(row.usable_from),
            "created_at": _made,
            **_identity(),
        },
    )


def _verified(row: Destination) -> str:
    return "" if row.is_wallet else _yes(row.verified_at)


DESTINATIONS = ListFile(
    "payout-destinations",
    "payout_destinations",
    {
        "name": lambda row: row.label,
        "kind": lambda row: row.kind,
        "network": lambda row: row.network,
        "address": lambda row: shown_address(row.address) if row.address else "",
        "currency": lambda row: row.currency,
        "holder": lambda row: row.holder,
        "account_ending": lambda row: row.account_hint,
        "verified": _verified,
        "rejected_because": lambda row: row.rejection_reason,
        "usable_from": lambda row: clock.iso(row.usable_from),
        "created_at": _made,
        **_identity(),
    },
)


# --- developers and agents ------------------------------------------------------------------------


def mandates_file(status: Callable[[Mandate], str]) -> ListFile:
    """`status` is that of now."""
    return ListFile(
        "mandates",
        "mandates",
        {
            "mandate_ref": lambda row: row.mandate_ref,
            "agent": lambda row: row.credential.name or row.credential.token_prefix,
            "asset": lambda row: row.asset_id,
            "spent": lambda row: coins_of(row.spent_atomic, row.asset),
            "cap": lambda row: coins_of(row.total_cap_atomic, row.asset),
            "cap_per_call": lambda row: coins_of(row.per_call_cap_atomic, row.asset),
            "status": status,
            "created_at": _made,
            "expires_at": lambda row: clock.iso(row.expires_at),
            **_identity(),
        },
    )


def _signed_for(row: SignedPayment) -> str:
    return row.offer.description or row.offer.resource


SIGNED_PAYMENTS = ListFile(
    "x402-payments",
    "x402",
    {
        "payment_id": lambda row: row.offer.payment_id,
        "payment_reference": lambda row: row.offer.payment.reference,
        "for": _signed_for,
        "payer": lambda row: shown_address(row.payer),
        "amount": lambda row: coins_of(row.amount_atomic, row.offer.asset),
        "asset": lambda row: row.offer.asset_id,
        "network": lambda row: row.offer.asset.chain.name,
        "status": lambda row: row.status,
        "failure_reason": lambda row: row.failure_reason or "",
        "created_at": _made,
        **_identity(),
    },
)


def events_file(words: Callable[[Event], str]) -> ListFile:
    """`words` say what happened."""
    return ListFile(
        "events",
        "events",
        {"type": lambda row: row.type, "event": words, "created_at": _made, **_identity()},
    )


SETTLEMENTS = ListFile(
    "mandate-draws",
    "mandate",
    {
        "amount": lambda row: coins_of(row.amount_atomic, row.asset),
        "asset": lambda row: row.asset_id,
        "pay_to": lambda row: row.pay_to or "",
        "payer": lambda row: row.payer or "",
        "status": lambda row: row.status,
        "failure_reason": lambda row: row.failure_reason or "",
        "tx_ref": lambda row: row.tx_ref or "",
        "created_at": _made,
        **_identity(),
    },
)


DELIVERIES = ListFile(
    "webhook-deliveries",
    "webhook_endpoint",
    {
        "event_type": lambda row: row.event.type,
        "event_id": lambda row: row.event_id,
        "status": lambda row: row.status,
        "attempts": lambda row: row.attempts,
        "response_status": lambda row: row.response_status,
        "duration_ms": lambda row: row.duration_ms,
        "problem": lambda row: row.failure,
        "test": lambda row: _yes(row.is_test),
        "created_at": _made,
        "delivered_at": lambda row: clock.iso(row.delivered_at),
        **_identity(),
    },
)


def _different(row: RequestEntry) -> str:
    return _yes(row.is_body_different)


REQUESTS = ListFile(
    "requests",
    "request_log",
    {
        "method": lambda row: row.method,
        "path": lambda row: row.path,
        "status": lambda row: row.status,
        "credential_kind": lambda row: row.credential_kind,
        "credential": lambda row: row.credential_name,
        "duration_ms": lambda row: row.duration_ms,
        "idempotency_key": lambda row: row.idempotency_key,
        "replay": lambda row: _yes(row.is_replay),
        "different_body": _different,
        "error_code": lambda row: row.error_code,
        "error_message": lambda row: row.error_message,
        "created_at": _made,
        "request_id": lambda row: row.request_id,
        **_identity(),
    },
)


# --- platforms ------------------------------------------------------------------------------------


def _fee(row: AccountSummary) -> str:
    return "" if row.fee is None else money.percentage_text(row.fee)


ACCOUNTS = ListFile(
    "sub-merchants",
    "platform_accounts",
    {
        "name": lambda row: row.store.name,
        "external_id": lambda row: row.store.external_id or "",
        "verification_status": lambda row: row.verification_status,
        "payout_destination": lambda row: _yes(row.has_destination),
        "platform_fee_percentage": _fee,
        "country": lambda row: row.store.country,
        "created_at": lambda row: clock.iso(row.store.created_at),
        "id": lambda row: row.store.pk,
    },
)


# --- the team -------------------------------------------------------------------------------------

MEMBERS = ListFile(
    "team",
    "members",
    {
        "name": lambda row: row.user.name,
        "email": lambda row: row.user.email,
        "role": lambda row: row.role,
        "member_since": _made,
    },
)
