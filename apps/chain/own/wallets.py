"""Addresses of merchants' own wallets: read from what a merchant names, and derived one by one.

The index of such an address holds its wallet's number above 31 bits and its place in the wallet
below, so no deposit address of the service has the same (decision 762).
"""

import hashlib
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.db import connection

from apps.assets.models import Asset, Chain, NetworkFamily
from apps.chain.addresses import NotValidOn, check_recipient
from apps.chain.keys import bip32
from apps.chain.models import Address, OwnWallet
from apps.chain.networks.bitcoin import accounts as bitcoin_accounts
from apps.chain.networks.bitcoin.accounts import AccountProblem, UnusableKey
from apps.chain.networks.bitcoin.parameters import ScriptKind, parameters_of
from apps.chain.networks.evm import accounts as evm_accounts
from apps.chain.networks.evm import forwarders
from apps.chain.networks.families import is_burn
from apps.core.db.sql import Statement
from apps.core.errors import Failure

BITS = 31
FIRST_SHOWN = 3
_PLACE: int = 2**BITS - 1


class NotUsable(Failure):
    """The named key or address gives no addresses; the sentence holds nothing of it."""

    field = "content"


class NoSuchKind(Failure):
    field = "kind"
    message = "Choose where customers’ coins go"


class NoForwarders(Failure):
    field = "kind"
    message = "Addresses behind a contract are for Ethereum and networks like it"


@dataclass(frozen=True)
class NamedWallet:
    """A wallet that a merchant has named, read: `content` is its one spelling. `key` is what no two
    wallets share, empty for a forwarder's destination."""

    family: str
    chain: Chain | None
    kind: str
    content: str
    key: bytes = b""

    def fingerprint(self, store_id: object, mode: str) -> str:
        """Name of the key in a store and mode: one key gives one row of addresses, each given out
        once."""
        if self.key:
            return hashlib.sha256(b"key:" + self.key).hexdigest()
        text = f"forwarder:{store_id}:{mode}:{self.content}"
        return hashlib.sha256(text.encode()).hexdigest()

    def first(self, number: int = 1) -> list[str]:
        """The first addresses, to compare with those that the wallet shows; a forwarder's
        destination is its own."""
        if self.kind == OwnWallet.Kind.FORWARDER:
            return [self.content]
        chain_id = None if self.chain is None else int(self.chain.chain_id)
        return [
            _address(self.family, chain_id, self.kind, self.content, number, place)
            for place in range(FIRST_SHOWN)
        ]


def refuse_secrets(text: str) -> None:
    """Raises NotUsable for what could spend, whatever it was pasted for."""
    if evm_accounts.could_spend(text):
        raise NotUsable(AccountProblem.PRIVATE)


def read(kind: str, text: str, asset: Asset, script: ScriptKind | None = None) -> NamedWallet:
    """Wallet that somebody has pasted for an asset. Raises NotUsable, NoForwarders, NotValidOn or
    BelongsToService; none of them holds what was pasted."""
    typed = text.strip()
    family = asset.chain.family
    refuse_secrets(typed)
    if kind not in OwnWallet.Kind.values:
        raise NoSuchKind
    if kind == OwnWallet.Kind.FORWARDER:
        if family != NetworkFamily.EVM:
            raise NoForwarders
        destination = check_recipient(typed, asset)
        if is_burn(destination):
            raise NotValidOn(asset.chain)
        return NamedWallet(family, None, kind, destination)
    try:
        if family == NetworkFamily.BITCOIN:
            account = bitcoin_accounts.read_account(
                typed, parameters_of(asset.chain.chain_id), script
            )
            content = f"{account.kind}:{typed}"
            return NamedWallet(
                family, asset.chain, kind, content, _key_of(account.key, account.kind)
            )
        key = evm_accounts.read_account(typed)
    except UnusableKey as refusal:
        raise NotUsable(refusal.problem) from None
    if key.compressed in _of_the_service():
        raise NotUsable("This is a key of this service, not of your wallet")
    return NamedWallet(family, None, kind, typed, _key_of(key, family))


def _key_of(key: bip32.Public, form: str) -> bytes:
    return form.encode() + b":" + key.compressed + key.chain_code


