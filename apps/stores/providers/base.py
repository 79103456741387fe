"""Interface of a source of DNS answers."""

from typing import Protocol


class Resolver(Protocol):
    """False is a definite answer; ProviderError when none was to be had."""

    def has_text(self, name: str, value: str) -> bool:
        """True if the name has this TXT record."""
        ...

    def leads_to(self, domain: str, host: str) -> bool:
        """True if who asks for `domain` arrives at `host`: by CNAME, or at one of its addresses."""
        ...
