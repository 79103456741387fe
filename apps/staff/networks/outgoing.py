"""Transactions that leave the hot wallets, for staff. Operators settle those in review at a
terminal with `manage.py sending`."""

from typing import ClassVar

from django.contrib import admin
from django.utils.html import format_html

from apps.chain.models import (
    OutgoingTransaction,
    UnknownTransaction,
)
from apps.chain.networks.families import has_coins
from apps.core.templatetags.tillgate import badge, moment, shorten
from apps.staff import lists
from apps.staff.pages import ReadOnly
from apps.staff.plumbing import commands
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.worth import OF_STORE_OR_SERVICE, Rated


class OutgoingTransactionAdmin(Rated):
    model = OutgoingTransaction
    noun = "outgoing"
    labels: ClassVar = {
        "goes_back": "Returned to the payer",
        "spend": "Shared transaction",
        "handled_fee_atomic": "Booked network fee",
        "handled_received_atomic": "Booked as received",
        "receives_asset": "Received asset",
        "undone_count": "Reorganizations",
        "waits_for": "Waiting for",
    }
    rated_in = OF_STORE_OR_SERVICE
    list_display = ["requested", "shop", "purpose", "amount", "to", "state"]
    list_filter = [
        lists.since("requested_at"),
        "status",
        "purpose",
        lists.MODE,
        "chain",
    ]
    list_select_related = ["asset", "chain", "store"]
    search_fields = ["id", "candidates__tx_hash", "reference"]
    search_help_text = "Transaction ID, hash, or the reference of a payout, refund, swap or sweep"
    says_nothing: ClassVar = {
        "nonce": lambda row: has_coins(row.chain),
        "gas_limit": lambda row: has_coins(row.chain),
        "call_data": lambda row: has_coins(row.chain),
        "spend": lambda row: not has_coins(row.chain),
        "received_atomic": lambda row: not row.received_atomic,
        "handled_received_atomic": lambda row: not row.handled_received_atomic,
    }
    requested = lists.made("requested_at", "Requested")
    shop = lists.store(nobody="The service")
    to = lists.short("to_address", "To", chain="chain")
    ordering = [BY_KEY]

    @admin.display(description="Status")
    def state(self, row: OutgoingTransaction) -> str:
        status = badge("outgoing", row.status)
        if row.reason:
            status = format_html('{} <span class="worth below">{}</span>', status, row.reason)
        return commands.shown(status, commands.of_outgoing(row))

    def title_of(self, row: OutgoingTransaction) -> str:
        return f"of {lists.coins_text(row)}, {row.get_purpose_display().lower()}"


class UnknownTransactionAdmin(ReadOnly):
    model = UnknownTransaction
    names = ("unexplained transaction", "unexplained transactions")
    labels: ClassVar = {"value_atomic": "Amount"}
    list_display = ["found_time", "network", "nonce", "transaction", "to", "settled"]
    list_filter = [lists.present("settled_at", "status", "Explained", "Unexplained"), "chain"]
    list_select_related = ["chain"]
    search_fields = ["tx_hash"]
    search_help_text = "Transaction hash"
    found_time = lists.when("found_at", "Found")
    network = lists.chain()
    transaction = lists.short("tx_hash", "Transaction")
    to = lists.short("to_address", "To")
    ordering = ["-found_at"]

    @admin.display(description="Explained")
    def settled(self, row: UnknownTransaction) -> str:
        if row.settled_at is not None:
            return moment(row.settled_at)
        return commands.shown("No", commands.of_unknown(row))

    def title_of(self, row: UnknownTransaction) -> str:
        return shorten(row.tx_hash)
