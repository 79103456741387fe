"""The chart of accounts: every kind there is, whose it is, on which side it is, and whether it
may go below zero."""

from dataclasses import dataclass

STORE = "store"
SERVICE = "service"


@dataclass(frozen=True)
class AccountKind:
    """A kind of account. A guarded one never goes below zero, no matter who writes."""

    owner: str
    normal_side: str
    is_guarded: bool
    meaning: str


AVAILABLE = "available"
HELD = "held"
RESERVED = "reserved"
CUSTODY_DEPOSITS = "custody_deposits"
CUSTODY_SIMULATED = "custody_simulated"
CUSTODY_HOT = "custody_hot"
CUSTODY_COLD = "custody_cold"
SERVICE_FEES = "service_fees"
NETWORK_FEES = "network_fees"
OFFRAMP_CLEARING = "offramp_clearing"
SWAP_CLEARING = "swap_clearing"
X402_CLEARING = "x402_clearing"
WITHDRAWAL_CLEARING = "withdrawal_clearing"
TREASURY = "treasury"
OWN_WALLETS = "own_wallets"
OWN_PENDING = "own_pending"
OWN_RECEIVED = "own_received"
OWN_FEES_DUE = "own_fees_due"

CHART: dict[str, AccountKind] = {
    AVAILABLE: AccountKind(STORE, "credit", True, "can be spent now"),
    HELD: AccountKind(
        STORE,
        "credit",
        True,
        "confirmed deposits of payments not settled: unfinished, failed or late",
    ),
    RESERVED: AccountKind(STORE, "credit", True, "payouts, refunds and swaps in progress"),
    CUSTODY_DEPOSITS: AccountKind(SERVICE, "debit", False, "coins on deposit addresses"),
    CUSTODY_SIMULATED: AccountKind(
        SERVICE, "debit", False, "simulated test deposits, net of simulated payouts"
    ),
    CUSTODY_HOT: AccountKind(SERVICE, "debit", False, "coins in the hot wallet"),
    CUSTODY_COLD: AccountKind(SERVICE, "debit", False, "coins in cold storage"),
    SERVICE_FEES: AccountKind(SERVICE, "credit", False, "income"),
    NETWORK_FEES: AccountKind(SERVICE, "debit", False, "gas paid"),
    OFFRAMP_CLEARING: AccountKind(
        SERVICE, "debit", False, "handed to the off-ramp, not yet reported settled"
    ),
    SWAP_CLEARING: AccountKind(SERVICE, "either", False, "counterpart of swaps in progress"),
    X402_CLEARING: AccountKind(SERVICE, "credit", False, "settlements debited but not sent"),
    WITHDRAWAL_CLEARING: AccountKind(
        SERVICE, "credit", False, "earnings on their way to the operator"
    ),
    TREASURY: AccountKind(
        SERVICE, "credit", False, "the service’s own float: gas money and corrections"
    ),
    # Memo accounts: coins that the service has never held. They balance among themselves.
    OWN_WALLETS: AccountKind(SERVICE, "debit", False, "received in merchants’ own wallets"),
    OWN_PENDING: AccountKind(
        STORE,
        "credit",
        True,
        "received in the merchant’s own wallet for payments not settled; never available",
    ),
    OWN_RECEIVED: AccountKind(
        STORE, "credit", True, "received in the merchant’s own wallet; never available"
    ),
    OWN_FEES_DUE: AccountKind(
        STORE, "credit", True, "received in the merchant’s own wallet, and due to the service"
    ),
}
MEMO_KINDS = (OWN_WALLETS, OWN_PENDING, OWN_RECEIVED, OWN_FEES_DUE)
STORE_KINDS = tuple(kind for kind, row in CHART.items() if row.owner == STORE)

ROLES = ("gross", "net", "service_fee", "platform_fee", "network_fee", "principal")
