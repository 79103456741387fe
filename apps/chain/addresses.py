"""Addresses: ours, where deposits go (BIP-32 children of an account's extended public key; no
private key is here, and no index is used twice), and those of others that coins are sent to."""

import hmac
import os
import re
import secrets
import threading
from collections.abc import Iterable
from functools import cache

from coincurve import PublicKey
from django.conf import settings
from django.db import connection

from apps.assets.models import Asset, Chain, NetworkFamily
from apps.chain.keys import bip32
from apps.chain.keys.secp256k1 import address_of
from apps.chain.models import Address as AddressRow
from apps.chain.models import HotWallet
from apps.chain.networks.base import Address, AddressProblem
from apps.chain.networks.bitcoin.accounts import Branch, is_secret, shows_addresses
from apps.chain.networks.bitcoin.parameters import parameters_at, parameters_of
from apps.chain.networks.evm.addresses import NOBODY
from apps.chain.networks.families import addresses_of, has_coins, problem_on
from apps.chain.sending import limits
from apps.core.db.sql import Statement
from apps.core.errors import Failure
from apps.core.text.wording import Worded

EXTERNAL_CHAIN = 0
UNRECORDED_FROM = 2**30
BLOCK_SIZE = 50  # the increment of the sequence: each process takes so many indexes at a time

ZERO_ADDRESS = NOBODY
_WHOSE = Statement("""
SELECT EXISTS (SELECT 1 FROM assets_asset WHERE chain_id = %(chain_id)s
    AND contract_address = %(address)s),
       EXISTS (SELECT 1 FROM chain_address WHERE address = %(address)s)
""")
_KEY_OR_HASH = re.compile(r"(0x)?[0-9a-fA-F]{64}", re.ASCII)
Row = tuple[str, str, int]  # an address, its mode and its index, as somebody has written them
_lock = threading.Lock()
_free: list[int] = []
os.register_at_fork(after_in_child=_free.clear)


@cache
def _parent(mode: str) -> tuple[PublicKey, bytes, bytes]:
    """The account's external chain: its public key, the same compressed, and the chain code."""
    parent = bip32.Public.parse(settings.DEPOSIT_XPUBS[mode]).child(EXTERNAL_CHAIN)
    return parent.key, parent.compressed, parent.chain_code


def derive(mode: str, index: int) -> str:
    """The address, in lower case, of a mode's account at 0/index: BIP-32's CKDpub without what only
    an extended key needs.

    Raises ValueError for the indexes (one in 2^127) that have no key.
    """
    key, compressed, chain_code = _parent(mode)
    tweak = hmac.digest(chain_code, compressed + index.to_bytes(4, "big"), "sha512")[:32]
    return address_of(key.add(tweak))


def derive_on(chain: Chain, index: int) -> str:
    """The stored address of a network's account at 0/index. Raises PublicKeyMissing where the
    network has no account, and ValueError as `derive`."""
    if chain.family == NetworkFamily.EVM:
        return derive(chain.mode, index)
    return _branch(chain.chain_id, chain.mode).address(index)


def has_key(chain: Chain) -> bool:
    """Tell whether addresses of the network can be made."""
    if chain.family == NetworkFamily.EVM:
        return True
    return bool(settings.COIN_XPUBS[parameters_of(chain.chain_id).coin][chain.mode])


class PublicKeyMissing(Failure):
    """The account's public key was never configured."""

    def __init__(self, coin: str, mode: str) -> None:
        super().__init__(f"There is no public key of {coin} in {mode} mode")


@cache
def _branch(network_number: int, mode: str) -> Branch:
    """The receiving branch of a coin's account. One key serves the coin's networks of a mode."""
    parameters = parameters_of(network_number)
    xpub = settings.COIN_XPUBS[parameters.coin][mode]
    if not xpub:
        raise PublicKeyMissing(parameters.coin, mode)
    return Branch(parameters, bip32.Public.parse(xpub).child(EXTERNAL_CHAIN))


def is_derived(address: str, mode: str, index: int) -> bool:
    """Tell whether it is the account's address at the index. A row may say any mode and index; the
    address itself says whose account it is of."""
    if mode not in settings.DEPOSIT_XPUBS or not 0 <= index < bip32.HARDENED:
        return False
    parameters = parameters_at(address)
    try:
        if parameters is not None:
            return _branch(parameters.network_number, mode).address(index) == address
        return derive(mode, index) == address
    except (ValueError, PublicKeyMissing):
        return False