def _of_the_service() -> set[bytes]:
    return {bip32.Public.parse(text).compressed for text in settings.DEPOSIT_XPUBS.values()}


def index_of(number: int, place: int) -> int:
    return number << BITS | place


def place_of(index: int) -> int:
    return index & _PLACE


def address_at(wallet: OwnWallet, place: int) -> str:
    """As it is stored. Raises ValueError for the places (one in 2^127) that have no key."""
    chain_id = None if wallet.chain is None else int(wallet.chain.chain_id)
    return _address(wallet.family, chain_id, wallet.kind, wallet.content, wallet.number, place)


def _address(
    family: str, network: int | None, kind: str, content: str, number: int, place: int
) -> str:
    if kind == OwnWallet.Kind.FORWARDER:
        return forwarders.address(content, index_of(number, place))
    if family == NetworkFamily.BITCOIN and network is not None:
        script, _, text = content.partition(":")
        return _bitcoin(network, script, text).address(place)
    return evm_accounts.address(_evm(content), place)


@lru_cache(maxsize=1000)
def _evm(content: str) -> bip32.Public:
    return evm_accounts.read_account(content)


@lru_cache(maxsize=1000)
def _bitcoin(network: int, script: str, text: str) -> bitcoin_accounts.Account:
    return bitcoin_accounts.read_account(text, parameters_of(network), ScriptKind(script))


# --- what was given out ---------------------------------------------------------------------------


def given_addresses(wallet_id: uuid.UUID, count: int) -> list[tuple[int, str]]:
    """So many addresses of a wallet that nobody else gets, each after its index, in their order. A
    payment that isn't made in the end leaves a gap."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE chain_ownwallet SET next_index = next_index + %s WHERE id = %s"
            " RETURNING next_index",
            [count, wallet_id],
        )
        after = int(cursor.fetchone()[0])
    wallet = OwnWallet.objects.select_related("chain").get(pk=wallet_id)
    return [
        (index_of(wallet.number, place), address_at(wallet, place))
        for place in range(after - count, after)
    ]


def derived_own(rows: Iterable[tuple[str, str, int]]) -> set[str]:
    """The addresses of these rows (address, mode, index) that a merchant's own wallet gives at that
    index indeed. A row may say any mode and index."""
    listed = [row for row in rows if row[2] > _PLACE]
    numbers = {index >> BITS for _, _, index in listed}
    wallets = {
        wallet.number: wallet
        for wallet in OwnWallet.objects.filter(number__in=numbers).select_related("chain")
    }
    return {
        address
        for address, mode, index in listed
        if (wallet := wallets.get(index >> BITS)) is not None
        and wallet.mode == mode
        and _gives(wallet, place_of(index), address)
    }


def _gives(wallet: OwnWallet, place: int, address: str) -> bool:
    try:
        return address_at(wallet, place) == address
    except (ValueError, UnusableKey):
        return False


def own_addresses(addresses: Iterable[str]) -> set[str]:
    """Those of the addresses that are of merchants' own wallets."""
    rows = Address.objects.filter(pk__in=list(addresses), purpose=Address.Purpose.OWN)
    return set(rows.values_list("pk", flat=True))


_USED = Statement("""
SELECT a.index, EXISTS (SELECT FROM chain_deposit d WHERE d.address_id = a.address
    AND d.status <> 'failed')
FROM chain_address a WHERE a.mode = %(mode)s AND a.purpose = 'own'
    AND a.index BETWEEN %(first)s AND %(last)s ORDER BY a.index
""")


@dataclass(frozen=True)
class Usage:
    """Addresses given out and used, and how far a wallet must look ahead to find all coins: the
    longest run of unused addresses before one that has coins, and one."""

    assigned: int
    used: int
    gap: int


def usage(wallet: OwnWallet) -> Usage:
    rows = _USED.rows(
        mode=wallet.mode, first=index_of(wallet.number, 0), last=index_of(wallet.number, _PLACE)
    )
    used = [place_of(index) for index, has_coins in rows if has_coins]
    before = [-1, *used]
    gaps = [after - earlier for earlier, after in zip(before, used, strict=False)]
    return Usage(wallet.next_index, len(used), max(gaps, default=0))
