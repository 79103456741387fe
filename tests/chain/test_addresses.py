"""Deposit addresses: BIP-32 exactly, from the public key alone, and never the same one twice."""

import os
import threading
from typing import Any

import pytest
from eth_account import Account
from eth_utils.address import to_checksum_address
from hypothesis import example, given
from hypothesis import strategies as st

from apps.chain import addresses
from apps.chain.addresses import derive, next_indexes
from apps.chain.networks.evm.spelling import checksummed
from apps.core.process.published_secrets import DEMO_MNEMONIC, PUBLISHED


@pytest.mark.parametrize(("mode", "account"), [("live", 0), ("test", 1)])
def test_addresses_are_those_of_the_wallet_that_holds_the_seed(
    mode: str, account: int, settings: Any
) -> None:
    settings.DEPOSIT_XPUBS = {
        name.lower(): PUBLISHED[f"DEPOSIT_XPUB_{name}"] for name in ("LIVE", "TEST")
    }
    Account.enable_unaudited_hdwallet_features()
    for index in (0, 1, 7, 49, 50, 2**31 - 1):
        wallet = Account.from_mnemonic(
            DEMO_MNEMONIC, account_path=f"m/44'/60'/{account}'/0/{index}"
        )
        assert checksummed(derive(mode, index)) == wallet.address


@given(st.binary(min_size=20, max_size=20))
@example(bytes.fromhex("f39fd6e51aad88f6f4ce6ab8827279cfffb92266"))
@example(bytes(20))
def test_an_address_is_shown_with_its_checksum(raw: bytes) -> None:
    shown = to_checksum_address(raw)
    assert checksummed(f"0x{raw.hex()}") == checksummed(shown) == shown


@pytest.mark.django_db
def test_no_index_is_given_out_twice_by_threads_or_processes() -> None:
    taken = next_indexes(3) + next_indexes(120) + next_indexes(1)
    assert len(set(taken)) == 124
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(len(addresses._free)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"0"  # what the parent had left over is not the child's to use


@pytest.mark.django_db
def test_threads_share_what_a_process_has_taken() -> None:
    addresses._free.clear()
    next_indexes(1)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.extend(next_indexes(4))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(set(found)) == 48
