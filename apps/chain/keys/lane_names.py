"""How a hot wallet is named to whoever keeps its key: by its mode, `live:1` for the second of live
mode; and which key of an HSM or of KMS is its.

SIGNER_HOT_KEYS names the keys of a mode in the order of their wallets, joined by plus signs.
"""

from collections.abc import Mapping

from apps.chain.providers.base import KeystoreError
from apps.core.errors import ErrorCode


def lane_name(mode: str, number: int) -> str:
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
