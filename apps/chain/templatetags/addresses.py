"""Addresses as people compare them: in one spelling on every page."""

from django import template

from apps.chain.networks import families

register = template.Library()


@register.filter
def spelled(address: str | None) -> str:
    """As the API writes it; empty without one."""
    return families.shown_address(address)
