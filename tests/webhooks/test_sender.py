"""The loop that sends: it ends when it is told to, however soon."""

from apps.webhooks.delivery.sender import Sender


def test_a_sender_that_has_nothing_to_send_ends_at_once_every_time() -> None:
    for _ in range(300):
        with Sender() as sender:
            pass
        assert not sender._thread.is_alive()
