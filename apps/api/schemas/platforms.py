"""What is answered to agents."""

from apps.api.plumbing.shapes import many, of
from apps.api.schemas.money import BALANCE, SETTLEMENT_BALANCE
from apps.api.schemas.payments import DETAIL, REFUND
from apps.core.literal import Schema

ANSWERS: dict[str, Schema] = {
    "GET agentic/payments/<str:id>": DETAIL,
    "POST agentic/payments/<str:id>/cancel": DETAIL,
    "GET agentic/payments/<str:id>/refunds": of("", data=many(REFUND)),
    "POST agentic/payments/<str:id>/refunds": of("", data=many(REFUND)),
    "GET agentic/balances": of("", balances=many(BALANCE), settlement_balance=SETTLEMENT_BALANCE),
}
