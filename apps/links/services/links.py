"""Making, changing, pausing and archiving a link. Payments that were made at it stay as they
are."""

import secrets

from django.db import transaction

from apps.access.access import Access
from apps.core.errors import Failure
from apps.core.idempotency import once_per_form
from apps.core.ids import led_by_shard
from apps.core.messages.fields import Invalid
from apps.links.models import TOKEN_LENGTH, PaymentLink
from apps.links.requests import LinkRequest
from apps.links.services.stock import locked_link, taken
from apps.stores.auditing import audit

# Without the letters and digits that people take for each other when they read a link aloud.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


class LinkArchived(Failure):
    code = "link_archived"
    message = "This payment link is archived"


def create_link(
    access: Access, request: LinkRequest, *, form_key: str | None = None
) -> PaymentLink:
    """Raises Invalid."""
    request.check(access.mode)
    at = access.now()
    _check_end(access, request)

    @transaction.atomic
    def make() -> PaymentLink:
        random = "".join(secrets.choice(_LETTERS) for _ in range(TOKEN_LENGTH))
        token = led_by_shard(random).lower()
        identity = {
            "store": access.store,
            "mode": access.mode,
            "form_key": form_key,
            "token": token,
        }
        link: PaymentLink = PaymentLink.objects.create(
            **identity, created_at=at, updated_at=at, **request.columns()
        )
        _note("payment_link.created", link, _terms(link))
        return link

    return once_per_form(PaymentLink.objects.visible_to(access), form_key, make)


@transaction.atomic
def update_link(access: Access, link: PaymentLink, request: LinkRequest) -> PaymentLink:
    """For anyone who pays from now on. Raises Invalid, also for a stock below what is sold or held,
    or LinkArchived."""
    request.check(access.mode)
    row = _changeable(link)
    if request.ends_at != row.ends_at:
        _check_end(access, request)
    at = access.now()
    columns = request.columns()
    if request.stock is not None:
        # A link that had no stock has released nothing until now.
        count = taken(row, at)
        if request.stock < count:
            raise Invalid("stock", "at_least", minimum=count)
    changed = sorted(name for name, value in columns.items() if getattr(row, name) != value)
    for name, value in columns.items():
        setattr(row, name, value)
    row.updated_at = at
    row.save(update_fields=[*columns, "updated_at"])
    _note("payment_link.changed", row, {"fields": changed, **_terms(row)})
    return row


@transaction.atomic
def pause_link(access: Access, link: PaymentLink) -> PaymentLink:
    """Nobody begins to pay; who has begun may finish. Raises LinkArchived."""
    row = _changeable(link)
    if row.paused_at is None:
        row.paused_at = row.updated_at = access.now()
        row.save(update_fields=["paused_at", "updated_at"])
        _note("payment_link.paused", row)
    return row


@transaction.atomic
def resume_link(access: Access, link: PaymentLink) -> PaymentLink:
    """Raises LinkArchived."""
    row = _changeable(link)
    if row.paused_at is not None:
        row.paused_at = None
        row.updated_at = access.now()
        row.save(update_fields=["paused_at", "updated_at"])
        _note("payment_link.resumed", row)
    return row


@transaction.atomic
def archive_link(access: Access, link: PaymentLink) -> PaymentLink:
    """For good. Its payments stay, and its page says that it isn't available."""
    row = locked_link(link.pk)
    if row.archived_at is None:
        row.archived_at = row.updated_at = access.now()
        row.save(update_fields=["archived_at", "updated_at"])
        _note("payment_link.archived", row)
    return row


def _changeable(link: PaymentLink) -> PaymentLink:
    row = locked_link(link.pk)
    if row.archived_at is not None:
        raise LinkArchived
    return row


def _check_end(access: Access, request: LinkRequest) -> None:
    if request.ends_at is not None and request.ends_at <= access.now():
        raise Invalid("ends", "future")


def _note(action: str, row: PaymentLink, details: dict[str, object] | None = None) -> None:
    audit.record(
        action, store=row.store_id, mode=row.mode, target=row, name=row.title, details=details
    )


def _terms(row: PaymentLink) -> dict[str, object]:
    """The price and the stock: the audit compares them with the newest line that says them."""
    return {
        "amount_cents": row.amount_cents,
        "min_cents": row.min_cents,
        "max_cents": row.max_cents,
        "stock": row.stock,
    }
