"""Updates that the web's role may make of what decides about money and people: each column that it
needs, for a reason that grants.txt gives, and no other."""

import re
from typing import Any

import pytest

from apps.audit import grants
from apps.audit.grants import WEB
from apps.core import clock
from apps.core.db import tenancy
from apps.stores.models import User
from apps.stores.staff import four_eyes, staffing
from apps.stores.staff_roles import StaffRole
from tests import make
from tests.cast import Cast
from tests.chain.test_signer_believes_nobody import allowed, refused
from tests.roles import acting_as

# Tables of which each update by the web has a reason.
GUARDED = re.compile(
    r"(assets|chain|ledger)_|stores_user$|payments_(payment|paymentaddress|refund|withdrawal)$"
    r"|payouts_(payout|destination)$"
)
REFUSED = [
    *[
        f"UPDATE assets_asset SET {column}"
        for column in (
            "contract_address = NULL",
            "atomic_decimals = 0",
            "chain_id = 'sepolia'",
            "token_standard = 'Native'",
            "eip712_name = ''",
            "stopped_since = NULL",
        )
    ],
    *[
        f"UPDATE assets_chain SET {column}"
        for column in ("mode = 'test'", "chain_id = 31337", "confirmations_floor = 1", "name = ''")
    ],
    "INSERT INTO assets_asset (id) VALUES ('X')",
    "INSERT INTO assets_rate (asset_id) VALUES ('ETH')",
    "UPDATE assets_rate SET rate = rate * 2",
    *[
        f"UPDATE payouts_payout SET {column}"
        for column in (
            "destination_address = '0x1111111111111111111111111111111111111111'",
            "destination_id = NULL",
            "amount_atomic = amount_atomic * 10",
            "asset_id = 'ETH'",
            "mode = 'test'",
            "store_id = NULL",
            "rail = 'crypto'",
            "attempts = 0",
            "provider = 'sandbox'",
        )
    ],
    *[
        f"UPDATE payouts_destination SET {column}"
        for column in (
            "address = '0x1111111111111111111111111111111111111111'",
            "account_sealed = ''",
            "holder = ''",
            "kind = 'wallet'",
            "store_id = NULL",
        )
    ],
    *[
        f"UPDATE payments_refund SET {column}"
        for column in (
            "status = 'pending'",
            "tx_hash = NULL",
            "destination_address = '0x1111111111111111111111111111111111111111'",
            "amount_atomic = amount_atomic * 10",
            "attempts = 0",
        )
    ],
    *[
        f"UPDATE payments_payment SET {column}"
        for column in ("store_id = NULL", "mode = 'live'", "platform_id = NULL", "fee_fraction = 0")
    ],
    *[
        f"UPDATE payments_paymentaddress SET {column}"
        for column in ("address_id = NULL", "payment_id = NULL", "asset_id = 'ETH'")
    ],
    *[
        f"UPDATE payments_withdrawal SET {column}"
        for column in ("to_address = '0x1'", "amount_atomic = 1", "tx_hash = ''")
    ],
    "UPDATE chain_address SET mode = 'test'",
    "UPDATE chain_address SET index = 1",
    "UPDATE chain_signedtransaction SET raw = ''",
    "UPDATE chain_outgoingtransaction SET to_address = '0x1'",
    "UPDATE chain_outgoingtransaction SET status = 'requested'",
    "UPDATE chain_hotwallet SET halted_at = NULL",
    "UPDATE ledger_account SET is_guarded = false",
    "UPDATE stores_auditentry SET reason = ''",
    "DELETE FROM stores_auditentry",
    "INSERT INTO stores_auditseal DEFAULT VALUES",
    "DELETE FROM stores_auditseal",
    "INSERT INTO audit_verifiedpoint (id) VALUES (1)",
    "INSERT INTO stores_user_groups (user_id) VALUES (NULL)",
    "UPDATE stores_user SET id = gen_random_uuid()",
]


@pytest.mark.parametrize("statement", REFUSED)
def test_the_web_may_not(db: None, statement: str) -> None:
    refused(statement)


def test_each_update_of_money_or_people_has_its_columns_and_a_reason() -> None:
    without = []
    for table, cells in grants.decided().items():
        if not GUARDED.match(table) or "U" not in re.sub(r"\(.*?\)", "", cells[0]):
            continue
        if not grants.reasons()[table]:
            without.append(table)
        guarded = f"{table}: every column" if re.search(r"U[SIDN]*(?!\(|[SIDN])", cells[0]) else ""
        if guarded and table not in ("chain_deposit", "assets_acceptedasset"):
            without.append(guarded)
    assert without == []


# --- people ---------------------------------------------------------------------------------------

ROLES = "UPDATE stores_user SET staff_roles = %s, is_staff = true WHERE id = %s"


def test_the_web_makes_nobody_staff(db: None) -> None:
    person = User.objects.create(email="thief@example.com")
    refused("UPDATE stores_user SET is_superuser = true WHERE id = %s", [person.pk])
    refused("UPDATE stores_user SET is_staff = true WHERE id = %s", [person.pk])
    for roles in (["admin"], ["finance"], ["support", "finance"]):
        refused(ROLES, [roles, person.pk])
    refused(
        "INSERT INTO stores_user (id, password, is_superuser, email, email_key, name, is_active,"
        " is_staff, session_version) VALUES (gen_random_uuid(), '', %s, 'x@example.com',"
        " 'x@example.com', '', true, %s, 0)",
        [False, True],
    )
    allowed(ROLES, [["support"], person.pk])  # it reads, and one gives it


def test_two_of_the_staff_make_one(cast: Cast) -> None:
    first, second = make.clerk("admin"), make.clerk("admin")
    person = User.objects.create(email="colleague@example.com")
    at = clock.real_now()
    wish: Any = staffing.wish_of(person, [StaffRole.FINANCE], "joins us")
    row = four_eyes.ask(staffing.ROLES, wish, first, at)
    refused(ROLES, [["finance"], person.pk])
    with acting_as(WEB), tenancy.everyone("as on the staff site"):
        four_eyes.approve(staffing.ROLES, row.pk, second, at, digest=row.digest)
    assert User.objects.get(pk=person.pk).staff_roles == ["finance"]
    refused(ROLES, [["admin"], person.pk])
