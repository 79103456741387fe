"""The jobs of webhooks. The database has the queue: a job only has it looked at, so a lost
message loses nothing."""

import uuid
from collections.abc import Sequence

from celery import shared_task

from apps.core.clock import real_now
from apps.webhooks import pruning
from apps.webhooks.delivery import queue
from apps.webhooks.delivery.dispatcher import dispatcher
from apps.webhooks.services import endpoint_emails


@shared_task(name="webhooks.deliver")
def deliver(delivery_ids: Sequence[str] = ()) -> None:
    """Something is due. Which deliveries doesn't matter: the dispatcher takes everything that
    is."""
    dispatcher.wake()


@shared_task(name="webhooks.deliver_due")
def deliver_due() -> None:
    queue.tidy(real_now())
    dispatcher.wake()
    endpoint_emails.tell_all()


@shared_task(name="webhooks.tell_owners")
def tell_owners(endpoint_ids: Sequence[str]) -> None:
    endpoint_emails.tell([uuid.UUID(endpoint_id) for endpoint_id in endpoint_ids])


@shared_task(name="webhooks.prune")
def prune() -> None:
    pruning.prune_all(real_now())
