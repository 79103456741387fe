"""Mass payouts: a CSV file is uploaded, reviewed as a whole and sent with one code; then each line
can be followed.

What was agreed to is sent or nothing: the digest of the list comes back with the form, and the code
is for just that.
"""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from apps.access.factors import stepup
from apps.assets.selectors import active_assets
from apps.chain.networks.families import addresses_of, shown_address
from apps.core import clock, money
from apps.core.documents import spreadsheet
from apps.core.messages.fields import Invalid
from apps.core.web.forms import Form
from apps.dashboard.site import confirming, form_keys
from apps.dashboard.site.confirming import ConfirmationForm
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, sentences, show
from apps.dashboard.tables import cells as list_cells
from apps.dashboard.tables.exports import csv_file
from apps.dashboard.tables.files import BATCHES
from apps.dashboard.tables.paging import window
from apps.payouts.models import PayoutBatch, PayoutBatchLine
from apps.payouts.services import batches
from apps.payouts.services.batch_file import BYTES_MAX, COLUMNS, LABEL_COLUMN, LINES_MAX
from apps.payouts.services.destinations import title

_Line = PayoutBatchLine.Status
_FILTERS = {
    "": gettext_noop("All"),
    "invalid": gettext_noop("Can’t be paid"),
    "flagged": gettext_noop("To compare"),
    "failed": gettext_noop("Failed"),
}


class UploadForm(Form):
    """The file itself comes beside what was typed."""

    names = ("file",)
    hidden = (form_keys.NAME,)


def index(request: PageRequest) -> HttpResponse:
    page = window(_newest(request), request.GET, {})
    return show(
        request, "dashboard/payout_batches/list.html", {"batches": page.rows, "window": page}
    )


def _newest(request: PageRequest) -> "QuerySet[PayoutBatch]":
    rows: QuerySet[PayoutBatch] = PayoutBatch.objects.visible_to(request.access)
    return rows.select_related("uploaded_by", "released_by").order_by("-created_at", "-id")


def export_all(request: PageRequest) -> Answer:
    """The lists themselves as CSV, newest first."""
    return BATCHES.of(request, _newest(request))


def template(request: HttpRequest) -> StreamingHttpResponse:
    """A file to begin with."""
    access = request.access  # type: ignore[attr-defined]  # the page's view put it there
    assets = active_assets(access.mode)
    rows = [
        (asset.pk, "1.5", addresses_of(asset.chain).example, "Your reference")
        for asset in assets[:1]
    ]
    answer = StreamingHttpResponse(
        spreadsheet.lines((*COLUMNS, LABEL_COLUMN), rows), content_type="text/csv; charset=utf-8"
    )
    answer["Content-Disposition"] = 'attachment; filename="payouts.csv"'
    return answer


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, UploadForm(form_keys.new()))
    form = UploadForm.from_post(request.POST)
    try:
        key = form_keys.of(form.values)
        file = request.FILES.get("file")
        if file is None:
            raise Invalid("file", "choose_file")
        raw = file.read(BYTES_MAX + 1)
        batch = batches.open_batch(
            request.access,
            request.access.store,
            request.person,
            filename=str(file.name),
            raw=raw,
            form_key=key,
        )
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    return go("payout_batch", batch.pk)


def _form(request: PageRequest, form: UploadForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "assets": active_assets(request.access.mode),
        "lines_max": LINES_MAX,
        "needs_second_factor": not form.errors and stepup.lacks_second_factor(request.person),
    }
    return show(request, "dashboard/payout_batches/create.html", context, status=form.status)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    batch: PayoutBatch = find(_seen(request), id)
    if request.method == "GET":
        return _page(request, batch)
    try:
        agreed = request.POST.get("agreed", "")
        is_compared = bool(request.POST.get("compared"))
        batches.check_release(request.access, batch, agreed, is_compared=is_compared)
        code = confirming.ask(request, _act(request, batch))
        if code is not None:
            return _page(request, batch, code)
        batches.release_batch(
            request.access, batch, request.person, agreed, is_compared=is_compared
        )
    except Refusals as refusal:
        return _page(request, batch, ConfirmationForm.from_post(request.POST).refuse(refusal))
    stepup.spend(request.session)
    batch.refresh_from_db()
    waits = gettext(
        "Some addresses are new, so payouts start later. We emailed owners a link to stop them."
    )
    if batch.approval is not None:
        waits = gettext(
            "It’s above your store’s limit, so it needs a second approval. Owners and"
            " admins have an email about it."
        )
    messages.success(
        request,
        (
            waits
            if batch.approval is not None or batch.usable_from
            else gettext("Creating payouts. This page shows their progress.")
        ),
    )
    return go("payout_batch", batch.pk)


