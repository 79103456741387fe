"""The words that fields of payments' documents may have, for anyone who generates a client."""

from typing import Annotated

from msgspec import Meta

from apps.chain.models import Deposit
from apps.payments.models import HeldRefund, Payment, Refund

IntentStatus = Annotated[str, Meta(extra_json_schema={"enum": Payment.Status.values})]
CreatedWith = Annotated[str, Meta(extra_json_schema={"enum": Payment.Origin.values})]
RefundState = Annotated[str, Meta(extra_json_schema={"enum": Payment.RefundState.values})]
RefundStatus = Annotated[str, Meta(extra_json_schema={"enum": Refund.Status.values})]
RefundReason = Annotated[str, Meta(extra_json_schema={"enum": Refund.Reason.values})]
# A deposit that matches no payment is none of a payment's.
_DEPOSIT_STATUSES = [
    status.value for status in Deposit.Status if status != Deposit.Status.UNMATCHED
]
DepositStatus = Annotated[str, Meta(extra_json_schema={"enum": _DEPOSIT_STATUSES})]
# More blocks, or the network's own word that the block is final; null of what waits for neither.
DepositWait = Annotated[str, Meta(extra_json_schema={"enum": ["confirmations", "finality"]})]
HeldRefundStatus = Annotated[str, Meta(extra_json_schema={"enum": ["checking", "waiting"]})]
HeldRefundReason = Annotated[str, Meta(extra_json_schema={"enum": HeldRefund.Why.values})]
# Where its coins are: with the service, or in the merchant's own wallet.
WalletOwner = Annotated[str, Meta(extra_json_schema={"enum": ["service", "own"]})]
AddressStatus = Annotated[str, Meta(extra_json_schema={"enum": ["pending", "confirmed"]})]
SettlementStatus = Annotated[
    str, Meta(extra_json_schema={"enum": ["pending", "processing", "completed", "failed"]})
]
ReconciliationStatus = Annotated[
    str, Meta(extra_json_schema={"enum": ["final", "under_investigation", "disputed", "closed"]})
]
