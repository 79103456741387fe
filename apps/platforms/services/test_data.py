"""An owner puts the records of test mode away, with those of the store's sub-merchants. Live mode
stays as it is, and so does every record: an archive has them from then on (decision 740).

First test mode closes, and anyone who is in it gets time to end. The database moves the records in
one transaction, once more for what jobs wrote meanwhile, and test mode opens again, in real time.
"""

import json
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q

from apps.access import operations
from apps.access.access import Access
from apps.core import clock, jobs
from apps.core.db import locks
from apps.core.errors import Failure, RefusalKind
from apps.core.ids import new_id
from apps.core.models import Mode
from apps.core.rows import Job
from apps.payments.models import Payment
from apps.stores.auditing import audit
from apps.stores.models import Store
from apps.stores.test_data import DataBeingReset
from apps.webhooks.models import Event

JOB = Job("test_data.put_away", in_transaction=False)
TASK = "platforms.put_test_data_away"
# What is moved in one transaction.
PAYMENTS_MAX = 20_000
EVENTS_MAX = 100_000
ACCOUNTS_MAX = 500
_PUT_AWAY = "SELECT stores_put_away(%s, %s)"


class OnlyTestMode(Failure):
    kind = RefusalKind.FORBIDDEN
    message = "Only test data can be reset"


class ByItsPlatform(Failure):
    kind = RefusalKind.FORBIDDEN
    message = "The platform of this store resets its test data"


class TooMuchTestData(Failure):
    kind = RefusalKind.CONFLICT
    message = "This store has more test data than one reset can take. Write to support"


def ask_reset(access: Access) -> None:
    """Close test mode of the store and its sub-merchants, and have a job put their records away.

    Raises OnlyTestMode, ByItsPlatform, DataBeingReset, TooMuchTestData, or what operations.check
    does.
    """
    operations.check(access, operations.TEST_DATA_RESET)
    if access.mode != Mode.TEST:
        raise OnlyTestMode
    with transaction.atomic():
        store = Store.objects.select_for_update().get(pk=access.store_id)
        if store.platform_id is not None:
            raise ByItsPlatform
        if store.test_reset_at is not None or store.archive_of_id is not None:
            raise DataBeingReset
        _refuse_too_much(store)
        _with_accounts(store).update(test_reset_at=clock.real_now(), test_reset_moved_at=None)
        audit.record("test_data.reset_asked", store=store, mode=Mode.TEST, target=store)
        jobs.enqueue(TASK)


def _with_accounts(store: Store) -> Any:
    return Store.objects.filter(Q(pk=store.pk) | Q(platform=store), archive_of=None)


def _refuse_too_much(store: Store) -> None:
    of_store = {"mode": Mode.TEST, "store": store}
    is_much = (
        Payment.objects.filter(**of_store)[PAYMENTS_MAX:].exists()
        or Event.objects.filter(**of_store)[EVENTS_MAX:].exists()
        or Store.objects.filter(platform=store)[ACCOUNTS_MAX:].exists()
    )
    if is_much:
        raise TooMuchTestData


def put_away() -> int:
    """Take each reset that was asked for a step further; how many were looked at."""
    rows = Store.objects.exclude(test_reset_at=None).filter(platform=None, archive_of=None)
    return JOB.walk(rows.order_by("pk").values_list("pk", flat=True), advance)


def advance(store_id: uuid.UUID) -> None:
    """Move the records once the time to end is over, again after the same time, and open test mode.
    A clock that is being moved ends first."""
    with locks.try_hold(locks.LockKind.TEST_CLOCK, store_id) as is_mine:
        if is_mine:
            _step(store_id, clock.real_now())


@transaction.atomic
def _step(store_id: uuid.UUID, now: datetime) -> None:
    store = Store.objects.select_for_update().get(pk=store_id)
    begun = store.test_reset_moved_at or store.test_reset_at
    if begun is None or begun + timedelta(seconds=settings.TEST_RESET_SECONDS) > now:
        return
    is_first = store.test_reset_moved_at is None
    counts = _moved(store)
    details = {"rows": sum(counts.values()), "payments": counts.get("payments_payment", 0)}
    if is_first:
        Store.objects.filter(pk=store.pk).update(test_reset_moved_at=now)
        audit.record("test_data.reset", store=store, mode=Mode.TEST, target=store, details=details)
        return
    _with_accounts(store).update(test_reset_at=None, test_reset_moved_at=None)
    audit.record("test_data.opened", store=store, mode=Mode.TEST, target=store, details=details)


def _moved(store: Store) -> Mapping[str, int]:
    """How many rows of each table went to the archives."""
    ids = [new_id() for _ in range(_with_accounts(store).count())]
    with connection.cursor() as cursor:
        cursor.execute(_PUT_AWAY, [store.pk, ids])
        counts: dict[str, int] = json.loads(cursor.fetchone()[0])
    return counts
