"""Addresses below an event's: the webhook, and where the customer comes back to."""

from django.urls import re_path
from pretix.multidomain import event_url

from .views import come_back, webhook

event_patterns = [
    event_url(r"^tillgate/webhook/$", webhook, name="webhook", require_live=False),
    re_path(
        r"^tillgate/return/(?P<order>[^/]+)/(?P<secret>[^/]+)/(?P<number>[0-9]+)/$",
        come_back,
        name="return",
    ),
]
