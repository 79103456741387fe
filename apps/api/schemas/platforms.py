"""What is answered to agents."""

from apps.api.plumbing.shapes import many, of
from apps.api.schemas.money import BALANCE, SETTLEMENT_BALANCE
from apps.core.literal import Schema

ANSWERS: dict[str, Schema] = {
    "GET agentic/balances": of("", balances=many(BALANCE), settlement_balance=SETTLEMENT_BALANCE),
}
