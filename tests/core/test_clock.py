"""Moments as they are told."""

from datetime import UTC, datetime, timedelta, timezone

from apps.core.clock import iso


def test_a_moment_is_told_in_utc_with_its_microseconds() -> None:
    noon = datetime(2026, 12, 1, 12, tzinfo=UTC)
    assert iso(noon) == "2026-12-01T12:00:00.000000Z"
    assert iso(noon.replace(microsecond=30)) == "2026-12-01T12:00:00.000030Z"
    ahead = noon.astimezone(timezone(timedelta(hours=5, minutes=45)))
    assert iso(ahead) == "2026-12-01T12:00:00.000000Z"
    assert iso(None) is None
