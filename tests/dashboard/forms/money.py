"""Forms of money that goes out, comes back or is reported."""

from collections.abc import Callable

from tests import make
from tests.dashboard.forms.broken import WALLET, Broken, Fields, World, at

SWAP = {"source_asset_id": "SETH", "buy_asset_id": "USDC_SETH", "amount": "0.1"}


BANK = {"currency": "EUR", "holder": "Alice", "account": "DE89370400440532013000"}


DAYS = {
    "report_type": "merchant_statement",
    "format": "pdf",
    "start_date": "2026-01-01",
    "end_date": "2026-01-31",
}


def schedule_fields(**changed: str) -> Callable[[World], Fields]:
    usual = {"asset_id": "SETH", "frequency": "weekly", "minimum_fiat_currency": "EUR"}
    return lambda world: {**usual, "destination": world.destination(), **changed}


MONEY = (
    Broken(
        "payout_create",
        at("payouts/new"),
        {"asset_id": "SETH", "amount": "x", "destination_address": WALLET},
        "amount",
        "Amount must be a decimal number of coins with at most 18 places.",
    ),
    Broken("payout_batch_create", at("payouts/batches/new"), {}, "file", "Choose a CSV file."),
    Broken(
        "payout_wallet_add",
        at("payouts/destinations/wallet"),
        {"network": "sepolia", "address": "0x1"},
        "address",
        "Destination address is not valid for Ethereum Sepolia.",
    ),
    Broken(
        "payout_wallet_add",
        at("payouts/destinations/wallet"),
        {"network": "moon", "address": WALLET},
        "network",
        "Network is not supported.",
    ),
    Broken(
        "payout_bank_add",
        at("payouts/destinations/bank"),
        {**BANK, "account": "DE00"},
        "account",
        "That is not an account number.",
    ),
    Broken(
        "payout_bank_add",
        at("payouts/destinations/bank"),
        {**BANK, "holder": ""},
        "holder",
        "Name the holder of the account.",
    ),
    Broken(
        "payout_schedule_create",
        at("payouts/schedules/new"),
        schedule_fields(frequency="hourly"),
        "frequency",
        "Frequency must be daily, weekly or monthly.",
    ),
    Broken(
        "payout_schedule_create",
        at("payouts/schedules/new"),
        schedule_fields(destination="wallet:x"),
        "destination",
        "Payout detail not found.",
    ),
    Broken(
        "payout_schedule_create",
        at("payouts/schedules/new"),
        schedule_fields(minimum="much"),
        "minimum",
        "Minimum must be a number such as 12.50.",
    ),
    Broken(
        "payout_schedule_create",
        at("payouts/schedules/new"),
        schedule_fields(swap_target_asset_id="SETH"),
        "swap_target_asset_id",
        "Source and buy asset must differ.",
    ),
    Broken(
        "payout_schedule_change",
        World.schedule,
        {"frequency": "weekly", "next_day": "2020-01-01"},
        "next_day",
        "The day must be in the future.",
    ),
    Broken("approval_reject", World.held, {"reason": ""}, "reason", "A rejection needs a reason."),
    Broken(
        "swap_create",
        at("swaps/new"),
        {**SWAP, "amount": "x"},
        "amount",
        "Amount must be a decimal number of coins with at most 18 places.",
    ),
    Broken(
        "reports",
        at("reports"),
        {**DAYS, "report_type": "x"},
        "report_type",
        "Choose one of the offered values.",
        is_get=True,
    ),
    Broken(
        "reports",
        at("reports"),
        {**DAYS, "start_date": ""},
        "start_date",
        "The first day is required.",
        is_get=True,
    ),
    Broken(
        "reports",
        at("reports"),
        {**DAYS, "start_date": "2020-01-01"},
        "end_date",
        "A report covers at most 366 days.",
        is_get=True,
    ),
    Broken(
        "refund",
        lambda world: f"payments/{make.paid(world.api)['id']}/refund",
        {"destination_address": "0x1"},
        "destination_address",
        "Destination address is not valid for Ethereum Sepolia.",
    ),
    Broken(
        "transfer_accept",
        World.transfer,
        {"reference": "NOTHING"},
        "reference",
        "No payment of your store has this reference.",
    ),
)
