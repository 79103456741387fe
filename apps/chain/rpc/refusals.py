"""The meaning of a node's `error` object. Here alone its words are read, as the last resort: nodes
agree on few codes."""

import re
from typing import Any

from apps.core.errors import ErrorCode

_REVERTED = 3  # Geth's own
_UNKNOWN_METHOD = -32601
# What a contract that reverts hands back: Error(string) and Panic(uint256). Nethermind puts it in
# words.
_REVERT_DATA = ("0x08c379a0", "0x4e487b71", "Reverted")
_LACKS_METHOD = re.compile(
    r"(unsupported|unknown) method|method\b.*\b(not (found|supported|available|allowed|implemented"
    r"|enabled|whitelisted)|does not exist|doesn't exist|unsupported|disabled)"
)
# Geth and others answer so in the place of the calls of a batch that they leave out.
_IS_OF_BATCH = re.compile(r"\bbatch|response (is )?too large|response size")
_TEXT_MAX = 300


def code_of(error: Any) -> ErrorCode:
    """REVERTED, UNSUPPORTED, REFUSED, or MALFORMED for what isn't an error object."""
    code, data = (
        (error.get(key) for key in ("code", "data")) if isinstance(error, dict) else (None, None)
    )
    text = _text(error)
    says_why = isinstance(data, str) and data.startswith(_REVERT_DATA)
    if code == _REVERTED or says_why or "revert" in text:
        return ErrorCode.REVERTED
    if code == _UNKNOWN_METHOD or _LACKS_METHOD.search(text):
        return ErrorCode.UNSUPPORTED
    return ErrorCode.REFUSED if isinstance(code, int) else ErrorCode.MALFORMED


def is_of_batch(error: Any) -> bool:
    """Tell whether a call was refused for the batch that it came in."""
    return _IS_OF_BATCH.search(_text(error)) is not None


def _text(error: Any) -> str:
    text = error.get("message") if isinstance(error, dict) else None
    return str(text or "")[:_TEXT_MAX].lower()
