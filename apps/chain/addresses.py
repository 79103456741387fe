"""Deposit addresses: BIP-32 children of an account's extended public key. No private key is here, and no index is used twice."""

import hmac
import os
import threading
from functools import cache

from coincurve import PublicKey
from django.conf import settings
from django.db import connection

from apps.chain import bip32
from apps.chain.secp256k1 import address_of
from apps.core.evm import checksummed as checksummed

EXTERNAL_CHAIN = 0
BLOCK_SIZE = 50  # the increment of the sequence: each process takes so many indexes at a time

_lock = threading.Lock()
_free: list[int] = []
os.register_at_fork(after_in_child=_free.clear)


@cache
def _parent(mode: str) -> tuple[PublicKey, bytes, bytes]:
    """The account's external chain: its public key, the same compressed, and the chain code."""
    parent = bip32.Public.parse(settings.DEPOSIT_XPUBS[mode]).child(EXTERNAL_CHAIN)
    return parent.key, parent.compressed, parent.chain_code


def derive(mode: str, index: int) -> str:
    """The address, in lower case, of a mode's account at 0/index: BIP-32's CKDpub without what only an extended key needs.

    Raises ValueError for the indexes (one in 2^127) that have no key.
    """
    key, compressed, chain_code = _parent(mode)
    tweak = hmac.digest(chain_code, compressed + index.to_bytes(4, "big"), "sha512")[:32]
    return address_of(key.add(tweak))


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
