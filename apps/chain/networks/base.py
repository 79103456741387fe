"""Families of networks: what each can do for us, part by part, so that a process loads only what it
needs.

Above a family nobody knows a nonce, gas, hex, or how an address is folded: a stored address is
compared as it is, read from people by `read`, and shown by `shown`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NewType, Protocol

from django.utils.translation import gettext_noop

from apps.assets.models import Asset
from apps.chain.providers.base import RpcError

# Coins may be sent to it: judged where it came in, or read from the chain.
Address = NewType("Address", str)


class AddressProblem(StrEnum):
    """Fault of a typed address, in words for people."""

    NOT_ONE = gettext_noop("This is not an address")
    CHECKSUM = gettext_noop("A character of this address is wrong. Copy it again")
    OTHER_NETWORK = gettext_noop("This address belongs to another network")
    UNKNOWN_KIND = gettext_noop(
        "Addresses of this kind have no rules yet: coins sent there could be lost"
    )
    PRIVATE = gettext_noop(
        "Addresses that hide amounts (MWEB) can’t be paid. Use an address that begins with ltc1"
    )
    PUBLIC_KEY = gettext_noop(
        "This shows all addresses of a wallet and is none itself. Enter one of its addresses"
    )
    SECRET = gettext_noop(
        "This is a private key or a recovery phrase: whoever has it can spend the coins of its"
        " wallet. It was not saved. Treat it as exposed and move the coins to a new wallet"
    )
    SECRET_OR_HASH = gettext_noop(
        "This has the form of a private key, or of a transaction’s hash. It was not saved. If it"
        " is a private key, treat it as exposed and move the coins to a new wallet"
    )

    @property
    def is_of_secret(self) -> bool:
        """Tell whether what was typed may spend coins."""
        return self in (AddressProblem.SECRET, AddressProblem.SECRET_OR_HASH)


class Addresses(Protocol):
    """Addresses and hashes as texts. Each has one spelling that is stored, whatever people type."""

    # As people may write one, for an input and a file that show how.
    example: str
    # Of every address that is ours.
    beginning: str
    # The sign of no address; empty where that can't be.
    nobody: str

    def read(self, text: str) -> str | None:
        """The stored spelling of what somebody has typed; None for what is no address, or has a
        wrong checksum."""

    def problem(self, text: str) -> AddressProblem | None:
        """Fault of what somebody has typed; None for a good address."""

    def spelled(self, text: str) -> str:
        """Stored spelling of a text that only looks like an address, for looking things up; empty
        for other text."""

    def is_attempt(self, text: str) -> bool:
        """Tell whether somebody meant an address, whatever is wrong with it."""

    def shown(self, address: str) -> str:
        """As people know it."""

    def ends(self, address: str) -> tuple[str, str]:
        """The ends of an address that people compare: the beginning, up to the first characters
        that differ between addresses, and the last characters."""

    def is_burn(self, address: str) -> bool:
        """Tell whether coins at a stored address are nobody's, or it is none."""

    def hash_of(self, text: str) -> str:
        """The stored spelling of a transaction's hash; empty for what is none."""

    def hash_in(self, text: str) -> str:
        """Stored spelling of the hash in a pasted text, such as a block explorer's link; empty
        without one."""


class Links(Protocol):
    """Payment links and codes for a customer's wallet."""

    def payment_link(self, asset: Asset, address: str, amount_atomic: int) -> str:
        """The link that opens a wallet with network, coin, address and amount."""

    def code_text(self, asset: Asset, address: str, amount_atomic: int) -> str:
        """Text of a QR code that most wallets read."""

    def wallet_request(self, asset: Asset, address: str, amount_atomic: int) -> dict[str, str]:
        """The transaction that a wallet in the browser is asked to sign; empty where a family has
        no such wallets, or the asset can't be sent."""

    def wallet_network(self, asset: Asset) -> dict[str, object]:
        """The network that such a wallet is asked to add; empty where it has it."""


# --- what was read --------------------------------------------------------------------------------


# The place of what a transaction itself moves, where it may move more; below it is what was moved
# inside of it.
NATIVE_LOG_INDEX = -1


class Inconsistent(RpcError):
    """The node's answers contradict each other; asking again later may help."""


@dataclass(frozen=True)
class BlockHeader:
    number: int
    hash: str
    parent_hash: str
    mined_at: datetime


@dataclass(frozen=True)
class Transfer:
    """Coins on their way, addresses and hashes as they are stored. `contract` is empty for the
    network's own coin, `log_index` the place of the transfer in its transaction (an output's
    number), `from_address` empty where nobody is the sender; `usable_after` is the number of
    confirmations before it can be spent."""

    contract: str
    tx_hash: str
    log_index: int
    from_address: str
    to_address: str
    amount_atomic: int
    usable_after: int = 1


