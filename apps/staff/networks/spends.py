"""Transactions on networks with coins, for staff: each carries many orders, has one fee, and may be
replaced by one with a higher fee until a block has one of them."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import pluralize

from apps.assets.models import Chain
from apps.chain.models import CoinRecord, OutgoingTransaction, SpendCandidate, SpendRecord
from apps.chain.networks.families import fee_decimals
from apps.core.money import amount_text
from apps.core.templatetags.tillgate import badge
from apps.staff import lists
from apps.staff.pages import Part, ReadOnly
from apps.staff.plumbing.paging import BY_KEY

_Status = OutgoingTransaction.Status
_SWEEP = OutgoingTransaction.Purpose.SWEEP


def _coins(chain: Chain, atomic: int) -> str:
    return f"{amount_text(atomic, fee_decimals(chain))} {chain.symbol}"


class Orders(Part):
    model = OutgoingTransaction
    verbose_name_plural = "orders and sweeps"
    noun = "outgoing"
    labels: ClassVar = {"amount_atomic": "Amount", "network_fee_atomic": "Part of the fee"}
    fields = [
        "purpose",
        "reference",
        "store",
        "to_address",
        "amount_atomic",
        "network_fee_atomic",
        "status",
    ]
    list_select_related = ("chain", "store")
    value_texts: ClassVar = {
        "amount_atomic": lambda row: _coins(row.chain, row.amount_atomic),
        "network_fee_atomic": lambda row: _coins(row.chain, row.network_fee_atomic or 0),
    }


class Candidates(Part):
    model = SpendCandidate
    verbose_name_plural = "transactions, of which one is mined"
    labels: ClassVar = {
        "broadcast_at": "Sent",
        "fee_atomic": "Fee",
        "signed_at": "Signed",
        "tx_hash": "Hash",
    }
    fields = ["tx_hash", "fee_atomic", "signed_at", "broadcast_at"]
    list_select_related = ("spend__chain",)
    value_texts: ClassVar = {"fee_atomic": lambda row: _coins(row.spend.chain, row.fee_atomic)}

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("raw", "plan")


class Coins(Part):
    model = CoinRecord
    verbose_name_plural = "coins that it spends"
    labels: ClassVar = {
        "amount_atomic": "Amount",
        "is_deposit": "From a deposit address",
        "tx_hash": "Received in",
    }
    fields = ["tx_hash", "output", "address", "is_deposit", "amount_atomic"]
    list_select_related = ("chain",)
    value_texts: ClassVar = {"amount_atomic": lambda row: _coins(row.chain, row.amount_atomic)}


class SpendAdmin(ReadOnly):
    model = SpendRecord
    names = ("shared transaction", "shared transactions")
    noun = "outgoing"
    labels: ClassVar = {
        "ended_at": "Settled",
        "first_output": "First coin’s output",
        "first_tx_hash": "First coin was received in",
        "mined_as": "Mined as",
    }
    list_display = ["created", "network", "paid", "fee", "transaction", "stage"]
    list_filter = [lists.present("ended_at", "status", "Settled", "On its way"), "chain"]
    list_select_related = ["chain"]
    search_fields = ["candidates__tx_hash"]
    search_help_text = "Transaction hash"
    nothing = (
        "No shared transactions yet. On Bitcoin and Litecoin one transaction carries many payouts"
        " and refunds; its fee and what replaced it appear here."
    )
    says_nothing: ClassVar = {"mined_as": lambda row: not row.mined_as}
    created = lists.when("created_at", "Created")
    network = lists.chain()
    ordering = [BY_KEY]
    inlines = [Candidates, Orders, Coins]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[SpendRecord]":
        rows: QuerySet[SpendRecord] = super().get_queryset(request)
        return rows.prefetch_related(
            Prefetch("candidates", SpendCandidate.objects.defer("raw", "plan").order_by("pk")),
            Prefetch("orders", OutgoingTransaction.objects.exclude(purpose=_SWEEP)),
        )

    @admin.display(description="Orders")
    def paid(self, row: SpendRecord) -> str:
        orders = list(row.orders.all())
        amount = _coins(row.chain, sum(order.amount_atomic for order in orders))
        return f"{amount} in {len(orders)} order{pluralize(len(orders))}"

    @lists.number
    @admin.display(description="Network fee", empty_value=lists.NOTHING)
    def fee(self, row: SpendRecord) -> str | None:
        """Of what was mined, or of the last."""
        newest = _newest(row)
        return _coins(row.chain, newest.fee_atomic) if newest else None

    @admin.display(description="Transaction", empty_value=lists.NOTHING)
    def transaction(self, row: SpendRecord) -> str | None:
        """Its hash, and how many it has replaced."""
        newest = _newest(row)
        if newest is None:
            return None
        earlier = len(row.candidates.all()) - 1
        return lists.by_its_ends(newest.tx_hash, f"replaces {earlier}" if earlier else "")

    @admin.display(description="Status")
    def stage(self, row: SpendRecord) -> str:
        """Status of its orders, which share their end."""
        statuses = {order.status for order in row.orders.all()}
        worst = _Status.REVIEW if _Status.REVIEW in statuses else next(iter(statuses), "")
        return badge(self.noun, worst) if worst else ""

    def title_of(self, row: SpendRecord) -> str:
        return f"of {self.paid(row)}, on {row.chain.name}"


def _newest(row: SpendRecord) -> SpendCandidate | None:
    candidates = list(row.candidates.all())
    mined = [each for each in candidates if each.tx_hash == row.mined_as]
    return next(iter(mined or candidates[-1:]), None)
