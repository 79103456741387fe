"""`prune`: what periodic jobs delete, deleted now."""

from typing import Any

from apps.access import pruning as access
from apps.access.person import sessions
from apps.core import clock, mail
from apps.payments import pruning as payments
from apps.stores.command import OperatorCommand, Result
from apps.stores.emailing import customer_mail
from apps.webhooks import pruning as webhooks


class PruneResult(Result, frozen=True, kw_only=True):
    """How many rows of each kind were deleted."""

    deleted: dict[str, int]


class Command(OperatorCommand[PruneResult]):
    help = (
        "Delete what was kept long enough: the request log, ended deliveries and events, ended"
        " tokens and sessions, checks of addresses, old emails"
    )

    def run(self, **options: Any) -> PruneResult:
        now = clock.real_now()
        sessions.tidy(now)
        return PruneResult(
            deleted={
                **access.prune_all(now),
                **webhooks.prune_all(now),
                **payments.prune_all(now),
                **mail.forget(now),
                **customer_mail.forget(now),
            }
        )
