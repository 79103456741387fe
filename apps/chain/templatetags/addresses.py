"""Addresses as people compare them: in one spelling on every page."""

from django import template

from apps.assets.models import Chain
from apps.chain.networks import families

register = template.Library()


@register.filter
def spelled(address: str | None) -> str:
    """As the API writes it; empty without one."""
    return families.shown_address(address)


@register.filter
def beginning(chain: Chain) -> str:
    """How addresses of the network begin, for an empty input: `0x…`, `ltc1…`."""
    return f"{families.addresses_of(chain).beginning}…"
