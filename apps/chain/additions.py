"""Networks and coins that the catalog doesn't have, added by an operator (`add_network`,
`add_asset`) or by two members of staff (apps.chain.requested_additions). Whatever can't be right is
refused by a sentence, and nothing can be used before it is activated (apps.chain.activation)."""

import re
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Max

from apps.assets.models import Asset, Chain, FeeModel, TokenStandard
from apps.assets.selectors import fee_asset_of
from apps.assets.services import (
    CONFIRMATIONS_MAX,
    SWEEP_TERMS,
    ContractTaken,
    change_asset,
    sweep_columns,
)
from apps.chain.encoding import abi
from apps.chain.networks.catalog import network_in_catalog
from apps.chain.networks.families import addresses_of
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.selectors import is_watched
from apps.chain.sending import fee_coins
from apps.core.errors import Failure, NotFound
from apps.core.local_chain import LOCAL_CHAIN_IDS
from apps.core.models import Mode
from apps.core.money import atomic_from_coins
from apps.stores.auditing import audit

DECIMALS_MAX = 36
DISPLAY_DECIMALS_MAX = 8
NUMBER_MAX = 2**53 - 1  # more can't be written as a number in JSON
BLOCK_SECONDS = (0.05, 3600)
NAME_LENGTH = 50
_ID = re.compile(r"[a-z][a-z0-9_]{1,19}", re.ASCII)
_ASSET_ID = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)?", re.ASCII)
_SYMBOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9.₮-]{0,9}")
_ASSET_ID_LENGTH = 20
# What the API promises not to have.
_NEVER = ("ETH_ETH", "BSC_USDT")
_DECIMALS = "0x313ce567"
# How an operator may say that fees are taken.
FEE_MODELS = (FeeModel.PLAIN, FeeModel.OP_STACK, FeeModel.ARBITRUM, FeeModel.STABLECOIN)


class NotAdded(Failure):
    """The text says what is wrong."""


@dataclass(frozen=True)
class NetworkFacts:
    id: str
    name: str
    symbol: str
    number: int
    mode: str
    confirmations: int
    confirmations_floor: int
    block_seconds: float
    fee_symbol: str
    fee_model: str = FeeModel.PLAIN
    explorer_url: str = ""
    wallet_url: str = ""


@dataclass(frozen=True)
class AssetFacts:
    """Without a contract it is the network's own coin. `minimum` is the smallest payout, in coins;
    `pays_fees` is said of the token in which a network without such a coin takes its fees. How it
    is swept is as in apps.assets.services.SWEEP_TERMS; empty, the settings say it."""

    id: str
    network: str
    symbol: str
    name: str
    decimals: int
    minimum: str
    contract: str = ""
    eip712_name: str = ""
    eip712_version: str = ""
    pays_banks: bool = False
    pays_fees: bool = False
    sweep_minimum: str = ""
    sweep_cost: str = ""
    sweep_after_days: str = ""


def check_network(facts: NetworkFacts) -> None:
    """Refuse what can't be added, as far as the database tells. Raises NotAdded."""
    wrong = next(filter(None, _network_faults(facts)), "")
    if wrong:
        raise NotAdded(wrong)
    if Chain.objects.filter(pk=facts.id).exists() or network_in_catalog(facts.id):
        raise NotAdded(f"There is a network {facts.id} already")
    other = Chain.objects.filter(chain_id=facts.number).first()
    if other is not None:
        raise NotAdded(f"Chain ID {facts.number} is that of {other.name} ({other.pk})")
    if Chain.objects.filter(symbol__iexact=facts.symbol).exists():
        raise NotAdded(f"Another network has the short name {facts.symbol}")


def add_network(facts: NetworkFacts) -> Chain:
    """Raises NotAdded."""
    with transaction.atomic():
        check_network(facts)
        chain = Chain.objects.create(
            id=facts.id,
            name=facts.name,
            symbol=facts.symbol,
            chain_id=facts.number,
            mode=facts.mode,
            required_confirmations=facts.confirmations,
            confirmations_floor=facts.confirmations_floor,
            explorer_url=facts.explorer_url,
            block_milliseconds=round(facts.block_seconds * 1000),
            wallet_url=facts.wallet_url,
            fee_symbol=facts.fee_symbol,
            fee_model=facts.fee_model,
        )
        audit.record(
            "network.added",
            target=chain,
            name=chain.pk,
            details={"chain_id": facts.number, "mode": facts.mode},
        )
    return chain


