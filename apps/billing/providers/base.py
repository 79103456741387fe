"""Interface of a registry of VAT numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class RegistryAnswer:
    """`answer` in the registry's own words; a `consultation_number` only for who asked as
    somebody."""

    is_valid: bool
    name: str = ""
    address: str = ""
    consultation_number: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)


class VatRegistry(Protocol):
    def check(self, number: str, requester_number: str) -> RegistryAnswer:
        """Ask about a number with its prefix; `requester_number` may be empty. Raises ProviderError
        when the registry doesn't answer, or not for this country."""
        ...
