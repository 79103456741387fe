"""Durations in words."""

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
_SHOWN_MAX = 2  # units


def duration_text(seconds: int) -> str:
    """`15 minutes, 3 seconds`: the two largest units, and no zeros."""
    parts: list[str] = []
    rest = int(seconds)
    for name, length in _UNITS:
        count, rest = divmod(rest, length)
        if count:
            parts.append(f"{count:,} {name}{'s' if count > 1 else ''}")
        if parts and (not count or len(parts) == _SHOWN_MAX):
            break
    return ", ".join(parts) or "0 seconds"
