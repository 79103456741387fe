"""Sentences about the emails that a page causes."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def emails_team_alone() -> bool:
    """True if emails of test mode to anybody else are only shown in the dashboard."""
    return not settings.TEST_MAIL_TO_EVERYBODY