@dataclass(frozen=True)
class Sighting:
    """A transaction that waits to be mined, with its transfers. `spends` are the coins that it
    takes (`CoinPlace.text`): another transaction that takes one of them takes its place.

    `is_private` where no block will have it by this hash: it ends when what it pays is mined. Its
    fee and size are 0 where they aren't known; `is_replaceable` where its sender may still change
    it.
    """

    tx_hash: str
    transfers: tuple[Transfer, ...]
    spends: tuple[str, ...] = ()
    is_private: bool = False
    is_replaceable: bool = False
    fee_atomic: int = 0
    size: int = 0


@dataclass(frozen=True)
class Waiting:
    """Transactions that wait to be mined at one moment: all hashes, and those that weren't known,
    whole."""

    hashes: frozenset[str]
    new: tuple[Sighting, ...] = ()


@dataclass(frozen=True)
class BlockRead:
    """A block with every transfer of the network's own coin and of our tokens, of which some may
    have moved nothing. `told` is the node's own answer, for its reader alone."""

    header: BlockHeader
    transfers: list[Transfer] = field(default_factory=list)
    told: Any = None


class OtherBlock(Inconsistent):
    """Nodes tell different blocks that have one transaction."""


@dataclass(frozen=True)
class TransactionRead:
    """A transaction that a block has, `confirmations` deep. Whether it has moved anything, its
    transfers and who signed it are as the block commits to them; they are read when it is deep
    enough."""

    confirmations: int
    has_moved: bool = False
    signers: frozenset[str] = frozenset()
    transfers: list[Transfer] = field(default_factory=list)


# A transfer and the asset that it is of.
Arrival = tuple[str, Transfer]


class Reader(Protocol):
    """Reads one network, for one thread. Each verb raises RpcError when no node answers, and
    Inconsistent where nodes contradict themselves."""

    @property
    def genesis_hash(self) -> str:
        """Empty until a node was asked."""

    def latest(self, known_number: int) -> BlockHeader:
        """The newest block; a node that is before `known_number` is asked last."""

    def tagged(self, tag: str) -> BlockHeader | None:
        """The newest block that the network's nodes give this tag; None where they don't tell."""

    def headers(self, numbers: Sequence[int]) -> list[BlockHeader]:
        """Blocks by number, all of them."""

    def blocks(self, numbers: Sequence[int], contracts: Sequence[str]) -> list[BlockRead]:
        """Blocks with their transfers, of tokens those of these contracts."""

    def check(self, block: BlockRead, arrivals: Sequence[Arrival]) -> None:
        """Raise Inconsistent unless the block commits to what brings these, without a question
        more."""

    def arrived(
        self, block: BlockRead, arrivals: Sequence[Arrival], contracts: Sequence[str]
    ) -> list[Arrival]:
        """Those that did arrive, as the block commits to what became of its transactions."""

    def transaction(
        self, tx_hash: str, contracts: Sequence[str], required_confirmations: int
    ) -> TransactionRead | None:
        """One transaction with its transfers, of tokens those of these contracts; None when no
        block has it. Raises OtherBlock."""

    def waiting(self, known: Collection[str], asked: Collection[str]) -> Waiting | None:
        """Transactions that wait to be mined; those of `known` hashes aren't read again. A network
        that lists them tells all hashes, any other those of `asked` that still wait. None where
        nodes show nobody what waits."""

    def spenders(self, block: BlockRead, places: Collection[str]) -> dict[str, str]:
        """Of these coins those that a block spends, each with the hash of the transaction that
        takes it. Empty where the family has no coins."""

    def doubt(self) -> None:
        """Lets the node rest whose last answer contradicts itself."""

    def close(self) -> None:
        """Give up the connections."""


# --- what leaves ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class CoinPlace:
    """An output of a transaction, by which it is spent."""

    tx_hash: str
    output: int

    @property
    def text(self) -> str:
        return f"{self.tx_hash}:{self.output}"


@dataclass(frozen=True)
class Coin:
    """An output that our keys spend. One that isn't confirmed is our own change."""

    place: CoinPlace
    address: str
    amount_atomic: int
    is_confirmed: bool = True


@dataclass(frozen=True)
class Order:
    """An order: an amount for an address; `reference` is its own, kept through plan, bytes and
    replacement."""

    reference: str
    address: str
    amount_atomic: int


@dataclass(frozen=True)
class Rates:
    """Of fees, in atomic units for 1000 virtual bytes: what is paid now, the least that nodes pass
    on, and the most that is ever paid."""

    now: int
    floor: int
    ceiling: int


@dataclass(frozen=True)
class SpendPlan:
    """A transaction before it is signed: its coins in the order of its inputs, the orders in that
    of its first outputs, and the change behind them (0: none). `fee_atomic` is what the coins have
    and the outputs don't; `fees` are the parts of it that each order bears, which sum to it."""

    coins: tuple[Coin, ...]
    orders: tuple[Order, ...]
    change_address: str
    change_atomic: int
    fee_atomic: int
    size: int  # in virtual bytes, as signed
    fees: tuple[int, ...]


@dataclass(frozen=True)
class SignedSpend:
    tx_hash: str
    raw: str  # what a node is sent


class CoinsShort(Exception):
    """The coins that may be spent don't pay for the orders with their fee; `missing_atomic` more
    would."""

    def __init__(self, missing_atomic: int) -> None:
        self.missing_atomic = missing_atomic
        super().__init__("too few coins")


