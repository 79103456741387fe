"""Records that are made where a shard is set name it, in the forms that there are without one, and
open what they open without one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from apps.access import credentials
from apps.billing.models import Invoice
from apps.billing.services.portal import portal_url
from apps.chain.watching import deposits
from apps.core.documents.private_files import PrivateFiles, name_in
from apps.core.ids import (
    SHARD_CHARACTERS,
    behind_shard,
    led_by_shard,
    new_id,
    new_id_sql,
    shard_number,
)
from apps.hosted.urls import REFERENCE
from apps.payments.services import create
from apps.webhooks import events
from config import environment
from tests import make
from tests.billing import records as r
from tests.cast import Shop
from tests.links.makers import made_link

PREFIXES = [
    *credentials.KEY_PREFIXES,
    *credentials.AGENT_PREFIXES.values(),
    credentials.OAUTH_ACCESS_PREFIX,
    credentials.OAUTH_REFRESH_PREFIX,
    credentials.CLIENT_SECRET_PREFIX,
]
SHARD = "1Z"
NUMBER = 1 * 32 + 31
STATEMENTS = """
import json, django
django.setup()
from apps.chain.watching.deposits import _PUT
from apps.payments.services.create import _INSERT
from apps.webhooks.events import RECORD_CTE
print(json.dumps([_PUT, RECORD_CTE, str(vars(_INSERT))]))
"""


@pytest.fixture
def sharded(settings: Any) -> str:
    settings.SHARD = SHARD
    return SHARD


def shard_of(id: Any) -> int:
    """As a router reads it: three hexadecimal digits, of which the first two bits are the
    variant."""
    return int(str(id)[19:22], 16) & 0x3FF


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_credential_is_led_by_its_shard_and_keeps_its_form(sharded: str, prefix: str) -> None:
    text = credentials.mint(prefix)

    assert text.startswith(prefix + sharded)
    assert credentials.is_well_formed(text, prefix)
    assert len(text) == len(prefix) + 40 and text[len(prefix) :].isalnum()
    assert credentials.mint(prefix) != text


def test_an_id_has_the_shard_in_ten_bits_and_stays_a_uuid_of_version_seven(
    sharded: str, db: None
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {new_id_sql()} FROM generate_series(1, 50)")
        made_in_sql = [id for (id,) in cursor.fetchall()]
    ids = [*made_in_sql, *(new_id() for _ in range(50))]

    assert {(id.version, shard_of(id)) for id in ids} == {(7, NUMBER)}
    assert {id.variant for id in ids} == {new_id().variant} and len(set(ids)) == 100


@pytest.mark.parametrize(("shard", "number"), [("00", 0), ("0Z", 31), ("10", 32), ("ZZ", 1023)])
def test_a_shard_is_one_of_1024_numbers(settings: Any, shard: str, number: int) -> None:
    settings.SHARD = shard
    assert shard_number() == number == shard_of(new_id())


def test_the_environment_takes_exactly_the_characters_that_ids_know() -> None:
    taken = {chr(code) for code in range(128) if environment._SHARD.fullmatch("0" + chr(code))}
    assert taken == set(SHARD_CHARACTERS) and len(SHARD_CHARACTERS) == 32


def test_without_a_shard_nothing_is_marked() -> None:
    assert led_by_shard("abcdef") == behind_shard("abcdef") == "abcdef"
    assert shard_number() is None and new_id_sql() == "uuidv7()"
    assert len({shard_of(new_id()) for _ in range(200)}) > 100


def test_a_payment_its_page_and_a_link_are_found_by_what_is_led_by_the_shard(
    sharded: str, bakery: Shop
) -> None:
    made = make.payment(bakery.test)
    link = made_link(bakery)

    assert made["reference"].startswith(sharded) and REFERENCE.endswith("{16})")
    assert len(made["reference"]) == 16 and made["reference"].isalnum()
    assert made["hosted_url"].endswith("/pay/" + made["reference"])
    assert link.token.startswith(sharded.lower()) and len(link.token) == 12
    for path in (f"/{made['reference']}", f"/pay/{made['reference']}", f"/pay/{link.token}"):
        assert Client().get(path).status_code == 200, path
    answer = Client().get(f"/api/v2/checkout/{made['reference']}")
    assert answer.json()["token"] == made["reference"]


def test_an_invoice_and_the_customers_own_page_are_found_by_their_tokens(
    sharded: str, bakery: Shop
) -> None:
    invoice = r.opened(bakery.test)
    row = Invoice.objects.select_related("customer").get(pk=invoice["id"])
    portal = portal_url(row.customer).rpartition("/")[2]

    assert str(row.public_token).startswith(sharded) and len(str(row.public_token)) == 32
    assert int(portal[16:19], 16) & 0x3FF == NUMBER == shard_of(row.customer_id)
    for path in (f"/invoice/{row.public_token}", f"/portal/{portal}"):
        assert Client().get(path).status_code == 200, path


def test_a_signed_link_stands_behind_the_shard_and_one_from_before_opens_the_same(
    settings: Any, tmp_path: Path
) -> None:
    storage = PrivateFiles(str(tmp_path))
    before = storage.url("a.pdf").rpartition("/")[2]
    settings.SHARD = SHARD
    after = storage.url("a.pdf").rpartition("/")[2]

    assert after.startswith(f"{SHARD}~") and "~" not in before
    assert name_in(before) == name_in(after) == "a.pdf"


def test_what_was_made_without_a_shard_stays_valid(settings: Any, bakery: Shop) -> None:
    made = make.payment(bakery.test)
    link = made_link(bakery)
    settings.SHARD = SHARD

    assert make.detail(bakery.test, made["id"])["reference"] == made["reference"]
    assert Client().get(f"/pay/{made['reference']}").status_code == 200
    assert Client().get(f"/pay/{link.token}").status_code == 200


def test_rows_that_statements_make_have_it_too() -> None:
    run = subprocess.run(
        [sys.executable, "-c", STATEMENTS],
        env={**os.environ, "SHARD": SHARD},
        capture_output=True,
        text=True,
        check=True,
    )
    digits = f"{0b10 << 10 | NUMBER:03x}"
    assert all(f"PLACING '{digits}' FROM 20" in text for text in json.loads(run.stdout))
    without = (deposits._PUT, events.RECORD_CTE, str(vars(create._INSERT)))
    assert all("uuidv7()" in text and "PLACING" not in text for text in without)
