"""What access forgets: old days of the request log, and codes and tokens of apps that ended long
ago, notifications of a year ago, documents of businesses that were decided about."""

from datetime import datetime, timedelta

from django.conf import settings

from apps.access.models import AccessToken, Grant, RefreshToken, RequestEntry
from apps.core.db import day_partitions
from apps.core.db.pruning import prune_in_turns
from apps.stores import notifications, verification_documents


def prune_all(now: datetime) -> dict[str, int]:
    """How many rows of each kind went. An expired token is refused whether or not its row is
    there."""
    ended = now - timedelta(days=settings.OAUTH_KEPT_DAYS)
    logged = now - timedelta(days=settings.REQUEST_LOG_DAYS)
    day_partitions.make_ahead(RequestEntry, now)
    dropped = day_partitions.drop_before(RequestEntry, logged)
    counts = prune_in_turns(
        {
            "request_entries": day_partitions.without_day(RequestEntry, logged),
            "oauth_codes": Grant.objects.filter(expires__lt=ended),
            "oauth_access_tokens": AccessToken.objects.filter(expires__lt=ended),
            "notifications": notifications.of_long_ago(now),
            "oauth_refresh_tokens": RefreshToken.objects.filter(expires_at__lt=ended),
        }
    )
    counts["request_entries"] += dropped
    return {**counts, "verification_documents": verification_documents.forget(now)}
