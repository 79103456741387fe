"""Facts about chains, what was read of them and what leaves on them."""

from apps.chain.models.coins import CoinRecord, SpendCandidate, SpendRecord
from apps.chain.models.own import OwnWallet, WalletChoice
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
from apps.chain.models.sightings import SightingRecord
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
    "CoinRecord",
    "Deposit",
    "GasLeft",
    "Head",
    "HotWallet",
    "Obstacle",
    "OutgoingTransaction",
    "OwnWallet",
    "PayerRecord",
    "SendingHold",
    "SightingRecord",
    "SignedTransaction",
    "SpendCandidate",
    "SpendRecord",
    "UndoneTransaction",
    "UnexplainedBalance",
    "UnknownTransaction",
    "UnmatchedTransfer",
    "WalletChoice",
]
