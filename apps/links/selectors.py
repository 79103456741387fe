"""Reads of links. A view begins with `visible_to`; a list's figures come in one query, however long
it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum, UUIDField
from django.db.models.functions import Lower

from apps.core.db import tenancy
from apps.core.db.prepared_reads import Query
from apps.core.db.sql import BlankParameter
from apps.core.models import Viewer
from apps.links.models import LinkPayment, PaymentLink
from apps.payments.models import Payment


def links_visible_to(viewer: Viewer) -> "QuerySet[PaymentLink]":
    """Newest first, archived ones too."""
    return (
        PaymentLink.objects.visible_to(viewer)
        .select_related("store")
        .order_by("-created_at", "-id")
    )


def link_of_form(viewer: Viewer, form_key: str | None) -> PaymentLink | None:
    """The link that a form has made; none without a form."""
    return None if form_key is None else links_visible_to(viewer).filter(form_key=form_key).first()


def by_token(token: str) -> PaymentLink | None:
    """The link behind a public page."""
    rows = PaymentLink.objects.filter(token=token).select_related("store")
    return tenancy.opened("the public page of a payment link", rows.first)


@dataclass(frozen=True)
class LinkTally:
    """Income of a link. `open` payments may still be completed; what was refunded later stays
    counted."""

    completed: int = 0
    completed_cents: int = 0
    open: int = 0

    @property
    def taken(self) -> int:
        """Pieces of a stock that are sold or held."""
        return self.completed + self.open


def tallies(links: Iterable[PaymentLink]) -> dict[object, LinkTally]:
    """By the id of the link; one without payments isn't in it."""
    done = Q(payment__completed_at__isnull=False)
    waiting = Q(payment__status__in=["pending", "processing"])
    rows = (
        LinkPayment.objects.filter(link__in=[link.pk for link in links])
        .order_by()
        .values("link_id")
    )
    sums = rows.annotate(
        completed=Count("id", filter=done),
        completed_cents=Sum("payment__settlement_amount_cents", filter=done, default=0),
        open=Count("id", filter=waiting),
    )
    return {
        row["link_id"]: LinkTally(row["completed"], row["completed_cents"], row["open"])
        for row in sums
    }


def tally_of(link: PaymentLink) -> LinkTally:
    return tallies([link]).get(link.pk, LinkTally())


def payments_at(link: PaymentLink) -> "QuerySet[LinkPayment]":
    """Newest first."""
    return (
        LinkPayment.objects.filter(link=link)
        .select_related("payment__store")
        .order_by("-created_at", "-id")
    )


_LINK_PAYMENT = Query(
    lambda: LinkPayment.objects.filter(payment=BlankParameter("payment_id", UUIDField())), "link"
)


def link_payment_of(payment: Payment) -> LinkPayment | None:
    """With its link: where a payment was made, if at one, and who paid it."""
    return _LINK_PAYMENT.first(payment_id=payment.pk)


def payments_by_email(viewer: Viewer, email: str) -> "QuerySet[LinkPayment, Any]":
    """The ids of the payments by customers who gave this address at a link, whatever its case."""
    links = PaymentLink.objects.visible_to(viewer).values("pk")
    entries = LinkPayment.objects.exclude(customer_email="").annotate(
        folded=Lower("customer_email")
    )
    return entries.filter(link__in=links, folded=email.lower()).values("payment_id")
