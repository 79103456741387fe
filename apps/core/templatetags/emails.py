"""What pages say of the emails that they cause."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def emails_team_alone() -> bool:
    """Whether letters of test mode to anybody else are only shown in the dashboard."""
    return not settings.TEST_MAIL_TO_EVERYBODY