def derived(rows: Iterable[Row]) -> set[str]:
    """The addresses of these rows that are ours indeed."""
    return {row[0] for row in rows if is_derived(*row)}


def next_indexes(count: int) -> list[int]:
    """Indexes that nobody else gets. What a dead process had taken and not used is never given
    out."""
    with _lock:
        while len(_free) < count:
            with connection.cursor() as cursor:
                cursor.execute("SELECT nextval('chain_deposit_index')")
                (last,) = cursor.fetchone()
            _free.extend(range(last - BLOCK_SIZE + 1, last + 1))
        indexes = _free[:count]
        del _free[:count]
        return indexes


def unrecorded_indexes(mode: str, count: int) -> list[int]:
    """Indexes of nobody, which nobody notes: the payment that uses one records it then. They are
    drawn from the half that the sequence never reaches, so that no number of them uses it up. Two
    may draw the same one: the second to be recorded is refused by address_index_once."""
    free: list[int] = []
    while len(free) < count:
        drawn = {
            UNRECORDED_FROM + secrets.randbelow(bip32.HARDENED - UNRECORDED_FROM)
            for _ in range(count)
        }
        taken = AddressRow.objects.filter(
            mode=mode, purpose=AddressRow.Purpose.DEPOSIT, index__in=drawn
        )
        free.extend(drawn - {*taken.values_list("index", flat=True), *free})
    return free[:count]


# --- of others ------------------------------------------------------------------------------------


class BelongsToService(Failure):
    field = "destination_address"
    message = "Destination address belongs to this service"


class NotValidOn(Failure):
    """People read the fault that was found, programs the documented sentence; on networks that
    the document doesn't know, and of keys, with the fault behind it (decision 895)."""

    field = "destination_address"

    def __init__(self, chain: Chain, problem: AddressProblem = AddressProblem.NOT_ONE) -> None:
        documented = Worded("Destination address is not valid for {network}", network=chain.name)
        is_known = problem is not AddressProblem.NOT_ONE
        is_told = is_known and (has_coins(chain) or problem.is_of_secret)
        super().__init__(
            problem if is_known else documented,
            text=f"{documented}. {problem}" if is_told else str(documented),
            holds_secret=problem.is_of_secret,
        )
        self.problem = problem


def may_be_secret(text: str) -> bool:
    """Tell whether a text is, or holds, a key or a recovery phrase; a transaction's hash may look
    like one."""
    return is_secret(text) or _KEY_OR_HASH.fullmatch(text) is not None


def address_problem(chain: Chain, text: str) -> AddressProblem | None:
    """Fault of what somebody has typed or pasted for an address; None for a good one. Keys are
    found that were pasted by mistake."""
    problem = problem_on(chain, text)
    if problem in (None, AddressProblem.PRIVATE, AddressProblem.OTHER_NETWORK):
        return problem
    if is_secret(text):
        return AddressProblem.SECRET
    if _KEY_OR_HASH.fullmatch(text):
        return AddressProblem.SECRET_OR_HASH
    return AddressProblem.PUBLIC_KEY if shows_addresses(text) else problem


def check_recipient(text: str, asset: Asset, purpose: str = "") -> Address:
    """The address as it is stored, that coins of this asset can be sent to; for a `purpose`, that
    the signer would sign them to.

    Raises NotValidOn for one that is malformed or burns them, BelongsToService for one of ours.
    """
    addresses = addresses_of(asset.chain)
    address = addresses.read(text)
    if address is None:
        problem = address_problem(asset.chain, text)
        raise NotValidOn(asset.chain, problem or AddressProblem.NOT_ONE)
    if purpose:
        _check_signed_to(address, asset, purpose)
        return Address(address)
    ((is_contract, is_ours),) = _WHOSE.rows(address=address, chain_id=asset.chain_id)
    if address == addresses.nobody or is_contract:
        raise NotValidOn(asset.chain)
    if is_ours:
        raise BelongsToService
    return Address(address)


def _check_signed_to(address: str, asset: Asset, purpose: str) -> None:
    """Raises NotValidOn or BelongsToService where the signer would refuse the address."""
    owner = limits.owner_of(address, asset.chain.mode)
    if owner.is_deposit:
        raise BelongsToService
    if limits.is_refused(address, purpose, asset.chain.mode, owner):
        raise (
            BelongsToService
            if HotWallet.objects.filter(address=address).exists()
            else NotValidOn(asset.chain)
        )
