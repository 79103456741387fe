"""Telling a store's owners by e-mail that an endpoint was turned off by the service: once each time
it happens."""

import uuid
from collections.abc import Sequence

from django.db import transaction

from apps.core import clock
from apps.core.rows import Job
from apps.stores import person_mail
from apps.stores.models import Member, Role
from apps.stores.notices.kinds import ENDPOINT_OFF
from apps.stores.notices.notifications import NewNotification, record
from apps.webhooks.models import Endpoint

JOB = Job("webhooks.tell_owners", limit=100)


def tell_owners(endpoint_id: uuid.UUID) -> None:
    """Queue the emails that are due for this endpoint, if they still are."""
    with transaction.atomic():
        if not Endpoint.objects.filter(pk=endpoint_id, is_notice_due=True).update(
            is_notice_due=False
        ):
            return
        endpoint = Endpoint.objects.select_related("store").get(pk=endpoint_id)
        values = {
            "store": endpoint.store.name,
            "mode": endpoint.mode,
            "url": endpoint.url,
            "id": endpoint.pk,
        }
        occasion = clock.iso(endpoint.disabled_at)
        path = f"/dashboard/webhooks/{endpoint.pk}"
        subject = f"{endpoint.pk}:{occasion}"
        news = (endpoint.store_id, endpoint.mode, ENDPOINT_OFF, subject)
        record(NewNotification(*news, "A webhook endpoint was disabled", path, endpoint.url))
        owners = Member.objects.filter(
            store_id=endpoint.store_id, role=Role.OWNER, user__is_active=True
        )
        for owner in owners.select_related("user"):
            key = f"webhook_endpoint_off:{endpoint.pk}:{occasion}:{owner.user_id}"
            person_mail.send(owner.user, key=key, template="webhook_endpoint_off", context=values)


def tell(endpoint_ids: Sequence[uuid.UUID]) -> None:
    """The notices of these endpoints."""
    JOB.each(lambda: endpoint_ids, tell_owners)


def tell_all() -> None:
    """The notices that no job has sent."""
    due = Endpoint.objects.filter(is_notice_due=True).order_by("pk").values_list("pk", flat=True)
    JOB.walk(due, tell_owners)
