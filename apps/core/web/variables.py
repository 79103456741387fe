"""Names in a request's environment that the web server reads once the request is answered."""

from dataclasses import dataclass

STORE = "tillgate.store"  # whose request it was
HOLD = "tillgate.hold"  # a `Hold`: the answer may wait for news


@dataclass(frozen=True)
class Hold:
    """An answer that says `text`, and may wait until something else is to be said of `key`."""

    key: str
    text: str
