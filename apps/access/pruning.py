"""Pruning in access: old days of the request log, codes and tokens of apps that ended long ago,
notifications after a year, documents of decided verifications.

Histories forget nothing: their next ranges are made beside the log's next days."""

from datetime import datetime, timedelta

from django.conf import settings

from apps.access.models import AccessToken, Grant, RefreshToken, RequestEntry
from apps.core.db import number_ranges, partitions
from apps.core.db.partitions import DaysOfTimes, Division
from apps.core.db.pruning import prune_in_turns
from apps.stores.notices import notifications
from apps.stores.verifying import documents as verification_documents

REQUEST_LOG = Division({RequestEntry: "created_at"}, DaysOfTimes(), ahead=7)


def prune_all(now: datetime) -> dict[str, int]:
    """Deletes old rows, and returns the number of each kind. An expired token is refused whether or
    not its row is there."""
    ended = now - timedelta(days=settings.OAUTH_KEPT_DAYS)
    logged = now - timedelta(days=settings.REQUEST_LOG_DAYS)
    partitions.make_ahead(REQUEST_LOG, now)
    dropped = partitions.drop_before(REQUEST_LOG, logged)
    without_day = RequestEntry.objects.filter(partitions.outside(REQUEST_LOG, "created_at"))
    counts = prune_in_turns(
        {
            "request_entries": without_day.filter(created_at__lt=logged),
            "oauth_codes": Grant.objects.filter(expires__lt=ended),
            "oauth_access_tokens": AccessToken.objects.filter(expires__lt=ended),
            "notifications": notifications.of_long_ago(now),
            "oauth_refresh_tokens": RefreshToken.objects.filter(expires_at__lt=ended),
        }
    )
    counts["request_entries"] += dropped[RequestEntry]
    number_ranges.make_ahead()
    partitions.analyze_tables()
    return {**counts, "verification_documents": verification_documents.forget(now)}
