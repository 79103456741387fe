"""The loop that sends: it ends on request, however soon, and sends what it was given before it
ran."""

import uuid
from datetime import timedelta

from apps.core.clock import real_now
from apps.webhooks.delivery.queue import DueAttempt
from apps.webhooks.delivery.sender import WebhookSender
from tests.webhooks.receivers import Receiver


def test_a_sender_that_has_nothing_to_send_ends_at_once_every_time() -> None:
    for _ in range(300):
        with WebhookSender() as sender:
            pass
        assert not sender._thread.is_alive()


def test_what_is_started_before_the_loop_runs_is_sent_as_well(receiver: Receiver) -> None:
    attempt = DueAttempt(
        delivery_id=uuid.uuid4(),
        number=1,
        claimed_until=real_now() + timedelta(seconds=90),
        offset_seconds=0,
        url=receiver.url,
        body=b"{}",
        headers={},
        endpoint_id=uuid.uuid4(),
        host="127.0.0.1",
    )
    sender = WebhookSender()
    sender.start([attempt])
    with sender:
        (result,) = sender.take(10)
    assert (result.response_status, result.error) == (200, None)
    assert len(receiver.requests) == 1
