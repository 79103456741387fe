"""Deposit addresses: BIP-32 children of an account's extended public key. No private key is here, and no index is used twice."""

import os
import threading
from functools import cache, lru_cache

from bip_utils import Bip32Slip10Secp256k1, EthAddrEncoder
from django.conf import settings
from django.db import connection
from eth_utils.address import to_checksum_address

EXTERNAL_CHAIN = 0
BLOCK_SIZE = 50  # the increment of the sequence: each process takes so many indexes at a time

_lock = threading.Lock()
_free: list[int] = []
os.register_at_fork(after_in_child=_free.clear)


@cache
def _parent(mode: str) -> Bip32Slip10Secp256k1:
    return Bip32Slip10Secp256k1.FromExtendedKey(settings.DEPOSIT_XPUBS[mode]).ChildKey(EXTERNAL_CHAIN)


def derive(mode: str, index: int) -> str:
    """The checksummed address of a mode's account at 0/index."""
    address: str = EthAddrEncoder.EncodeKey(_parent(mode).ChildKey(index).PublicKey().KeyObject())
    return address


def next_indexes(count: int) -> list[int]:
    """Indexes that nobody else gets. What a dead process had taken and not used is never given out."""
    with _lock:
        while len(_free) < count:
            with connection.cursor() as cursor:
                cursor.execute("SELECT nextval('chain_deposit_index')")
                (last,) = cursor.fetchone()
            _free.extend(range(last - BLOCK_SIZE + 1, last + 1))
        taken = _free[:count]
        del _free[:count]
        return taken


@lru_cache(maxsize=10_000)
def checksummed(address: str) -> str:
    """The display form of an address."""
    return str(to_checksum_address(address))
