"""A network's family: its addresses as people type, compare and read them, and the links that
wallets open."""

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from apps.assets.models import Asset, Chain, NetworkFamily
from apps.audit.grants import WORKER
from apps.chain.models import Head
from apps.chain.networks import families
from apps.chain.sending import sender
from apps.core import clock
from apps.payouts.models import Destination
from tests import roles
from tests.cast import Cast

STORED = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
SHOWN = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"  # of EIP-55
HASH = "0x" + "ab" * 32


@pytest.mark.django_db
def test_every_family_of_a_network_has_a_module() -> None:
    assert {asset.chain.family for asset in Asset.objects.select_related("chain")} == set(
        NetworkFamily.values
    )
    for asset in Asset.objects.select_related("chain"):
        example = families.addresses_of(asset.chain).example
        assert families.addresses_of(asset.chain).read(example)
        assert families.links_of(asset).payment_link(asset, example, 1)


@pytest.mark.parametrize("typed", [STORED, SHOWN, "0x" + STORED[2:].upper()])
def test_an_address_has_one_stored_spelling_however_it_is_typed(typed: str) -> None:
    assert families.read_any(typed) == families.stored(typed) == STORED
    assert families.shown_address(typed) == SHOWN
    assert families.ends_of(STORED) == ("0x5aae", "eaed")


@pytest.mark.parametrize("typed", ["", "0x12", SHOWN.swapcase(), f"{STORED}0", "bc1qexample", HASH])
def test_what_is_no_address_is_not_read_as_one(typed: str) -> None:
    assert families.read_any(typed) is None


@pytest.mark.parametrize("text", ["", "Cash", HASH])
def test_what_is_no_address_is_shown_as_it_is(text: str) -> None:
    assert families.shown_address(text) == text
    assert families.shown_address(None) == ""


def test_a_wrong_checksum_still_finds_what_is_searched_for() -> None:
    assert families.address_in(SHOWN.swapcase().replace("0X", "0x")) == STORED


@pytest.mark.parametrize(
    "pasted", [HASH, HASH.upper().replace("0X", "0x"), HASH[2:], f"https://etherscan.io/tx/{HASH}"]
)
def test_a_hash_is_found_in_what_is_pasted(pasted: str) -> None:
    assert families.hash_in(f" {pasted} ") == HASH
    assert families.hash_in(f"{HASH}0") == ""


@pytest.mark.parametrize("address", ["0x" + "0" * 40, "0x" + "f" * 40, f"0x{9:040x}", "", "Cash"])
def test_coins_at_an_address_of_nobody_are_burned(address: str) -> None:
    assert families.is_burn(address)
    assert not families.is_burn(STORED)


@pytest.mark.django_db
def test_links_name_network_coin_address_and_amount() -> None:
    coin, token = (Asset.objects.select_related("chain").get(pk=pk) for pk in ("ETH", "ETH_USDC"))
    number = coin.chain.chain_id
    of_coin, of_token = families.links_of(coin), families.links_of(token)
    assert of_coin.payment_link(coin, STORED, 7) == f"ethereum:{SHOWN}@{number}?value=7"
    assert of_coin.code_text(coin, STORED, 7) == of_coin.payment_link(coin, STORED, 7)
    contract = families.shown_address(token.contract_address)
    to = f"address={SHOWN}&uint256=7"
    assert of_token.payment_link(token, STORED, 7) == f"ethereum:{contract}@{number}/transfer?{to}"
    assert of_token.code_text(token, STORED, 7) == SHOWN
    assert of_token.wallet_request(token, STORED, 0) == {}


@pytest.mark.django_db
def test_a_network_keeps_its_family_once_its_blocks_were_read() -> None:
    chain = Chain.objects.get(pk="ethereum")
    now = clock.real_now()
    Head.objects.create(
        chain=chain, number=1, hash=HASH, block_time=now, synced_at=now, genesis_hash=HASH
    )
    denied = pytest.raises(DatabaseError, match="what it is stays")
    with roles.acting_as(WORKER), denied, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE assets_chain SET family = 'bitcoin' WHERE id = 'ethereum'")


# A token's contract, and who signs by a protocol of EVM: as long as EVM's.
OF_EVM = {
    ("agents_signedpayment", "contract_address"),
    ("agents_signedpayment", "payer"),
    ("assets_asset", "contract_address"),
    ("chain_unmatchedtransfer", "contract_address"),
}


@pytest.mark.django_db
def test_columns_of_addresses_are_as_long_as_any_familys() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND character_maximum_length = 42"
        )
        assert set(cursor.fetchall()) == OF_EVM


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr", True),
        ("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", True),
        ("f" * 128, True),
        (STORED, True),
        ("f" * 13, False),
        (f"{STORED} ", False),
        ("bitcoin:bc1q", False),
        ("", False),
    ],
)
@pytest.mark.django_db
def test_a_saved_wallet_has_letters_and_digits_of_whatever_family(
    cast: Cast, address: str, is_one: bool
) -> None:
    now = clock.real_now()
    wallet = Destination(
        store=cast.bakery.store,
        mode="live",
        created_at=now,
        kind="wallet",
        network="ethereum",
        address=address,
        cools_until=now,
    )
    if is_one:
        wallet.save(force_insert=True)
        return
    with pytest.raises(IntegrityError, match="destination_is_wallet_or_bank"), transaction.atomic():
        wallet.save(force_insert=True)


@pytest.mark.django_db
def test_an_order_keeps_the_case_of_an_address_that_has_one() -> None:
    """In lower case it would be another address, or none."""
    base58 = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
    order = {"chain_id": "sepolia", "asset_id": "SETH", "amount_atomic": 1, "purpose": "payout"}
    with transaction.atomic():
        rows = [
            sender.request(**order, to=to, reference=to, mode="test", at=clock.real_now())
            for to in (base58, SHOWN)
        ]
        assert [row.to_address for row in rows] == [base58, STORED]
        transaction.set_rollback(True)
