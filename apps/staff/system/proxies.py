"""A page of the staff site that shows from where a request seems to come, and what
TRUSTED_PROXY_HOPS should be.

Every proxy adds the address that it was asked from to X-Forwarded-For: a browser sends none, so
there are as many as proxies.
"""

import ipaddress
from dataclasses import dataclass

from django.conf import settings
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from apps.core.web.middleware import client_address, exact_address, plain_address

HEADERS = (
    *(
        "X-Forwarded-For",
        "X-Forwarded-Proto",
        "X-Forwarded-Host",
        "Forwarded",
        "X-Real-IP",
        "Via",
        "CF-Connecting-IP",
    ),
    "True-Client-IP",
    "Host",
)


@dataclass(frozen=True)
class HopsVerdict:
    """`hops` is what the setting should be, None when it can't be determined."""

    hops: int | None
    text: str


def page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """The received headers, the believed address, and the right setting. `mine` is the address that
    the reader knows to have."""
    own_address = request.GET.get("mine", "").strip()
    forwarded = entries(request)
    context = {
        **site.each_context(request),
        "title": "Proxies and client addresses",
        "headers": [(name, request.headers[name]) for name in HEADERS if name in request.headers],
        "connection": request.META.get("REMOTE_ADDR") or "a local socket",
        "hops": settings.TRUSTED_PROXY_HOPS,
        "own_address": exact_address(request) or "none",
        "counted": client_address(request) or "none, shared with all clients without one",
        "is_secure": request.is_secure(),
        "verdict": judge(
            forwarded,
            str(request.META.get("REMOTE_ADDR", "")),
            settings.TRUSTED_PROXY_HOPS,
            own_address,
        ),
        "known_address": own_address,
    }
    return TemplateResponse(request, "staff/proxies.html", context)


def entries(request: HttpRequest) -> list[str]:
    """Of X-Forwarded-For, the nearest proxy's last."""
    return [
        part.strip()
        for part in request.headers.get("X-Forwarded-For", "").split(",")
        if part.strip()
    ]


def judge(forwarded: list[str], connection: str, hops: int, own_address: str = "") -> HopsVerdict:
    """The right setting, and the consequences of a wrong one."""
    if own_address and not plain_address(own_address):
        return HopsVerdict(None, f"{own_address} isn’t an address.")
    position = (
        _position(forwarded, connection, plain_address(own_address))
        if own_address
        else len(forwarded)
    )
    if position is None:
        return HopsVerdict(
            None,
            f"{plain_address(own_address)} isn’t in this request. Either a proxy in front doesn’t"
            " pass it on, or it isn’t your public address.",
        )
    if position == hops:
        return HopsVerdict(position, _right(forwarded, connection, hops))
    if position > hops:
        return HopsVerdict(
            position,
            f"Set TRUSTED_PROXY_HOPS={position}. Until then, everyone behind the same proxy counts"
            " as one client.",
        )
    return HopsVerdict(
        position,
        f"Set TRUSTED_PROXY_HOPS={position}. Until then, clients can write any address into"
        " X-Forwarded-For, and it is believed.",
    )


def _position(forwarded: list[str], connection: str, own_address: str) -> int | None:
    """Number of proxies between that address and us."""
    addresses = [*forwarded, connection]
    positions = (
        hops for hops in range(len(addresses)) if plain_address(addresses[-1 - hops]) == own_address
    )
    return next(positions, None)


def _right(forwarded: list[str], connection: str, hops: int) -> str:
    address = plain_address(forwarded[-hops] if hops else connection)
    if address and not ipaddress.ip_address(address).is_global:
        return (
            f"TRUSTED_PROXY_HOPS matches this request, but {address} is a private address. If you"
            " connected over the internet, a proxy in front doesn’t add X-Forwarded-For."
        )
    return "TRUSTED_PROXY_HOPS matches this request."
