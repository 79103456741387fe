"""A port for a server that a process starts: no other process of ours gets it before
that server listens, and the kernel gives it to no client in between.
"""

import itertools
import os
import socket
import sys
from collections.abc import Iterator

# Below those that Linux gives to clients of its own accord (32768 to 60999, unless configured).
PORTS = range(20_000, 32_768)

# Every process begins somewhere else, so that none meets the ports that one before it has left.
_first = os.getpid() * 61 % len(PORTS)
_upcoming: Iterator[int] = itertools.cycle([*PORTS[_first:], *PORTS[:_first]])
_claims = list[socket.socket]()


def free_port() -> int:
    """A port without a listener; claimed until this process ends, whatever becomes of its server.
    Raises RuntimeError when every port is claimed or taken."""
    for port in itertools.islice(_upcoming, len(PORTS)):
        if _claim(port):
            return port
    raise RuntimeError(f"no port from {PORTS[0]} to {PORTS[-1]} is free")


def _claim(port: int) -> bool:
    """True if this process is the first to claim the port, and nobody listens there."""
    # A name that only one process can have, and that goes with it however it ends. It is no file.
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        if sys.platform == "linux":
            claim.bind(f"\0tillgate-port-{port}")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True
