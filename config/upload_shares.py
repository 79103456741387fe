"""The number of uploads in progress by store, so that one store leaves the lane to others
(decision 661).

A request brings a session before anybody has looked whose it is: until an answer has named the
session's store, it counts for the client's address.
"""

import hashlib
from collections import Counter, OrderedDict
from typing import NamedTuple

# Of the places of the lane: being received, waiting or running.
SHARE_MAX = 2
KNOWN_MAX = 10_000


class UploaderClaim(NamedTuple):
    """The session and the address that a request comes from."""

    session: str
    address: str


class UploadShares:
    """Of one process, on its event loop."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._stores: OrderedDict[bytes, str] = OrderedDict()

    def take(self, claim: UploaderClaim) -> str | None:
        """Takes a place, and returns its owner; None when they have their share already."""
        store = self._stores.get(_digest(claim.session)) if claim.session else None
        share = f"store {store}" if store else f"address {claim.address}"
        if self._counts[share] >= SHARE_MAX:
            return None
        self._counts[share] += 1
        return share

    def give_back(self, share: str) -> None:
        self._counts[share] -= 1
        if not self._counts[share]:
            del self._counts[share]

    def learn(self, claim: UploaderClaim, store: str) -> None:
        """The store that the application has found for a session."""
        if not claim.session or not store:
            return
        key = _digest(claim.session)
        self._stores[key] = store
        self._stores.move_to_end(key)
        if len(self._stores) > KNOWN_MAX:
            self._stores.popitem(last=False)


def _digest(session: str) -> bytes:
    return hashlib.sha256(session.encode()).digest()
