"""Deliveries that fail in words: which order's event it is, and what becomes of the endpoint."""

from collections.abc import Mapping

from django.utils.text import Truncator
from django.utils.translation import gettext

from apps.dashboard.tables.cells import NAME_SHOWN
from apps.webhooks.attention import last_failed
from apps.webhooks.delivery.queue import ATTEMPTS_MAX
from apps.webhooks.models import Endpoint
from apps.webhooks.reasons import error_words

# What people call the subject of an event by, best first.
_NAMES = ("order_id", "reference", "number", "id")


def worst_delivery(endpoint: Endpoint) -> str:
    """Order whose event is refused, and how near its last attempt is: that turns off the endpoint
    for every other order as well. Of one that `failing_endpoints` found."""
    worst = endpoint.worst  # type: ignore[attr-defined]  # annotated there
    name = _name_of(worst["object"])
    words = (
        gettext(
            "{event} of {subject} failed {count} of {most} times. After the last one the endpoint"
            " is turned off."
        )
        if name
        else gettext(
            "{event} failed {count} of {most} times. After the last one the endpoint is turned off."
        )
    )
    return words.format(
        event=worst["type"], subject=name, count=worst["attempts"], most=ATTEMPTS_MAX
    )


def last_failure(endpoint: Endpoint) -> str:
    """Order whose event turned the endpoint off; empty when none failed for good."""
    delivery = last_failed(endpoint)
    if delivery is None:
        return ""
    name = _name_of(delivery.event.object)
    words = (
        gettext("{event} of {subject} was the last to fail: {failure}")
        if name
        else gettext("{event} was the last to fail: {failure}")
    )
    failure = gettext(error_words(delivery.error, delivery.response_status))
    return words.format(event=delivery.event.type, subject=name, failure=failure)


def _name_of(subject: Mapping[str, object]) -> str:
    name = next((str(subject[key]) for key in _NAMES if subject.get(key)), "")
    return str(Truncator(name).chars(NAME_SHOWN))