def _network_faults(facts: NetworkFacts) -> list[str]:
    """Fault of each fact, empty where there is none."""
    low, high = BLOCK_SECONDS
    return [
        ""
        if _ID.fullmatch(facts.id)
        else "A network's ID has 2 to 20 of a to z, 0 to 9 and _, and begins with one of a to z",
        _name_fault(facts.name),
        _symbol_fault(facts.symbol, "The short name"),
        _symbol_fault(facts.fee_symbol, "The coin of the fees"),
        "" if 0 < facts.number <= NUMBER_MAX else f"A chain ID is a number from 1 to {NUMBER_MAX}",
        ""
        if facts.mode in Mode.values
        else f"The mode is one of {', '.join(Mode.values)}, not {facts.mode}",
        f"Chain ID {facts.number} is that of nodes on one machine: it can't be live"
        if facts.number in LOCAL_CHAIN_IDS and facts.mode == Mode.LIVE
        else "",
        ""
        if 1 <= facts.confirmations_floor <= facts.confirmations <= CONFIRMATIONS_MAX
        else "Confirmations must be at least their floor, which is 1 or more, and at most"
        f" {CONFIRMATIONS_MAX}",
        ""
        if low <= facts.block_seconds <= high
        else f"The time between blocks must be from {low} to {high} seconds",
        "" if facts.fee_model in FEE_MODELS else f"Fees are one of {', '.join(FEE_MODELS)}",
        _url_fault(facts.explorer_url, "The block explorer"),
        _url_fault(facts.wallet_url, "The node for wallets"),
    ]


def add_asset(facts: AssetFacts) -> tuple[Asset, bool]:
    """The coin, and whether a node has said the same of its contract. Raises NotFound, NotAdded
    and NotSweptSo."""
    is_compared = compare_asset(facts)
    return create_asset(facts), is_compared


def check_asset(facts: AssetFacts) -> None:
    """Refuse what can't be added, as far as the database tells. Raises NotFound, NotAdded and
    NotSweptSo."""
    chain, contract, _ = _read(facts)
    _refuse_twice(facts, chain, contract)
    _sweeping(facts)


def compare_asset(facts: AssetFacts) -> bool:
    """Tell whether a node has said the same of the contract; never inside a transaction. Raises
    NotFound and NotAdded."""
    chain, contract, _ = _read(facts)
    if not contract or not is_watched(chain.pk):
        return False
    with closing(nodes_of(chain)) as nodes:
        _compare(nodes, contract, facts.decimals)
    return True


def create_asset(facts: AssetFacts) -> Asset:
    """Raises NotFound, NotAdded and NotSweptSo."""
    with transaction.atomic():
        chain, contract, minimum_atomic = _read(facts)
        _refuse_twice(facts, chain, contract)
        sweeping = _sweeping(facts)
        place = Asset.objects.aggregate(last=Max("position"))["last"] or 0
        asset = Asset.objects.create(
            id=facts.id,
            chain=chain,
            coin_symbol=facts.symbol,
            name=facts.name,
            token_standard=TokenStandard.ERC20 if contract else TokenStandard.NATIVE,
            contract_address=contract,
            atomic_decimals=facts.decimals,
            display_decimals=min(facts.decimals, DISPLAY_DECIMALS_MAX),
            min_withdrawal_atomic=max(minimum_atomic, 1),
            is_fiat_eligible=facts.pays_banks,
            pays_fees=facts.pays_fees or not contract,
            eip712_name=facts.eip712_name,
            eip712_version=facts.eip712_version,
            position=place + 1,
        )
        audit.record(
            "asset.added",
            target=asset,
            name=asset.pk,
            details={"network": chain.pk, "contract_address": contract or ""},
        )
        # A line of its own, with which the audit compares the asset.
        return change_asset(asset.pk, sweeping=sweeping) if sweeping else asset


def _sweeping(facts: AssetFacts) -> dict[str, int | None]:
    texts = {name: getattr(facts, name) or None for name in SWEEP_TERMS}
    return sweep_columns(texts, facts.decimals)


def _read(facts: AssetFacts) -> tuple[Chain, str | None, int]:
    """The network, the contract as it is stored, and the smallest payout in atomic units. Raises
    NotFound and NotAdded."""
    chain = Chain.objects.filter(pk=facts.network).first()
    if chain is None:
        raise NotFound("Network not found")
    wrong = next(filter(None, _asset_faults(facts)), "")
    if wrong:
        raise NotAdded(wrong)
    minimum_atomic = atomic_from_coins(facts.minimum, facts.decimals)
    if minimum_atomic is None:
        raise NotAdded(
            f"The smallest payout is a number of coins with at most {facts.decimals} places"
        )
    return chain, _contract_of(facts, chain), minimum_atomic


