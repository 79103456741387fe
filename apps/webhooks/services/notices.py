"""Telling a store's owners by e-mail that an endpoint was turned off by the service: once each time it happens."""

import uuid

from django.conf import settings
from django.core.mail import send_mail

from apps.stores.models import Member, Role
from apps.webhooks.models import Endpoint

_SUBJECT = "Webhook deliveries of {store} were turned off"
_TEXT = """Hello,

{store} no longer receives webhooks ({mode} mode) at

    {url}

because a delivery failed ten times in a row, or because the address is no longer public. Deliveries that were waiting are kept
as ignored. Once the receiver works again, enable the endpoint in the dashboard and redeliver what was missed:

    {base_url}/dashboard/webhooks/{id}
"""


def tell_owners(endpoint_id: uuid.UUID) -> None:
    """Send the notice that is due for this endpoint, if there still is one; it stays due when no owner could be reached."""
    if not Endpoint.objects.filter(pk=endpoint_id, is_notice_due=True).update(is_notice_due=False):
        return
    endpoint = Endpoint.objects.select_related("store").get(pk=endpoint_id)
    values = {
        "store": endpoint.store.name,
        "mode": endpoint.mode,
        "url": endpoint.url,
        "id": endpoint.pk,
        "base_url": settings.PUBLIC_URL,
    }
    owners = Member.objects.filter(store_id=endpoint.store_id, role=Role.OWNER, user__is_active=True)
    subject = " ".join(_SUBJECT.format(**values).split())  # a line break may not stand in a subject
    sent, failed = 0, None
    for address in owners.values_list("user__email", flat=True):
        try:
            sent += send_mail(subject, _TEXT.format(**values), settings.DEFAULT_FROM_EMAIL, [address])
        except OSError as error:
            failed = error
    if failed is not None and not sent:
        Endpoint.objects.filter(pk=endpoint_id).update(is_notice_due=True)
        raise failed


def tell_all() -> None:
    """The notices that no job has sent."""
    for endpoint_id in list(Endpoint.objects.filter(is_notice_due=True).values_list("pk", flat=True)[:100]):
        tell_owners(endpoint_id)
