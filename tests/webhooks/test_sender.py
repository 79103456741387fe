"""The loop that sends: it ends when it is told to, however soon."""

from apps.webhooks.delivery.sender import WebhookSender


def test_a_sender_that_has_nothing_to_send_ends_at_once_every_time() -> None:
    for _ in range(300):
        with WebhookSender() as sender:
            pass
        assert not sender._thread.is_alive()
