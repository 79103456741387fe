"""Rules for an endpoint's fields in this store. Every broken rule is reported at once, one for each
field, in their order."""

from collections.abc import Callable, Collection, Mapping

from msgspec import UNSET, structs

from apps.access.access import Access
from apps.core.messages.fields import split_url
from apps.core.messages.invalid import Invalid, InvalidFields
from apps.core.outbound import net
from apps.webhooks.catalogue import PLATFORM_DEFAULT, open_to
from apps.webhooks.requests import EndpointChanges, EndpointRequest

UNKNOWN_TOLD_MAX = 10
NAME_TOLD_MAX = 100
Broken = Mapping[str, Invalid]


def for_new(request: EndpointRequest) -> EndpointRequest:
    """A platform integration that names no events gets the default set."""
    if request.platform and not request.subscribed_events:
        return structs.replace(request, subscribed_events=list(PLATFORM_DEFAULT))
    return request


def for_adoption(request: EndpointRequest) -> EndpointRequest:
    """Request completed with unchanged fields; an empty list of events is the default set."""
    if request.subscribed_events == []:
        return structs.replace(request, subscribed_events=list(PLATFORM_DEFAULT))
    return request


def check(
    access: Access,
    request: EndpointRequest | EndpointChanges,
    broken: Broken,
    required: Collection[str] = (),
) -> None:
    """Raises InvalidFields with what is `broken` already and what the store forbids."""
    errors = dict(broken)
    for name in request.__struct_fields__:
        value = getattr(request, name)
        try:
            if name in errors:
                continue
            if value is not UNSET and name in _CHECKS:
                _CHECKS[name](access, value)
            elif value is UNSET and name in required:
                raise Invalid(name, "blank")
        except Invalid as refusal:
            errors[name] = refusal
    if errors:
        raise InvalidFields(*(errors[name] for name in request.__struct_fields__ if name in errors))


def _check_url(access: Access, url: str) -> None:
    parts = split_url(url)
    host = (parts.hostname if parts else None) or ""
    is_https = parts is not None and parts.scheme == "https"
    if access.is_live and not is_https and not net.is_excused(host):
        raise Invalid("url", "https_only")
    try:
        net.check_url_host(host, (parts.port if parts else None) or (443 if is_https else 80))
    except (net.PrivateAddress, net.Unresolvable):
        raise Invalid("url", "public_address") from None


def _check_events(access: Access, names: list[str]) -> None:
    if not names:
        raise Invalid("subscribed_events", "blank")
    allowed = open_to(access.store.is_platform)
    unknown = [name[:NAME_TOLD_MAX] for name in names if name not in allowed]
    if unknown:
        raise Invalid(
            "subscribed_events", "unknown_events", names=", ".join(unknown[:UNKNOWN_TOLD_MAX])
        )


# Typed by the classes of the request.
_CHECKS: Mapping[str, Callable[..., None]] = {"url": _check_url, "subscribed_events": _check_events}
