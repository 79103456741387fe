"""Lists of payouts: uploaded, reviewed by a person, released as a whole; then each line becomes a
payout of its own.

A line's payout has a key of its own, so that making it twice makes one; a line that is refused
keeps its reason and stops no other.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import gettext_noop

from apps.access import operations, waiting_period
from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.selectors import price_of
from apps.core import clock, jobs
from apps.core.errors import Failure
from apps.core.idempotency import once
from apps.core.machine import Step
from apps.core.messages.fields import Invalid
from apps.core.models import Viewer
from apps.core.money import Amount
from apps.core.rows import Job
from apps.core.text.wording import Worded
from apps.ledger.selectors import balances
from apps.payouts.models import PayoutApproval, PayoutBatch, PayoutBatchLine
from apps.payouts.requests import Bank, PayoutRequest, RawAddress, WalletTarget
from apps.payouts.services import approval_decisions, approval_rules
from apps.payouts.services.approvals import AmountsToApprove, Maker, in_words, judge, maker_of
from apps.payouts.services.batch_file import digest_of, read_lines, rows_of
from apps.payouts.services.create import make_payout
from apps.payouts.services.destinations import usable_addresses
from apps.payouts.states import BATCH, LINE
from apps.stores.auditing import audit
from apps.stores.models import Store, User
from apps.stores.staff.suspensions import Suspension, goes_on, refuse_payout
from apps.stores.verifying.uploads import charge

CALLER = "batch"
# What owners read of a list that was released.
_RELEASED = {
    # is one, some go to new addresses
    (True, False): gettext_noop("{name}: 1 payout"),
    (True, True): gettext_noop("{name}: 1 payout, to a new address"),
    (False, False): gettext_noop("{name}: {count} payouts"),
    (False, True): gettext_noop("{name}: {count} payouts, some to new addresses"),
}
JOB = Job("payouts.release_lines", limit=500)
STOPPED = "An owner stopped the list"
INSERT_SIZE = 1000
REVIEWS_MAX = 20
ROWS_PER_SECOND = 1000  # what reading so many takes of the processor, at most
NAME_MAX = 100
PROBLEM_MAX = 200
_Status = PayoutBatch.Status
_Line = PayoutBatchLine.Status
_MAY_GO = (
    Q(batch__approval=None) | Q(batch__approval__status=PayoutApproval.Status.APPROVED)
) & goes_on(Suspension.PAYOUTS, "batch__store")


class NotUnderReview(Failure):
    message = "This list has been released or discarded already"


class TooManyReviews(Failure):
    field = "file"
    message = f"There are {REVIEWS_MAX} lists under review already. Send or discard one first"


class NothingToPay(Failure):
    message = "None of the lines can be paid"


class BatchChanged(Failure):
    message = "That is not the list you reviewed; review it again"


class BalanceTooSmall(Failure):
    message = "The available balance doesn't cover this list"


class MustCompare(Failure):
    field = "compared"
    message = "Review the flagged lines, and confirm that you have"


@dataclass(frozen=True)
class AssetTotal:
    """A list's total of one asset over its valid lines, beside the store's balance."""

    asset: Asset
    count: int
    amount_atomic: int
    available_atomic: int
    worth_cents: int | None

    @property
    def missing_atomic(self) -> int:
        return max(0, self.amount_atomic - self.available_atomic)


def open_batch(
    viewer: Viewer, store: Store, person: User, *, filename: str, raw: bytes, form_key: str
) -> PayoutBatch:
    """Read a file and keep it for review. The same form makes one list. Raises Unreadable,
    TooManyReviews or TooManyUploads."""
    rows = PayoutBatch.objects.visible_to(viewer).filter(form_key=form_key)
    earlier: PayoutBatch | None = rows.first()
    if earlier is not None:
        return earlier
    _check_room(viewer)
    row_count = rows_of(raw)
    charge(store, 1 + row_count // ROWS_PER_SECOND, "file", rows=row_count)
    lines = read_lines(viewer, store, raw)

    def create() -> PayoutBatch:
        # Two files at once are counted one after the other.
        Store.objects.select_for_update(no_key=True).get(pk=store.pk)
        _check_room(viewer)
        batch: PayoutBatch = PayoutBatch.objects.create(
            store=store,
            mode=viewer.mode,
            created_at=clock.now(store, viewer.mode),
            filename=filename[:NAME_MAX],
            digest=digest_of(lines),
            uploaded_by=person,
            form_key=form_key,
        )
        for line in lines:
            line.batch = batch
        PayoutBatchLine.objects.bulk_create(lines, batch_size=INSERT_SIZE)
        return batch

    batch: PayoutBatch = once(rows, create)[0]
    return batch


def _check_room(viewer: Viewer) -> None:
    """Raises TooManyReviews."""
    reviews = PayoutBatch.objects.visible_to(viewer).filter(status=_Status.REVIEW)
    if len(reviews.values_list("pk", flat=True)[:REVIEWS_MAX]) == REVIEWS_MAX:
        raise TooManyReviews


def totals_of(batch: PayoutBatch) -> list[AssetTotal]:
    """Per asset, what is sent or was, and what is available for it now."""
    payable = batch.lines.exclude(status=_Line.INVALID)
    sums = payable.values("asset").annotate(count=Count("pk"), sum=Sum("amount_atomic"))
    by_asset = {row["asset"]: row for row in sums.order_by("asset")}
    assets = Asset.objects.filter(pk__in=by_asset).select_related("chain").order_by("pk")
    balances_of = balances(batch.store_id, batch.mode)
    currency = batch.store.settlement_currency
    result = []
    for asset in assets:
        amount = int(by_asset[asset.pk]["sum"])
        price = price_of(asset, currency, clock.real_now())
        worth = None if price is None else price.worth(Amount(asset, amount)).cents
        available = balances_of[asset.pk].available_atomic if asset.pk in balances_of else 0
        result.append(AssetTotal(asset, by_asset[asset.pk]["count"], amount, available, worth))
    return result


def earlier_twin(batch: PayoutBatch) -> PayoutBatch | None:
    """A list that was released before and sends just the same."""
    twins = PayoutBatch.objects.visible_to(batch).filter(digest=batch.digest)
    earlier: PayoutBatch | None = (
        twins.filter(status=_Status.RELEASED).exclude(pk=batch.pk).order_by("-released_at").first()
    )
    return earlier


def counts_of(batch: PayoutBatch) -> dict[str, int]:
    """Number of lines by status."""
    counts = batch.lines.order_by().values_list("status").annotate(count=Count("pk"))
    return {**dict.fromkeys(_Line.values, 0), **dict(counts)}


def flagged_lines(batch: PayoutBatch) -> QuerySet[PayoutBatchLine]:
    """Payable lines that a person should compare: look-alike addresses, and what is listed
    twice."""
    payable = batch.lines.exclude(status=_Line.INVALID)
    return payable.filter(~Q(lookalike="") | Q(twin_number__isnull=False))


def check_release(access: Access, batch: PayoutBatch, digest: str, *, is_compared: bool) -> None:
    """Refuses a list that can't be released. Raises a Failure, or what operations.check does."""
    operations.foresee(access, operations.BATCH_RELEASE)
    refuse_payout(batch.store)
    if batch.status != _Status.REVIEW:
        raise NotUnderReview
    if batch.digest != digest:
        raise BatchChanged
    totals = totals_of(batch)
    if not totals:
        raise NothingToPay
    if any(total.missing_atomic for total in totals):
        raise BalanceTooSmall
    if not is_compared and (flagged_lines(batch).exists() or earlier_twin(batch) is not None):
        raise MustCompare


