"""Deposit addresses: BIP-32 exactly, from the public key alone, and never the same one twice."""

import os
import threading
from typing import Any

import pytest
from bip_utils import Bip32Slip10Secp256k1
from eth_account import Account
from eth_utils.address import to_checksum_address
from hypothesis import example, given
from hypothesis import strategies as st

from apps.chain import addresses
from apps.chain.addresses import checksummed, derive, next_indexes
from config.demo_secrets import DEMO_MNEMONIC, PUBLISHED

# BIP-32 test vectors 1 and 2: parent xpub, index, child xpub.
VECTORS = [
    (
        "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw",
        1,
        "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ",
    ),
    (
        "xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5",
        2,
        "xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV",
    ),
    (
        "xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV",
        1_000_000_000,
        "xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy",
    ),
    (
        "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB",
        0,
        "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH",
    ),
]


@pytest.mark.parametrize(("parent", "index", "child"), VECTORS)
def test_children_are_those_of_the_published_vectors(parent: str, index: int, child: str) -> None:
    assert Bip32Slip10Secp256k1.FromExtendedKey(parent).ChildKey(index).PublicKey().ToExtended() == child


@pytest.mark.parametrize(("mode", "account"), [("live", 0), ("test", 1)])
def test_addresses_are_those_of_the_wallet_that_holds_the_seed(mode: str, account: int, settings: Any) -> None:
    settings.DEPOSIT_XPUBS = {name.lower(): PUBLISHED[f"DEPOSIT_XPUB_{name}"] for name in ("LIVE", "TEST")}
    Account.enable_unaudited_hdwallet_features()
    for index in (0, 1, 7, 49, 50, 2**31 - 1):
        wallet = Account.from_mnemonic(DEMO_MNEMONIC, account_path=f"m/44'/60'/{account}'/0/{index}")
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
