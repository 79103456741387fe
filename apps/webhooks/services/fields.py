"""What an endpoint's fields may hold. Every broken rule is told at once, as a list of sentences that begin with the field."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from apps.access.access import Access
from apps.core import net
from apps.core.errors import Listed
from apps.core.literal import Invalid, check_free, check_storable, split_url
from apps.webhooks.catalogue import PLATFORM_DEFAULT, open_to
from apps.webhooks.models import Endpoint

DESCRIPTION_MAX = 500
URL_MAX = 2048
METADATA_BYTES_MAX = 16 * 1024
EVENTS_MAX = 100
UNKNOWN_TOLD_MAX = 10


class _Broken(Exception):
    """One rule broken; the sentence."""


def checked(access: Access, raw: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The checked values of those fields that were sent and aren't null. Raises Listed."""
    values, broken = {}, []
    for name in names:
        if raw.get(name) is None:
            continue
        try:
            values[name] = _CHECKS[name](access, raw[name])
        except (_Broken, Invalid) as refusal:
            broken.append(str(refusal))
    if broken:
        raise Listed(*broken)
    return values


def for_create(access: Access, raw: Mapping[str, Any], platform: str | None) -> dict[str, Any]:
    """All fields of a new endpoint; a platform integration without events gets the default set. Raises Listed."""
    sent = dict(raw)
    if not sent.get("url"):
        sent["url"] = ""
    if sent.get("subscribed_events") in (None, []):
        sent["subscribed_events"] = list(PLATFORM_DEFAULT) if platform else []
    defaults: dict[str, Any] = {"description": "", "metadata": {}, "platform_store_url": None}
    return {**defaults, **checked(access, sent, _CHECKS)}


def for_adoption(access: Access, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that a second registration sends again; no events at all means the default set. Raises Listed."""
    sent = dict(raw)
    if sent.get("subscribed_events") == []:
        sent["subscribed_events"] = list(PLATFORM_DEFAULT)
    return checked(access, sent, _CHECKS)


def for_update(access: Access, raw: Mapping[str, Any]) -> dict[str, Any]:
    """What may change later; the platform's own fields are passed over. Raises Listed."""
    return checked(access, raw, ("url", "description", "subscribed_events", "metadata"))


def platform_of(raw: Mapping[str, Any]) -> str | None:
    """The platform that a registration names, None for a plain endpoint. Raises Listed."""
    name = raw.get("platform")
    if name is None or name == "":
        return None
    if not isinstance(name, str) or name not in Endpoint.Platform.values:
        raise Listed("Platform is not included in the list")
    return name


def _url(access: Access, value: Any) -> str:
    if value == "":
        raise _Broken("Url can't be blank")
    text = _http_url(value, "Url")
    parts = split_url(text)
    if parts is None:
        raise _Broken("Url is not valid")
    host = parts.hostname or ""
    if access.is_live and parts.scheme != "https" and not net.is_excused(host):
        raise _Broken("Url must be https")
    try:
        net.check_url_host(host, parts.port or (443 if parts.scheme == "https" else 80))
    except (net.PrivateAddress, net.Unresolvable):
        raise _Broken("Url must resolve to a public address") from None
    return text


def _http_url(value: Any, label: str) -> str:
    if not isinstance(value, str):
        raise _Broken(f"{label} must be a string")
    if len(value) > URL_MAX:
        raise _Broken(f"{label} is too long (maximum is {URL_MAX} characters)")
    if not value.lower().startswith(("http://", "https://")):
        raise _Broken(f"{label} must be http or https")
    if split_url(value) is None:
        raise _Broken(f"{label} is not valid")
    return value


def _platform_store_url(access: Access, value: Any) -> str | None:
    return _http_url(value, "Platform store url") if value != "" else None


def _description(access: Access, value: Any) -> str:
    if not isinstance(value, str):
        raise _Broken("Description must be a string")
    check_storable(value, "Description")
    if len(value) > DESCRIPTION_MAX:
        raise _Broken(f"Description is too long (maximum is {DESCRIPTION_MAX} characters)")
    return value


def _subscribed_events(access: Access, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _Broken("Subscribed events must be a list of event names")
    if len(value) > EVENTS_MAX:
        raise _Broken(f"Subscribed events is too long (maximum is {EVENTS_MAX})")
    names = list(dict.fromkeys(value))
    if not names:
        raise _Broken("Subscribed events can't be blank")
    allowed = open_to(access.store.is_platform)
    unknown = [one[:100] for one in names if one not in allowed]
    if unknown:
        raise _Broken(f"Subscribed events contains unknown events: {', '.join(unknown[:UNKNOWN_TOLD_MAX])}")
    return names


def _metadata(access: Access, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Broken("Metadata must be an object")
    check_free(value, "Metadata")
    if len(json.dumps(value, ensure_ascii=False).encode()) > METADATA_BYTES_MAX:
        raise _Broken(f"Metadata is too large (maximum is {METADATA_BYTES_MAX} bytes)")
    return value


_CHECKS: dict[str, Callable[[Access, Any], Any]] = {
    "url": _url,
    "subscribed_events": _subscribed_events,
    "description": _description,
    "platform_store_url": _platform_store_url,
    "metadata": _metadata,
}