def release_batch(
    access: Access, batch: PayoutBatch, person: User, digest: str, *, is_compared: bool = False
) -> None:
    """Let every valid line of the list become a payout. Raises what check_release does."""
    operations.check(access, operations.BATCH_RELEASE)
    check_release(access, batch, digest, is_compared=is_compared)
    at = clock.now(batch.store, batch.mode)
    until = (
        waiting_period.usable_from(access, operations.BATCH_RELEASE, batch.mode)
        if names_new(batch)
        else None
    )
    with transaction.atomic():
        approval = _approval_of(access, batch, at)
        released = {
            "released_at": at,
            "released_by": person,
            "usable_from": until,
            "approval": approval,
        }
        if not BATCH.change_status(batch, Step(_Status.RELEASED), at=at, **released):
            raise NotUnderReview
        count = LINE.change_all(batch.lines.all(), _Line.VALID, Step(_Line.QUEUED))
        name = f"{batch.filename}: {count} payout{'' if count == 1 else 's'}"
        audit.record(
            "payout_batch.released",
            store=batch.store,
            mode=batch.mode,
            target=batch,
            name=name,
            details={"usable_from": until},
        )
        summary = Worded(
            _RELEASED[count == 1, until is not None],
            name=batch.filename,
            count=count,
        )
        waiting_period.tell(access, operations.BATCH_RELEASE, batch.pk, summary, until)
        jobs.enqueue(JOB.name)


