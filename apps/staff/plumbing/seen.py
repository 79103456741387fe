"""Digest of a record as a form's page showed it, which comes back with the form: a record that has
changed meanwhile is looked at again before anything of it is changed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

SEEN = "seen"  # the hidden input
STALE = (
    "This has changed since you opened the page. Nothing was saved: check what it says now, and"
    " make your change again."
)


def digest_of(values: Mapping[str, Any]) -> str:
    """Of values by name, as they are now."""
    plain = {name: _plain(value) for name, value in values.items()}
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain(value: Any) -> Any:
    """None and what is empty are different values of a column."""
    return value if value is None or isinstance(value, (bool, int, str, dict, list)) else str(value)
