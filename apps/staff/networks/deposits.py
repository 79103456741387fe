"""Deposits on the staff site: what arrived, on which network, and for which store's payment."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.chain.models import Deposit
from apps.core.models import Mode
from apps.payments.models import Payment, PaymentAddress
from apps.staff import lists
from apps.staff.plumbing.codes import code
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.worth import OF_THE_SERVICE, Rated


def store_of_address(column: str, of_store: str = "name") -> Subquery:
    """A column of the store whose payment has the address of a row; its name."""
    owners = PaymentAddress.objects.filter(address=OuterRef(column))
    return Subquery(owners.values(f"payment__store__{of_store}")[:1])


# Its money, in which what arrived at the address is shown.
CURRENCY_OF_ADDRESS = Coalesce(
    store_of_address("address_id", "settlement_currency"), OF_THE_SERVICE
)


def _payment_of(row: Deposit) -> Payment | None:
    owners = PaymentAddress.objects.filter(address=row.address_id)
    owner = owners.select_related("payment__store").first()
    return owner.payment if owner else None


class DepositAdmin(Rated):
    model = Deposit
    noun = "deposit"
    labels: ClassVar = {
        "is_lost": "Lost in a reorganization",
        "is_unswept": "Waiting to be swept",
        "left_atomic": "Left at the address when set aside",
    }
    rated_in = CURRENCY_OF_ADDRESS
    list_display = ["detected", "shop", "amount", "to", "transaction", "state"]
    list_filter = [lists.since("detected_at"), "status", "is_lost", "chain"]
    list_select_related = ["chain", "asset"]
    search_fields = ["id", "address", "from_address", "tx_hash"]
    search_help_text = "Deposit ID, deposit address, sender, or transaction hash"
    detected = lists.made("detected_at", "Detected")
    shop = lists.store("store_name", mode="chain__mode")
    to = lists.short("address_id", "To", chain="chain")
    transaction = lists.short("tx_hash", "Transaction")
    ordering = [BY_KEY]
    says_nothing: ClassVar = {"log_index": lambda row: row.log_index < 0}

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Deposit]":
        rows: QuerySet[Deposit] = super().get_queryset(request)
        return rows.annotate(store_name=store_of_address("address_id"))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        own = [field.name for field in self.opts.fields if field.name != "id"]
        return ["of_store", "mode", "of_payment", *own]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.get_fields(request, obj)

    @admin.display(description="Store", empty_value=lists.NOTHING)
    def of_store(self, row: Deposit) -> SafeString | None:
        payment = _payment_of(row)
        if payment is None:
            return None
        page = reverse("admin:stores_store_change", args=[payment.store_id])
        return format_html('<a href="{}">{}</a>', page, payment.store)

    @admin.display(description="Mode")
    def mode(self, row: Deposit) -> str:
        return Mode(row.chain.mode).label

    @admin.display(description="Payment", empty_value=lists.NOTHING)
    def of_payment(self, row: Deposit) -> SafeString | None:
        payment = _payment_of(row)
        if payment is None:
            return None
        page = reverse("admin:payments_payment_change", args=[payment.pk])
        return format_html('<a href="{}">{}</a>', page, code(payment.reference))

    def title_of(self, row: Deposit) -> str:
        return f"of {lists.coins_text(row)}"