def _approval_of(access: Access, batch: PayoutBatch, at: datetime) -> PayoutApproval | None:
    """The approval that the list waits for as a whole; None when it needs none."""
    present = approval_rules.rule_of(batch)
    above = approval_rules.above_of(present, at)
    totals = [Amount(total.asset, total.amount_atomic) for total in totals_of(batch)]
    count = batch.lines.filter(status=_Line.VALID).count()
    wish = AmountsToApprove(
        totals,
        Worded(
            "{name}: {count} payouts, {amounts}",
            name=batch.filename,
            count=count,
            amounts=in_words(totals),
        ),
    )
    return judge(batch, above, maker_of(access), wish, at)[1]


def names_new(batch: PayoutBatch) -> bool:
    """True if a valid line goes where nothing was ever sent, and no saved wallet that can be used
    leads."""
    valid = batch.lines.filter(status=_Line.VALID)
    if valid.filter(destination__usable_from__gt=clock.real_now()).exists():
        return True
    addresses = set(valid.filter(destination=None).values_list("address", flat=True))
    return not addresses <= usable_addresses(batch, addresses)


def stop_batch(id: uuid.UUID, until: datetime) -> bool:
    """By an owner's link: no line of a list in its waiting period is sent. False when it doesn't
    any more."""
    with transaction.atomic():
        batch = PayoutBatch.objects.select_for_update().filter(pk=id, usable_from=until).first()
        if batch is None or until <= clock.real_now():
            return False
        LINE.change_all(batch.lines.all(), _Line.QUEUED, Step(_Line.FAILED), problem=STOPPED)
        PayoutBatch.objects.filter(pk=batch.pk).update(usable_from=None)
        if batch.approval is not None:
            approval_decisions.withdraw(batch.approval, STOPPED)
        audit.record(
            "payout_batch.stopped",
            store=batch.store_id,
            mode=batch.mode,
            target=batch,
            name=batch.filename,
            details={"usable_from": None},
        )
    return True


def discard_batch(batch: PayoutBatch, *, by: Access | None = None) -> None:
    """Nothing of it is sent, nor of one in its waiting period. Raises NotUnderReview."""
    operations.check(by, operations.BATCH_DISCARD)
    if batch.usable_from is not None and stop_batch(batch.pk, batch.usable_from):
        return
    at = clock.now(batch.store, batch.mode)
    if batch.status != _Status.REVIEW or not BATCH.change_status(
        batch, Step(_Status.DISCARDED), at=at
    ):
        raise NotUnderReview


# --- after the release ---


def release_lines() -> int:
    """Make the payouts of released lines, small numbers of every list first; how many were looked
    at."""
    queued = PayoutBatchLine.objects.filter(_MAY_GO, status=_Line.QUEUED).exclude(
        batch__usable_from__gt=clock.real_now()
    )
    queued = queued.order_by("number", "pk")
    count = JOB.walk(queued.values_list("pk", flat=True), release_line)
    if count == JOB.limit:
        jobs.nudge(JOB.name)
    return count


def release_line(line_id: int) -> None:
    """Releases a line, inside the caller's transaction: its payout, or the reason why there is
    none."""
    locked = PayoutBatchLine.objects.select_for_update(of=("self",), skip_locked=True)
    due = locked.select_related(
        "batch__store", "batch__approval", "batch__released_by", "destination"
    )
    line = (
        due.defer("destination__account_sealed")
        .filter(_MAY_GO, pk=line_id, status=_Line.QUEUED)
        .first()
    )
    if line is None:
        return
    at = clock.now(line.batch.store, line.batch.mode)
    try:
        with transaction.atomic():
            key = f"{line.batch_id}-{line.number}"
            payout, _ = make_payout(
                line.batch, _request(line), key, maker=_maker(line.batch), caller=CALLER
            )
    except (Failure, Invalid) as refusal:
        text = refusal.text
        LINE.change_locked(
            line, Step(_Line.FAILED), at=at, problem=(text[:1].upper() + text[1:])[:PROBLEM_MAX]
        )
    else:
        LINE.change_locked(line, Step(_Line.CREATED), at=at, payout=payout)


def _maker(batch: PayoutBatch) -> Maker:
    """Maker of a batch: its releaser; the list's own approval is that of its lines."""
    person = batch.released_by
    return Maker(
        batch.released_by_id,
        (person.name or person.email) if person is not None else "",
        batch.approval,
    )


def _request(line: PayoutBatchLine) -> PayoutRequest:
    """The line as the service for one payout takes it; what is valid has an asset and an amount."""
    target: WalletTarget | Bank | RawAddress = RawAddress(line.address)
    if line.destination is not None:
        target = (WalletTarget if line.destination.is_wallet else Bank)(str(line.destination_id))
    return PayoutRequest(str(line.asset_id), int(line.amount_atomic or 0), target)
