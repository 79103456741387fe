"""The text forms of bytes: base58 with a checksum, and bech32 and bech32m (BIP-173, BIP-350)."""

import hashlib
from collections.abc import Iterable, Sequence

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECK_BYTES = 4
_CHECK_LETTERS = 6
LENGTH_MAX = 90
BASE58_LENGTH_MAX = 120
BECH32 = 1
BECH32M = 0x2BC830A3


class WrongChecksum(ValueError):
    """A character is another one than its author has written."""


def base58(raw: bytes) -> str:
    """With its checksum."""
    whole = raw + _check(raw)
    value = int.from_bytes(whole)
    text = ""
    while value:
        value, digit = divmod(value, len(_BASE58))
        text = _BASE58[digit] + text
    return _BASE58[0] * (len(whole) - len(whole.lstrip(b"\0"))) + text


def read_base58(text: str) -> bytes:
    """Without its checksum. Raises WrongChecksum, and ValueError for what is no base58."""
    if not text or len(text) > BASE58_LENGTH_MAX:
        raise ValueError("not base58")
    value = 0
    for letter in text:
        value = value * len(_BASE58) + _BASE58.index(letter)
    zeros = len(text) - len(text.lstrip(_BASE58[0]))
    whole = bytes(zeros) + value.to_bytes((value.bit_length() + 7) // 8)
    if len(whole) <= _CHECK_BYTES:
        raise ValueError("too short for a checksum")
    raw = whole[:-_CHECK_BYTES]
    if _check(raw) != whole[-_CHECK_BYTES:]:
        raise WrongChecksum
    return raw


def segwit(prefix: str, version: int, program: bytes) -> str:
    """The address of a witness program."""
    data = [version, *_regrouped(program, 8, 5, is_padded=True)]
    constant = BECH32 if version == 0 else BECH32M
    value = _polymod([*_expanded(prefix), *data, *[0] * _CHECK_LETTERS]) ^ constant
    check = [value >> 5 * (_CHECK_LETTERS - 1 - place) & 31 for place in range(_CHECK_LETTERS)]
    return f"{prefix}1" + "".join(_BECH32[digit] for digit in (*data, *check))


def read_segwit(text: str) -> tuple[str, int, bytes]:
    """(prefix, version, program), in whatever case. Raises WrongChecksum, and ValueError for what
    is no address of a witness program."""
    folded = text.lower()
    if text not in (folded, text.upper()) or len(text) > LENGTH_MAX:
        raise ValueError("not bech32")
    prefix, separator, rest = folded.rpartition("1")
    if not separator or not prefix or len(rest) <= _CHECK_LETTERS:
        raise ValueError("not bech32")
    data = [_BECH32.index(letter) for letter in rest]
    constant = _polymod([*_expanded(prefix), *data])
    version = data[0]
    if constant not in (BECH32, BECH32M) or (constant == BECH32) != (version == 0):
        raise WrongChecksum
    program = bytes(_regrouped(data[1:-_CHECK_LETTERS], 5, 8, is_padded=False))
    if (
        version > 16
        or not 2 <= len(program) <= 40
        or (version == 0 and len(program) not in (20, 32))
    ):
        raise ValueError("no witness program")
    return prefix, version, program


def _check(raw: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(raw).digest()).digest()[:_CHECK_BYTES]


def _expanded(prefix: str) -> list[int]:
    return [ord(letter) >> 5 for letter in prefix] + [0] + [ord(letter) & 31 for letter in prefix]


def _polymod(values: Iterable[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(_GENERATOR):
            check ^= generator if top >> place & 1 else 0
    return check


def _regrouped(values: Sequence[int], width: int, to: int, *, is_padded: bool) -> list[int]:
    """Bits in groups of another width. Raises ValueError for padding that is none."""
    held = bits = 0
    groups = []
    for value in values:
        held = held << width | value
        bits += width
        while bits >= to:
            bits -= to
            groups.append(held >> bits & (1 << to) - 1)
        held &= (1 << bits) - 1
    if is_padded:
        return [*groups, held << to - bits] if bits else groups
    if bits >= width or held:
        raise ValueError("padding that is none")
    return groups
