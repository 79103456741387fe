"""The language that a browser asks for, among those that there are for its reader."""

from collections.abc import Collection

from django.http import HttpRequest
from django.utils.translation import get_supported_language_variant
from django.utils.translation.trans_real import parse_accept_lang_header

_ACCEPTED_MAX = 500


def asked_by_browser(request: HttpRequest, codes: Collection[str]) -> str:
    """The first language of the browser's list that is one of `codes`: `pt-PT` is served `pt`,
    `zh-TW` is served `zh-hans`. Empty without any."""
    accepted = request.headers.get("Accept-Language", "")[:_ACCEPTED_MAX]
    for asked, _ in parse_accept_lang_header(accepted):
        try:
            code = get_supported_language_variant(asked)
        except LookupError:
            continue
        if code in codes:
            return code
    return ""