class RateTooHigh(Exception):
    """The network asks for more than the ceiling."""


class Builder(Protocol):
    """Makes transactions of one network. Asks nobody and keeps no keys."""

    # The most orders that one transaction pays.
    orders_max: int

    def address_of(self, public_key: bytes) -> str:
        """Of a held wallet, by its key (33 or 65 bytes): BIP-84's."""

    def dust_at(self, address: str) -> int:
        """The least that an output to this address may have; less is never mined."""

    def estimate(self, addresses: Sequence[str], rates: Rates) -> list[int]:
        """Estimated cost of paying each of these in one transaction with a usual number of coins:
        the part of each. Raises RateTooHigh."""

    def shares(self, fee_atomic: int, addresses: Sequence[str]) -> list[int]:
        """Parts of a fee that orders to these addresses bear; they sum to it."""

    def plan(
        self,
        orders: Sequence[Order],
        coins: Sequence[Coin],
        rates: Rates,
        change_address: str,
    ) -> SpendPlan:
        """Choose coins for all orders, those confirmed first; change that is dust becomes fee.
        Raises CoinsShort and RateTooHigh."""

    def replace(self, plan: SpendPlan, rates: Rates, coins: Sequence[Coin]) -> SpendPlan:
        """Plan of the same orders with a higher fee that replaces it (BIP-125): its first coin
        stays the first, the change pays, and `coins` are what may be added. Raises CoinsShort and
        RateTooHigh, which is what the ceiling allows no more of."""

    def lift(self, plans: Sequence[SpendPlan], tx_hash: str, rates: Rates) -> SpendPlan:
        """A transaction of no orders that spends the change of what waits back to it, with a fee
        for both that is higher than before (CPFP). The first plan is of the transaction with this
        hash, the others of those before it that wait too. Raises CoinsShort and RateTooHigh."""

    def consolidate(self, coins: Sequence[Coin], rates: Rates, change_address: str) -> SpendPlan:
        """A transaction of no orders that makes the smallest coins one. Raises CoinsShort where
        that isn't worth it, and RateTooHigh unless fees are low."""

    def digests(self, plan: SpendPlan, public_keys: Mapping[str, bytes]) -> list[bytes]:
        """32 bytes to sign for each coin; `public_keys` by address."""

    def signed(
        self,
        plan: SpendPlan,
        public_keys: Mapping[str, bytes],
        signatures: Sequence[tuple[int, int]],
    ) -> SignedSpend:
        """The bytes with a signature (r, s) for each coin. They are read back: raises ValueError
        unless they spend these coins, pay these orders and this change, and nothing else."""

    def is_told(self, plan: SpendPlan, tx_hash: str, raw: str) -> bool:
        """Tell whether these bytes are this transaction, do what the plan says, and are signed with
        the keys of its coins' addresses."""

    def packet(self, plan: SpendPlan, public_keys: Mapping[str, bytes]) -> str:
        """The plan as a PSBT, in base64, for anyone who signs elsewhere."""


@dataclass(frozen=True)
class SpendStatus:
    """State of a spend, by its candidates. `tx_hash` and block are of the one that was mined, empty
    and 0 while none is; `is_waiting` while a node has one of them. `taken_by` is a transaction that
    isn't a candidate and took the first coin, as far as nodes can tell; `is_taken` where they only
    know that somebody did."""

    tx_hash: str = ""
    block_number: int = 0
    block_hash: str = ""
    is_waiting: bool = False
    is_taken: bool = False
    taken_by: str = ""


@dataclass(frozen=True)
class MinedTransaction:
    """A transaction that a block has, no matter who made it: the coins that it takes, and what it
    pays to whom."""

    look: SpendStatus
    raw: str
    places: tuple[CoinPlace, ...]
    outputs: tuple[tuple[str, int], ...]
    size: int


class Carrier(Protocol):
    """Brings bytes to one network and sees what became of them, for one thread. Each verb raises
    RpcError when no node answers."""

    def rates(self) -> Rates:
        """Of fees now."""

    def send(self, raw: str) -> str:
        """Why a node doesn't take the bytes; empty where it has them, also from before."""

    def look(self, tx_hashes: Sequence[str], first: CoinPlace) -> SpendStatus:
        """Of a spend with these candidates, whose first coin is `first`."""

    def found(self, tx_hash: str) -> MinedTransaction | None:
        """A transaction, once a block has it."""

    def sources(self, found: MinedTransaction) -> tuple[tuple[str, int], ...]:
        """The coins that it took: of which address, empty for one that has none, and how much."""

    def unspent(self, places: Sequence[CoinPlace]) -> list[Coin | None]:
        """State of each coin on the network, blocks and what waits included; None where it is spent
        or unknown."""

    def held(
        self, addresses: Sequence[str], number: int, places: Collection[str]
    ) -> dict[str, int]:
        """Coins at each of these addresses as of a block, as the network itself counts them.
        `places` are coins of theirs that may have been spent since then (CoinPlace.text)."""

    def close(self) -> None:
        """Give up the connections."""
