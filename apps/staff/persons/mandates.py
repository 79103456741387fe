"""Mandates of agents for staff, with their draws."""

from typing import ClassVar

from apps.agents.models import (
    Mandate,
    MandateStep,
    Settlement,
    SettlementStep,
)
from apps.staff import lists
from apps.staff.pages import History
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.worth import Rated


class MandateSteps(History):
    model = MandateStep
    noun = "mandate"
    fields = ["at", "from_status", "to_status"]


class SettlementSteps(History):
    model = SettlementStep
    noun = "settlement"
    fields = ["at", "from_status", "to_status", "note"]


class MandateAdmin(Rated):
    model = Mandate
    noun = "mandate"
    labels: ClassVar = {
        "mandate_ref": "Mandate reference",
        "per_call_cap_atomic": "Maximum per call",
        "total_cap_atomic": "Total limit",
    }
    list_display = ["created", "shop", "reference", "spent", "cap", "state"]
    list_filter = ["status", "mode"]
    list_select_related = ["store", "credential", "asset"]
    search_fields = ["id", "store", "mandate_ref", "credential"]
    search_help_text = "Mandate ID, reference, credential ID, or the beginning of a store’s name"
    reference = lists.text("mandate_ref", "Reference")
    spent = lists.coins("spent_atomic", description="Spent")
    cap = lists.coins("total_cap_atomic", description="Limit")
    ordering = [BY_KEY]
    inlines = [MandateSteps]


class SettlementAdmin(Rated):
    model = Settlement
    noun = "settlement"
    labels: ClassVar = {"is_dispatched": "Sent on-chain", "tx_ref": "Transaction reference"}
    list_display = ["created", "shop", "reference", "amount", "to", "state"]
    list_filter = ["status", "mode", "is_dispatched"]
    list_select_related = ["store", "mandate", "asset"]
    search_fields = ["id", "store", "mandate", "nonce", "tx_ref"]
    search_help_text = (
        "Settlement ID, mandate ID, nonce, transaction, or the beginning of a store’s name"
    )
    reference = lists.text("mandate__mandate_ref", "Mandate")
    to = lists.short("pay_to", "To")
    ordering = [BY_KEY]
    inlines = [SettlementSteps]
    value_texts: ClassVar = {
        "is_dispatched": lambda row: "Yes" if row.is_dispatched else "No, final when submitted"
    }

    def title_of(self, row: Settlement) -> str:
        return f"of {lists.coins_text(row)}"
