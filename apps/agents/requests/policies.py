"""Bounds that staff set for a store's agents, where the service itself decides (`policy`)."""

from typing import Annotated, Any, Self

from apps.core.messages.fields import AtomicAmount, Invalid, List, Text
from apps.core.messages.requests import Request, by


class CapDigits(AtomicAmount):
    """A string of digits or a JSON integer; zero allows nothing."""

    def check(self, value: Any, name: str) -> str:
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        return super().check(text, name)


Name = Annotated[str, by(Text(255))]
Names = Annotated[list[Name], by(List(Text(255), 100))]
CapAmount = Annotated[str, by(CapDigits())]


class PolicyRules(Request, frozen=True, kw_only=True):
    """A rule that is left out allows, so a name that is none and a null are refused."""

    max_mandate_cap_atomic: CapAmount | None = None
    daily_issuance_cap_atomic: CapAmount | None = None
    allowed_scopes: Names | None = None
    allowed_assets: Names | None = None
    agents_may_refund: bool | None = None
    agents_may_change_tokens: bool | None = None
    agents_may_pay_out: bool | None = None

    @classmethod
    def read(cls, value: object, name: str = "policy") -> Self:
        for rule, limit in value.items() if isinstance(value, dict) else ():
            if rule not in cls.__struct_fields__:
                raise Invalid(
                    str(rule)[:100], "unknown_rule", known=", ".join(cls.__struct_fields__)
                )
            if limit is None:
                raise Invalid(rule, "required")
        return super().read(value, name)