def _asset_faults(facts: AssetFacts) -> list[str]:
    has_domain = bool(facts.eip712_name) and bool(facts.eip712_version)
    return [
        ""
        if _ASSET_ID.fullmatch(facts.id) and len(facts.id) <= _ASSET_ID_LENGTH
        else f"An asset's ID has at most {_ASSET_ID_LENGTH} of A to Z and 0 to 9, such as GNO_USDC",
        f"The API promises to have no {facts.id}: choose another ID" if facts.id in _NEVER else "",
        _symbol_fault(facts.symbol, "The coin"),
        _name_fault(facts.name),
        "" if 0 <= facts.decimals <= DECIMALS_MAX else f"Decimals must be from 0 to {DECIMALS_MAX}",
        ""
        if has_domain or not (facts.eip712_name or facts.eip712_version)
        else "An EIP-712 domain has both a name and a version",
        ""
        if len(facts.eip712_name) <= NAME_LENGTH and len(facts.eip712_version) <= 10
        else "The EIP-712 name has at most 50 characters, its version at most 10",
        "Only a token has an EIP-712 domain" if has_domain and not facts.contract else "",
    ]


def _contract_of(facts: AssetFacts, chain: Chain) -> str | None:
    """As it is stored; None for the network's own coin."""
    if not facts.contract:
        return None
    addresses = addresses_of(chain)
    contract = addresses.read(facts.contract)
    if contract is None or addresses.is_burn(contract):
        raise NotAdded(
            f"{facts.contract[:60]} isn't the address of a contract on {chain.name}, or has a"
            " typing error"
        )
    return contract


def _refuse_twice(facts: AssetFacts, chain: Chain, contract: str | None) -> None:
    if Asset.objects.filter(pk=facts.id).exists():
        raise NotAdded(f"There is an asset {facts.id} already")
    paying = fee_asset_of(chain.pk)
    if contract is None and paying is not None and paying.is_native:
        raise NotAdded(f"{chain.name} has its own coin already: a token needs a contract")
    if facts.pays_fees and chain.fee_model != FeeModel.STABLECOIN:
        raise NotAdded(f"{chain.name} takes its fees in its own coin")
    if facts.pays_fees and paying is not None:
        raise NotAdded(f"{chain.name} takes its fees in {paying.pk} already")
    if facts.pays_fees and facts.decimals > fee_coins.DECIMALS:
        raise NotAdded(f"A coin that pays fees has at most {fee_coins.DECIMALS} decimals")
    if contract is None and chain.fee_model == FeeModel.STABLECOIN:
        raise NotAdded(f"{chain.name} has no coin of its own: a token needs a contract")
    if contract and Asset.objects.filter(chain=chain, contract_address=contract).exists():
        raise ContractTaken


def _compare(nodes: Nodes, contract: str, decimals: int) -> None:
    """The contract must be there, and count as we do."""
    try:
        code, told = nodes.each(
            [
                ("eth_getCode", [contract, "latest"]),
                ("eth_call", [{"to": contract, "data": _DECIMALS}, "latest"]),
            ]
        )
    except RpcError as error:
        raise NotAdded(f"The network's node didn't answer: {error}") from None
    if isinstance(code, RpcError) or code in (None, "0x"):
        raise NotAdded("There is no contract at this address, as the network's node says")
    try:
        (found,) = abi.decode(("uint8",), bytes.fromhex(str(told)[2:]))
    except (ValueError, abi.Malformed):
        raise NotAdded("The contract doesn't say how many decimals it has") from None
    if found != decimals:
        raise NotAdded(f"The contract has {found} decimals, not {decimals}")


def _name_fault(name: str) -> str:
    return (
        ""
        if 0 < len(name.strip()) <= NAME_LENGTH and name.isprintable()
        else f"A name has 1 to {NAME_LENGTH} characters"
    )


def _symbol_fault(symbol: str, what: str) -> str:
    return (
        ""
        if _SYMBOL.fullmatch(symbol)
        else f"{what} has 1 to 10 of A to Z, a to z and 0 to 9, not {symbol[:30]!r}"
    )


def _url_fault(url: str, what: str) -> str:
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        is_right = parts.scheme == "https" and bool(parts.hostname) and not parts.username
    except ValueError:
        is_right = False
    return "" if is_right and len(url) <= 200 else f"{what} needs an address that begins https://"
