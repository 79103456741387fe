"""Rules that staff keep per store; without rules everything is allowed. A rule that can't be read
refuses."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.agents.providers.base import MANDATE, PAYOUT, REFUND, TOKEN, Question

SWITCHES = {
    REFUND: "agents_may_refund",
    TOKEN: "agents_may_change_tokens",
    PAYOUT: "agents_may_pay_out",
}


@dataclass(frozen=True)
class Policy:
    """`rules` are those of one store, by the names of PolicyRules, as they are in its row."""

    rules: Mapping[str, object]

    is_local = True

    def allows(self, question: Question) -> bool:
        switch = SWITCHES.get(question.action)
        if switch is not None and self.rules.get(switch, True) is not True:
            return False
        if question.asset_id is not None and not self._lists("allowed_assets", question.asset_id):
            return False
        return question.action != MANDATE or self._allows_mandate(question)

    def _allows_mandate(self, question: Question) -> bool:
        cap = question.amount_atomic or 0
        if not self._lists("allowed_scopes", question.scope):
            return False
        return self._reaches("max_mandate_cap_atomic", cap) and self._reaches(
            "daily_issuance_cap_atomic", cap + question.issued_today_atomic
        )

    def _lists(self, rule: str, value: str | None) -> bool:
        allowed = self.rules.get(rule)
        return allowed is None or (isinstance(allowed, list) and value in allowed)

    def _reaches(self, rule: str, amount: int) -> bool:
        most = self.rules.get(rule)
        return most is None or (
            str(most).isascii() and str(most).isdigit() and amount <= int(str(most))
        )