def discard(request: PageRequest, id: str) -> HttpResponse:
    batch: PayoutBatch = find(_seen(request), id)
    try:
        batches.discard_batch(batch, by=request.access)
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
        return go("payout_batch", batch.pk)
    messages.success(request, gettext("List discarded. Nothing was sent."))
    return go("payout_batches")


def export(request: PageRequest, id: str) -> Answer:
    """Every line with what became of it."""
    batch: PayoutBatch = find(_seen(request), id)
    columns = (
        "line",
        *COLUMNS,
        LABEL_COLUMN,
        "status",
        "problem",
        "payout_id",
        "payout_status",
        "tx_hash",
    )
    back = reverse("dashboard:payout_batch", args=[id])
    return csv_file(request, "mass-payout", columns, _lines(batch), _cells, back=back)


def _cells(line: PayoutBatchLine) -> tuple[object, ...]:
    payout = line.payout
    amount = ""
    if line.asset is not None and line.amount_atomic is not None:
        amount = money.decimal_from_atomic(line.amount_atomic, line.asset.atomic_decimals)
    to = title(line.destination) if line.destination is not None else line.address or line.written
    transfer = (payout.pk, payout.status, payout.tx_hash) if payout is not None else ("", "", "")
    return (
        line.number,
        line.asset_id,
        amount,
        to,
        line.label,
        line.status,
        line.problem,
        *transfer,
    )


def _seen(request: PageRequest) -> Any:
    return PayoutBatch.objects.visible_to(request.access).select_related(
        "store", "uploaded_by", "released_by", "approval"
    )


def _lines(batch: PayoutBatch) -> Any:
    return (
        batch.lines.select_related("asset__chain", "destination", "payout")
        .defer("destination__account_sealed")
        .order_by("number")
    )


def _act(request: PageRequest, batch: PayoutBatch) -> str:
    return confirming.page_act(request, batch.digest)


def _page(
    request: PageRequest, batch: PayoutBatch, code: ConfirmationForm | None = None
) -> HttpResponse:
    choice = request.GET.get("lines", "")
    choice = choice if choice in _FILTERS else ""
    rows = _lines(batch)
    if choice == "flagged":
        rows = rows.filter(pk__in=batches.flagged_lines(batch).values("pk"))
    elif choice:
        rows = rows.filter(status=choice)
    page = window(rows, request.GET, {"lines": choice})
    for line in page.rows:
        line.to = shown_address(line.address) if line.address else ""
        line.available = (
            list_cells.usable_from(line.destination, request.access.now())
            if line.destination is not None and line.status in (_Line.VALID, _Line.QUEUED)
            else ""
        )
    counts = batches.counts_of(batch)
    may_release = batch.status == PayoutBatch.Status.REVIEW and counts[_Line.VALID] > 0
    totals = batches.totals_of(batch)
    context = {
        "batch": batch,
        "totals": totals,
        "counts": counts,
        "line_count": sum(counts.values()),
        "flagged_count": batches.flagged_lines(batch).count(),
        "earlier": batches.earlier_twin(batch) if may_release else None,
        "is_short": may_release and any(value.missing_atomic for value in totals),
        "may_release": may_release,
        "usable_from": (
            batch.usable_from
            if batch.usable_from is not None and batch.usable_from > clock.real_now()
            else None
        ),
        "is_running": counts[_Line.QUEUED] > 0,
        "window": page,
        "lines": page.rows,
        "filters": [
            {
                "name": gettext(name),
                "query": f"?lines={value}" if value else "?",
                "is_current": value == choice,
            }
            for value, name in _FILTERS.items()
        ],
    }
    template = "dashboard/payout_batches/detail.html"
    if may_release:
        return confirming.show_asking(request, template, context, _act(request, batch), code)
    refused = code or ConfirmationForm({})
    return show(
        request, template, {**context, "errors": refused.common_errors}, status=refused.status
    )
