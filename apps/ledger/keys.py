"""THE keys of movements: what makes each event of the books happen once.

A key is the name of the event and what it happened to. Movements are posted under `KEY.of(…)`; the
invariants of all apps find them again by `KEY.sql(…)`, so that neither spells it out.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """The first part of a key; the others follow after colons."""

    name: str

    def of(self, *parts: object) -> str:
        """The key itself."""
        return ":".join((self.name, *(str(part) for part in parts)))

    def sql(self, *parts: str) -> str:
        """The key in SQL, with expressions of a text or a UUID as its parts. Never of input."""
        return f"'{self.name}:' || " + " || ':' || ".join(parts)


def subject_sql(key: str) -> str:
    """Subject of a movement's key: its second part, in SQL."""
    return f"split_part({key}, ':', 2)"


X402 = Key("x402")
X402_CONFIRMED = Key("x402-confirmed")
X402_REVERSED = Key("x402-reversed")
X402_GAS = Key("x402-gas")
X402_GAS_CHARGED = Key("x402-gas-charged")
SWEEP = Key("sweep")
SWEEP_GAS = Key("sweep-gas")
JOIN = Key("join")
COLD = Key("cold")
COLD_RETURNED = Key("cold-returned")
WITHDRAWAL = Key("withdrawal")
WITHDRAWAL_CONFIRMED = Key("withdrawal-confirmed")
WITHDRAWAL_RELEASED = Key("withdrawal-released")
MINED_AGAIN = Key("mined-again")
ATTEMPT_GAS = Key("attempt-gas")
TEST_PAYMENT = Key("test-payment")
CORRECTION = Key("correction")
DEPOSIT = Key("deposit")
SETTLE = Key("settle")
SETTLE_LATE = Key("settle-late")
PAYOUT = Key("payout")
PAYOUT_CONFIRMED = Key("payout-confirmed")
PAYOUT_RELEASED = Key("payout-released")
PAYOUT_GAS = Key("payout-gas")
PAYOUT_GAS_CHARGED = Key("payout-gas-charged")
PAYOUT_HANDED_OVER = Key("payout-handed-over")
PAYOUT_HANDED_BACK = Key("payout-handed-back")
PAYOUT_SETTLED = Key("payout-settled")
OWN_FEES = Key("own-fees")
OWN_FEES_PAID = Key("own-fees-paid")
OWN_REVERSED = Key("own-reversed")
OWN_RESTORED = Key("own-restored")
REFUND = Key("refund")
REFUND_CONFIRMED = Key("refund-confirmed")
REFUND_RELEASED = Key("refund-released")
PLATFORM_FEE_RETURNED = Key("platform-fee-returned")
SWAP = Key("swap")
SWAP_COMPLETED = Key("swap-completed")
SWAP_EXCHANGED = Key("swap-exchanged")
SWAP_RELEASED = Key("swap-released")
SWAP_APPROVAL = Key("swap-approval")


def of_sweeper_sql(row: str) -> str:
    """Key under which a transaction of the sweeper (a row of chain_outgoingtransaction) is booked,
    in SQL: one that spends coins, or is a batch, has swept several addresses."""
    return (
        f"CASE WHEN {row}.purpose = 'sweep' AND {row}.spend_id IS NULL AND {row}.batch_id IS NULL"
        f" THEN {SWEEP.sql(f'{row}.tx_hash')}"
        f" WHEN {row}.purpose = 'sweep' THEN {SWEEP.sql(f'{row}.tx_hash', f'{row}.id')}"
        f" ELSE {SWEEP_GAS.sql(f'{row}.tx_hash')} END"
    )
