"""The family of each network, and what a text is in any of them, where no network is known: stored
addresses of two families never have the same form."""

from functools import cache

from apps.assets.models import Asset, Chain, FeeModel, NetworkFamily
from apps.chain.networks.base import Addresses, AddressProblem, Links
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.links import BitcoinLinks
from apps.chain.networks.bitcoin.parameters import NETWORKS, parameters_of
from apps.chain.networks.evm.addresses import EvmAddresses
from apps.chain.networks.evm.links import EvmLinks

_EVM = EvmAddresses()
_LINKS: dict[str, Links] = {
    NetworkFamily.EVM: EvmLinks(),
    NetworkFamily.BITCOIN: BitcoinLinks(),
}
# Places of the networks' own coins: all of a family have the same.
_FEE_DECIMALS = {NetworkFamily.EVM.value: 18, NetworkFamily.BITCOIN.value: 8}
# Of Bitcoin's family each network has addresses of its own.
_ALL: tuple[Addresses, ...] = (_EVM, *(BitcoinAddresses(each) for each in NETWORKS))


def addresses_of(chain: Chain) -> Addresses:
    return _EVM if chain.family == NetworkFamily.EVM else _bitcoin(chain.chain_id)


def tells_all(chain: Chain) -> bool:
    """Tell whether blocks say of all coins where they went: there an address never holds what no
    block brought it, and its balance needs no look."""
    return chain.family != NetworkFamily.EVM


def has_coins(chain: Chain) -> bool:
    """Tell whether what was received is spent whole there, and an order has no nonce."""
    return chain.family == NetworkFamily.BITCOIN


def fee_decimals(chain: Chain) -> int:
    """Places of the coin in which the network's fees are."""
    if chain.fee_model == FeeModel.STABLECOIN:
        return _decimals_of_token(chain.pk)
    return _FEE_DECIMALS[chain.family]


@cache
def _decimals_of_token(chain_id: str) -> int:
    """Of the one that pays fees; they never change."""
    return Asset.objects.get(chain=chain_id, pays_fees=True).atomic_decimals


@cache
def _bitcoin(network_number: int) -> BitcoinAddresses:
    return BitcoinAddresses(parameters_of(network_number))


def links_of(asset: Asset) -> Links:
    return _LINKS[asset.chain.family]


def shown_address(address: str | None) -> str:
    """An address as people know it; empty without one, and anything else as it is."""
    text = address or ""
    addresses = _any(text)
    return addresses.shown(text) if addresses is not None else text


def address_in(text: str) -> str:
    """The stored spelling of what looks like an address; empty for what doesn't."""
    return next(filter(None, (addresses.spelled(text) for addresses in _ALL)), "")


def read_any(text: str) -> str | None:
    """The stored spelling of an address that somebody has typed, of whatever network; None for what
    is none, or has a wrong checksum."""
    readings = (addresses.read(text) for addresses in _ALL)
    return next((address for address in readings if address is not None), None)


def problem_on(chain: Chain, text: str) -> AddressProblem | None:
    """Fault of what somebody has typed as an address of this network; None for a good one."""
    problem = addresses_of(chain).problem(text)
    if problem is not AddressProblem.NOT_ONE:
        return problem
    elsewhere = {addresses.problem(text) for addresses in _ALL}
    is_elsewhere = not elsewhere.isdisjoint({None, AddressProblem.PRIVATE})
    return AddressProblem.OTHER_NETWORK if is_elsewhere else problem


def stored(text: str) -> str:
    """An address or a hash in the spelling in which it is stored; anything else as it is."""
    return address_in(text) or hash_of(text) or text


def hash_of(text: str) -> str:
    """The stored spelling of a transaction's hash; empty for what is none."""
    return next(filter(None, (addresses.hash_of(text) for addresses in _ALL)), "")


def hash_in(text: str) -> str:
    """The hash in what somebody has pasted, as it is stored; empty without one."""
    return next(filter(None, (addresses.hash_in(text) for addresses in _ALL)), "")


def hashes_in(text: str) -> list[str]:
    """Hashes in a text as each family reads it: 64 digits are a hash of several."""
    return list(dict.fromkeys(filter(None, (addresses.hash_in(text) for addresses in _ALL))))


def has_hashes_like(chain: Chain, tx_hash: str) -> bool:
    """Tell whether a stored hash is one of this network's."""
    return addresses_of(chain).hash_of(tx_hash) == tx_hash


def ends_of(address: str) -> tuple[str, str]:
    """The ends of an address that people compare: its beginning and its last characters."""
    addresses = _any(address)
    return addresses.ends(address) if addresses is not None else (address, address)


def is_burn(address: str) -> bool:
    """Tell whether coins at a stored address are nobody's, or it is none."""
    addresses = _any(address)
    return addresses is None or addresses.is_burn(address)


def _any(text: str) -> Addresses | None:
    """The network, or the family, whose addresses look like this."""
    return next((addresses for addresses in _ALL if addresses.spelled(text)), None)
