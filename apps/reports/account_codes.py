"""The accounts of a store's own bookkeeping, by kind of line: what its accountant posts the lines
of a statement to."""

import uuid

from django.db import transaction
from django.utils.translation import gettext_noop
from msgspec import Struct, structs

from apps.access.access import Access
from apps.core.messages.fields import Invalid, check_storable
from apps.core.messages.invalid import InvalidFields
from apps.reports.models import AccountCodes
from apps.stores.auditing import audit

CODE_MAX = 20


class Codes(Struct, frozen=True, kw_only=True):
    """By kind of line; empty where the store has named none."""

    payments: str = ""
    fees: str = ""
    refunds: str = ""
    payouts: str = ""
    swaps: str = ""
    agents: str = ""
    network_fees: str = ""
    deposits: str = ""
    other: str = ""
    # What the coins are on, and what DATEV's files begin with.
    coins: str = ""
    consultant_number: str = ""
    client_number: str = ""

    def of(self, kind: str) -> str:
        """The code of a kind of movement."""
        return str(getattr(self, line_of(kind)))


LINES = {
    "payments": gettext_noop("Payments"),
    "fees": gettext_noop("Processing fees"),
    "refunds": gettext_noop("Refunds"),
    "payouts": gettext_noop("Payouts"),
    "swaps": gettext_noop("Swaps"),
    "agents": gettext_noop("Spent by agents"),
    "network_fees": gettext_noop("Network fees"),
    "deposits": gettext_noop("Deposits, until they are settled"),
    "other": gettext_noop("Corrections and everything else"),
}
FIELDS = LINES | {
    "coins": gettext_noop("Coins held here"),
    "consultant_number": gettext_noop("DATEV consultant number"),
    "client_number": gettext_noop("DATEV client number"),
}
# What common charts of accounts begin with; an accountant knows better.
CHARTS = {
    "skr03": Codes(
        payments="8400", fees="4970", refunds="8720", payouts="1360", swaps="1360", agents="4900",
        network_fees="4970", deposits="1590", other="1590", coins="1500",
    ),
    "skr04": Codes(
        payments="4400", fees="6855", refunds="4720", payouts="1460", swaps="1460", agents="6300",
        network_fees="6855", deposits="1370", other="1370", coins="1300",
    ),
}  # fmt: skip
_LINE_OF = {
    "payment_settled": "payments",
    "overpayment_settled": "payments",
    "late_deposit_accepted": "payments",
    "deposit_confirmed": "deposits",
    "simulated_deposit_changed": "deposits",
    "platform_fee_returned": "fees",
    "own_deposit_restored": "deposits",
    "own_deposit_reversed": "deposits",
    "own_fees_collected": "fees",
    "payout_gas_charged": "network_fees",
    "x402_gas_charged": "network_fees",
}
_BEGINNINGS = {
    "refund": "refunds",
    "transfer": "refunds",
    "payout": "payouts",
    "swap": "swaps",
    "x402": "agents",
}


def line_of(kind: str) -> str:
    """The kind of line that a kind of movement is."""
    return _LINE_OF.get(kind) or _BEGINNINGS.get(kind.partition("_")[0], "other")


def codes_of(store_id: uuid.UUID) -> Codes:
    row = AccountCodes.objects.filter(store_id=store_id).first()
    codes = row.codes if row is not None else {}
    return Codes(**{name: str(codes[name]) for name in FIELDS if codes.get(name)})


def set_codes(access: Access, codes: Codes) -> None:
    """Raises Invalid, or InvalidFields for several."""
    broken = [
        problem for name in FIELDS if (problem := _wrong(name, getattr(codes, name))) is not None
    ]
    if broken:
        raise broken[0] if len(broken) == 1 else InvalidFields(*broken)
    details = {name: code for name, code in structs.asdict(codes).items() if code}
    with transaction.atomic():
        AccountCodes.objects.update_or_create(store_id=access.store_id, defaults={"codes": details})
        audit.record("account_codes.changed", store=access.store_id, details=details)


def _wrong(name: str, code: str) -> Invalid | None:
    if len(code) > CODE_MAX:
        return Invalid(name, "too_long", maximum=CODE_MAX)
    try:
        check_storable(code, name)
    except Invalid as refusal:
        return refusal
    return None if code.isprintable() else Invalid(name, "unstorable")
