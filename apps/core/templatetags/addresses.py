"""Addresses as people compare them: in one spelling on every page."""

from django import template

from apps.core.evm import checksummed

register = template.Library()


@register.filter
def checksum(address: str | None) -> str:
    """With the checksum in its capitals, as the API writes it; empty without one."""
    return checksummed(address) if address else ""
