"""The DNS itself, asked without any cache of ours; the servers of the machine unless others are
named."""

from collections.abc import Iterable
from typing import Any

import dns.exception
import dns.resolver

from apps.core.errors import ErrorCode, ProviderError

TIMEOUT_SECONDS = 5.0
DNS_PORT = 53


class Dns:
    """`servers` are addresses, each with a port behind a colon when it isn't 53."""

    def __init__(self, servers: Iterable[str] = ()) -> None:
        self.servers = list(servers)

    def has_text(self, name: str, value: str) -> bool:
        return any(
            b"".join(record.strings) == value.encode() for record in self._records(name, "TXT")
        )

    def leads_to(self, domain: str, host: str) -> bool:
        if self._canonical(domain) in {host, self._canonical(host)}:
            return True
        own_addresses = self._addresses(host)
        return bool(own_addresses & self._addresses(domain))

    def _addresses(self, name: str) -> set[str]:
        return {
            str(record.address) for kind in ("A", "AAAA") for record in self._records(name, kind)
        }

    def _canonical(self, name: str) -> str:
        """Name at the end of the CNAMEs."""
        answer = self._answer(name, "A")
        return str(answer.canonical_name).rstrip(".").lower() if answer is not None else name

    def _records(self, name: str, kind: str) -> list[Any]:
        answer = self._answer(name, kind)
        return list(answer.rrset) if answer is not None and answer.rrset is not None else []

    def _answer(self, name: str, kind: str) -> Any:
        try:
            return self._resolver().resolve(
                f"{name}.", kind, raise_on_no_answer=False, lifetime=TIMEOUT_SECONDS
            )
        except dns.resolver.NXDOMAIN:
            return None
        except dns.exception.DNSException as error:
            raise ProviderError(
                ErrorCode.UNREACHABLE, f"DNS did not answer: {type(error).__name__}"
            ) from error

    def _resolver(self) -> Any:
        resolver = dns.resolver.Resolver(configure=not self.servers)
        if self.servers:
            resolver.nameservers = [
                dns.nameserver.Do53Nameserver(*_address(server)) for server in self.servers
            ]
        return resolver


def _address(text: str) -> tuple[str, int]:
    host, separator, port = text.rpartition(":")
    return (
        (host.strip("[]"), int(port))
        if separator and port.isdigit() and (":" not in host or host.endswith("]"))
        else (text, DNS_PORT)
    )
