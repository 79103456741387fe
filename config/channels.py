"""Channels to Redis that may be closed twice, as Celery closes those of a connection that broke.

The second time the connection no longer knows its server, which kombu tells with an AttributeError
when a job's message is still to be given back: a worker that runs a job while Redis ends would end
with it. Celery knows what to do about a connection that is gone.
"""

from typing import Any

from kombu.transport import redis as transport
from redis.exceptions import ConnectionError as ConnectionGone


class _ClosedTwice:
    connection: Any

    def _connparams(self, asynchronous: bool = False) -> Any:
        if self.connection is None or self.connection.client is None:
            raise ConnectionGone("the connection to Redis was closed")
        return super()._connparams(asynchronous=asynchronous)  # type: ignore[misc]  # a channel's


class Channel(_ClosedTwice, transport.Channel):
    pass


class SentinelChannel(_ClosedTwice, transport.SentinelChannel):
    pass


class Transport(transport.Transport):
    Channel = Channel


class SentinelTransport(transport.SentinelTransport):
    Channel = SentinelChannel
