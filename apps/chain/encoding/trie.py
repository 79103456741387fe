"""The root of a list of byte strings as headers commit to one: a Merkle Patricia trie by the place
of each (yellow paper, appendix D). Only the root is computed; nothing is kept."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from apps.chain.encoding.keccak import keccak
from apps.chain.encoding.transactions import Item, rlp

_HASH_BYTES = 32
_Leaves = Mapping[str, bytes]  # by the rest of the path, a letter for each half byte
# What is in a parent for a node: its parts while they are short, else their hash.
_Node = Item


def root_of(values: Sequence[bytes]) -> bytes:
    leaves = {rlp(place).hex(): value for place, value in enumerate(values)}
    return keccak(rlp(_parts(leaves)) if leaves else rlp(b""))


def _parts(leaves: _Leaves) -> list[Item]:
    """The node of these leaves: a leaf, an extension to what follows, or a branch."""
    if len(leaves) == 1:
        [(path, value)] = leaves.items()
        return [_packed(path, is_leaf=True), value]
    shared = _shared(leaves)
    if shared:
        rest = {path[len(shared) :]: value for path, value in leaves.items()}
        return [_packed(shared, is_leaf=False), _node(rest)]
    below = defaultdict[str, dict[str, bytes]](dict)
    for path, value in leaves.items():
        below[path[:1]][path[1:]] = value
    children: list[Item] = [_node(below[letter]) for letter in "0123456789abcdef"]
    return [*children, leaves.get("", b"")]


def _node(leaves: _Leaves) -> _Node:
    if not leaves:
        return b""
    parts = _parts(leaves)
    written = rlp(parts)
    return parts if len(written) < _HASH_BYTES else keccak(written)


def _shared(leaves: _Leaves) -> str:
    """The common prefix of all paths: that of the first and the last."""
    first, last = min(leaves), max(leaves)
    length = next(
        (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
        min(len(first), len(last)),
    )
    return first[:length]


def _packed(path: str, *, is_leaf: bool) -> bytes:
    """Half bytes as bytes, after two that say of what kind and whether their number is odd."""
    kind = 2 if is_leaf else 0
    return bytes.fromhex(f"{kind + 1}{path}" if len(path) % 2 else f"{kind}0{path}")
