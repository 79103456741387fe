"""Which source speaks SQL to the tables of another app, and why: who changes such a table finds its
readers here."""

import ast
import re
from collections.abc import Iterator
from functools import cache

from django.apps import apps

from tests.core.test_jobs import storeys
from tests.house.files import ROOT, sources

BOOKS = ("ledger_account", "ledger_entry", "ledger_movement")
COINS = ("assets_asset", "assets_chain")
# Reason -> source -> the tables of other apps. An audit (`invariants`) compares what all apps say,
# so it isn't listed.
ALLOWED: dict[str, dict[str, tuple[str, ...]]] = {
    "One statement decides, so that nothing can change between two reads": {
        "apps/agents/services/settle.py": ("stores_store", *COINS),
        "apps/agents/services/tokens.py": COINS,
        "apps/payouts/services/terms.py": ("assets_acceptedasset",),
        "apps/chain/addresses.py": ("assets_asset",),
        "apps/access/person/entering.py": ("stores_member", "stores_store"),
    },
    "A second look at what is to be signed trusts the books, not the app that asks": {
        "apps/chain/sending/caps.py": BOOKS,
        "apps/chain/sending/limits.py": ("assets_asset",),
        "apps/chain/sending/reservations.py": (*BOOKS, "stores_store"),
    },
    "A payment is made, read or locked in one statement: the API's hot path": {
        "apps/payments/services/create.py": ("chain_address",),
        "apps/payments/services/pricing.py": (
            "assets_acceptedasset",
            *COINS,
            "assets_rate",
            "chain_walletchoice",
        ),
        "apps/payments/services/change_status.py": ("stores_store",),
        "apps/payments/snapshot.py": (*COINS, "chain_deposit", "stores_verification"),
    },
    "An event is written with its deliveries, and claimed by whoever's turn it is": {
        "apps/webhooks/delivery/queue.py": ("stores_store",),
        "apps/webhooks/delivery/readiness.py": ("stores_store",),
        "apps/webhooks/events.py": ("stores_store",),
    },
    "A sum or list over many rows, made where the rows are": {
        "apps/console/books.py": ("assets_asset", *BOOKS),
        "apps/staff/books/trial_balance.py": ("assets_asset", *BOOKS),
        "apps/ledger/selectors.py": ("assets_acceptedasset", "assets_asset"),
        "apps/payments/daily_sums.py": BOOKS,
        "apps/payments/documents/news.py": ("chain_deposit", "chain_sighting"),
        "apps/payments/net.py": ("assets_asset",),
        "apps/payments/proceeds.py": (*COINS, "chain_deposit"),
        "apps/payments/seals.py": ("stores_store",),
        "apps/payments/selectors.py": ("chain_deposit",),
        "apps/payments/services/reviewed.py": ("assets_acceptedasset", "chain_deposit"),
        "apps/chain/sending/gas_left.py": ("assets_asset",),
        "apps/platforms/services/overview.py": (
            "assets_asset",
            *BOOKS,
            "payments_dailysum",
        ),
        "apps/payments/services/own_losses.py": (
            "assets_acceptedasset",
            "chain_address",
            "chain_deposit",
            "ledger_movement",
        ),
        "apps/swaps/services/auto.py": ("payments_payment",),
        "apps/reports/bookings.py": (
            "assets_asset",
            *BOOKS,
            "payments_payment",
        ),
        "apps/reports/hourly_bookings.py": (
            "assets_asset",
            "assets_dailyrate",
            *BOOKS,
            "payments_payment",
            "stores_store",
        ),
        "apps/reports/selectors.py": (
            "assets_asset",
            *BOOKS,
            "payments_dailysum",
            "payments_payment",
        ),
        "apps/reports/worth.py": (
            "assets_dailyrate",
            "ledger_account",
            "ledger_entry",
            "payments_paymentaddress",
        ),
    },
    "The audit compares what the books say with the chain and with their guards": {
        "apps/audit/touched.py": (
            *BOOKS,
            "chain_block",
            "chain_deposit",
            "chain_outgoingtransaction",
            "chain_payer",
            "payments_heldrefund",
            "payments_latedeposit",
            "payments_paymentaddress",
            "payments_paymentevent",
            "payments_refund",
            "payments_transferreturn",
            "swaps_swap",
            "webhooks_delivery",
            "webhooks_event",
        ),
        "apps/audit/custody.py": (
            "chain_address",
            "chain_deposit",
            "chain_outgoingtransaction",
            "chain_unmatchedtransfer",
            "ledger_account",
        ),
        "apps/audit/custody_addresses.py": (
            "chain_address",
            "chain_deposit",
            "chain_outgoingtransaction",
        ),
        "apps/audit/derived.py": ("chain_address", "payments_paymentaddress"),
        "apps/audit/grants.py": ("ledger_entry",),
        "apps/audit/guards.py": ("ledger_account",),
        "apps/audit/own_receipts.py": ("chain_address", "chain_deposit", "ledger_movement"),
        "apps/audit/senders.py": ("chain_deposit", "chain_payer"),
        "apps/audit/logged.py": (
            "agents_agentsettings",
            "assets_asset",
            "payouts_payoutsettings",
            "stores_auditentry",
        ),
    },
}
OWNERS = {
    model._meta.db_table: model._meta.app_label
    for model in apps.get_models(include_auto_created=True)
    if model.__module__.startswith("apps.")
}
_BEFORE = r"(?:\b(?:FROM|JOIN|INTO|UPDATE|ONLY|TABLE)\s+|,\s*)"
MENTIONED = re.compile(_BEFORE + r"([a-z0-9]+_[a-z0-9_]+)\b")


def tables_of_others(source: str, of: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (
                table for table in MENTIONED.findall(node.value) if OWNERS.get(table, of) != of
            )


@cache
def pairs() -> frozenset[tuple[str, str]]:
    found = set()
    for path in sources("apps"):
        name = path.relative_to(ROOT)
        if path.suffix != ".py" or "migrations" in name.parts or "invariants" in str(name):
            continue
        of = name.parts[1]
        source = path.read_text()
        if any(OWNERS.get(word, of) != of for word in re.findall(r"[a-z0-9]+_[a-z0-9_]+", source)):
            found |= {(str(name), table) for table in tables_of_others(source, of)}
    return frozenset(found)


def test_sql_on_another_apps_table_is_listed_with_its_reason() -> None:
    listed = {
        (source, table)
        for of_reason in ALLOWED.values()
        for source, tables in of_reason.items()
        for table in tables
    }
    assert pairs() - listed == set(), "ask the app's selector, or say here why not"
    assert listed - pairs() == set(), "nothing says so any more"


def test_no_sql_speaks_to_the_tables_of_an_app_above() -> None:
    heights = storeys()
    upward = {
        (source, table)
        for source, table in pairs()
        if heights[OWNERS[table]] > heights[source.split("/")[1]]
    }
    assert upward == set()


def test_the_scan_finds_what_it_should() -> None:
    planted = 'SQL = f"""SELECT 1 FROM stores_store s, ledger_entry e JOIN payments_payment {x}"""'
    assert set(tables_of_others(planted, "payments")) == {"stores_store", "ledger_entry"}
