"""Facts about chains, what was read of them and what leaves on them."""

from apps.chain.models.sending import (
    GasLeft,
    HotWallet,
    Obstacle,
    OutgoingTransaction,
    SendingHold,
    SignedTransaction,
    UndoneTransaction,
    UnknownTransaction,
)
from apps.chain.models.watching import (
    Address,
    AddressLook,
    AddressToLook,
    BalanceCheck,
    Block,
    BlockToRead,
    Deposit,
    Head,
    PayerRecord,
    UnexplainedBalance,
    UnmatchedTransfer,
)

__all__ = [
    "Address",
    "AddressLook",
    "AddressToLook",
    "BalanceCheck",
    "Block",
    "BlockToRead",
    "Deposit",
    "GasLeft",
    "Head",
    "HotWallet",
    "Obstacle",
    "OutgoingTransaction",
    "PayerRecord",
    "SendingHold",
    "SignedTransaction",
    "UndoneTransaction",
    "UnexplainedBalance",
    "UnknownTransaction",
    "UnmatchedTransfer",
]
