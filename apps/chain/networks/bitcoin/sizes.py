"""Sizes of transactions that spend coins of held wallets (BIP-84), and what they cost.

Four weights are one virtual byte. A signature is counted with its most bytes, so that what is paid
is never less than the rate.
"""

from collections.abc import Sequence

from apps.chain.networks.base import Rates, RateTooHigh

# Of an input: hash, number, an empty script and the sequence; in its witness a count, a signature
# with its kind, a key, and the length of each.
INPUT_WEIGHT = 4 * (32 + 4 + 1 + 4) + 1 + 1 + 72 + 1 + 33
_FIXED_WEIGHT = 4 * (4 + 4) + 2  # version, time; marker and flag of a witness
_AMOUNT_BYTES = 8
# An output is too small when taking it costs a third: nodes reckon an input with a witness as so
# many bytes, and one without as more.
_SEGWIT_INPUT_BYTES, _PLAIN_INPUT_BYTES = 67, 148
_PER = 1000


def output_bytes(script: bytes) -> int:
    return _AMOUNT_BYTES + _count_bytes(len(script)) + len(script)


def virtual_size(inputs: int, scripts: Sequence[bytes]) -> int:
    counts = 4 * (_count_bytes(inputs) + _count_bytes(len(scripts)))
    outputs = 4 * sum(output_bytes(script) for script in scripts)
    return -(-(_FIXED_WEIGHT + counts + INPUT_WEIGHT * inputs + outputs) // 4)


def dust_of(script: bytes, dust_rate: int) -> int:
    """The least that an output may have, as nodes reckon it."""
    is_segwit = len(script) in (22, 34) and script[1] == len(script) - 2
    taking = _SEGWIT_INPUT_BYTES if is_segwit else _PLAIN_INPUT_BYTES
    return dust_rate * (output_bytes(script) + taking) // _PER


def cost(size: int, rate: int) -> int:
    """Rounded up."""
    return -(-size * rate // _PER)


def rate_of(rates: Rates) -> int:
    """Raises RateTooHigh."""
    rate = max(rates.now, rates.floor)
    if rate > rates.ceiling:
        raise RateTooHigh
    return rate


def parts_of(fee_atomic: int, scripts: Sequence[bytes]) -> tuple[int, ...]:
    """Parts of a fee that outputs bear, by their size; they sum to it, with the rest at the
    first."""
    sizes = [output_bytes(script) for script in scripts]
    if not sizes:
        return ()
    parts = [fee_atomic * size // sum(sizes) for size in sizes]
    parts[0] += fee_atomic - sum(parts)
    return tuple(parts)


def _count_bytes(count: int) -> int:
    return 1 if count < 0xFD else 3 if count < 2**16 else 5
