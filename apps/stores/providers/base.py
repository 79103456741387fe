"""What a source of DNS answers can do."""

from typing import Protocol


class Resolver(Protocol):
    """False is a definite answer; ProviderError when none was to be had."""

    def has_text(self, name: str, value: str) -> bool:
        """Whether the name has this TXT record."""
        ...

    def leads_to(self, domain: str, host: str) -> bool:
        """Whether who asks for `domain` arrives at `host`: by CNAME, or at one of its addresses."""
        ...
