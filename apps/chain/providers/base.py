"""Interfaces of a chain's set of nodes and of the keystore: signing, and opening the seed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from apps.core.errors import ErrorCode, ProviderError

if TYPE_CHECKING:
    from apps.chain.rpc.batches import LogSpan

Call = tuple[str, list[Any]]  # method, parameters


class RpcError(ProviderError):
    """No node gave a usable answer, or one understood the call and refused it."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.UNREACHABLE) -> None:
        super().__init__(code, message)

    @property
    def is_refusal(self) -> bool:
        """True if a node answered, and another one would be asked in vain."""
        return self.code in (ErrorCode.REFUSED, ErrorCode.REVERTED, ErrorCode.UNSUPPORTED)


class Nodes(Protocol):
    """All answers of one call come from one node. Raises RpcError when every node failed."""

    genesis_hash: str  # empty until a node was asked
    calls_made: int
    log_span: "LogSpan"
    takes_hashes: bool  # a question about a block was answered that named it by its hash

    def call(self, method: str, parameters: list[Any]) -> Any:
        """The result of one call; null results are results."""

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        """The results of several calls, in their order; an error in one is the error of all."""

    def each(self, calls: Sequence[Call]) -> list[Any]:
        """Results of the calls, with the node's refusal of a call (an RpcError that says so) in its
        place."""

    def anyone(self, calls: Sequence[Call]) -> list[Any]:
        """For each call the first answer of any node that isn't null. Null only where no node that
        could be asked has one; the answers may come from different nodes."""

    def latest(self, known_number: int) -> Any:
        """The newest block, without transactions; a node that is before `known_number` is asked
        last."""

    def doubt(self) -> None:
        """Rests the node whose last answer contradicts itself."""

    def close(self) -> None:
        """Give up the connections."""


class KeystoreError(ProviderError):
    """A key could not be used. The text names the step, and never holds any part of a secret."""


class Keystore(Protocol):
    """The keystore: keys of the hot wallets, and the key that opens the seed's file. Each verb
    raises KeystoreError."""

    name: str  # as in SIGNER_KEYSTORE
    opens_with: str  # what a person looks at when the file doesn't open
    is_near: (
        bool  # it signs in this process's memory: only such a one may be asked inside a transaction
    )

    def public_key(self, lane: str) -> bytes:
        """Of a hot wallet, named by `lane_name`: the point of the curve in 65
        bytes."""

    def sign(self, lane: str, digest: bytes) -> tuple[int, int]:
        """(r, s) over 32 bytes with that key, with either of the two possible s."""

    def new_data_key(self) -> tuple[bytes, bytes]:
        """32 bytes to seal with, and the form in which only this keystore reads them again."""

    def data_key(self, wrapped: bytes) -> bytes:
        """The data key that was handed out with that form."""


def lane_name(mode: str, number: int) -> str:
    """Name of a hot wallet in the keystore: its mode and number, `live:1` for the second of live
    mode."""
    return f"{mode}:{number}" if number else mode


def parts_of(lane: str) -> tuple[str, int]:
    """(mode, number)."""
    mode, _, number = lane.partition(":")
    return mode, int(number or 0)


def key_name(keys: Mapping[str, str], lane: str) -> str:
    """Raises KeystoreError when there is none."""
    mode, number = parts_of(lane)
    names = [name.strip() for name in keys.get(mode, "").split("+")]
    if number < len(names) and names[number]:
        return names[number]
    place = f" for lane {number}" if number else ""
    raise KeystoreError(
        ErrorCode.UNAVAILABLE, f"SIGNER_HOT_KEYS names no key of {mode} mode{place}"
    )
