"""Facts about chains, what was read of them and what leaves on them."""

from apps.chain.models.sending import (
    HotWallet,
    OutgoingTransaction,
    SendingHold,
    SignedTransaction,
    UndoneTransaction,
    UnknownTransaction,
)
from apps.chain.models.watching import (
    Address,
    BalanceCheck,
    Block,
    Deposit,
    Head,
    UnmatchedTransfer,
)

__all__ = [
    "Address",
    "BalanceCheck",
    "Block",
    "Deposit",
    "Head",
    "HotWallet",
    "OutgoingTransaction",
    "SendingHold",
    "SignedTransaction",
    "UndoneTransaction",
    "UnknownTransaction",
    "UnmatchedTransfer",
]
