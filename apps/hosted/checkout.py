"""The hosted checkout: one view renders the page and the part of it that is swapped while the
customer waits.

It shows what the public checkout document holds and nothing more; a card payment that went through
is not a paid intent.
"""

import dataclasses
import re
from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe
from msgspec.structs import replace

from apps.access.access import Access
from apps.core import clock
from apps.core.errors import Failure
from apps.core.local_chain import LOCAL_CHAIN_IDS
from apps.core.messages.fields import Invalid
from apps.core.web import variables
from apps.core.web.forms import sentences
from apps.hosted import cards, languages, plumbing, signatures, stages
from apps.hosted.answers import answer_shown
from apps.hosted.brand import brand_of, sheet
from apps.hosted.plumbing import Context, Framing, missing_in_frame, public_page
from apps.hosted.quotes import NextStep, next_step
from apps.hosted.refund_parts import RefundPart, part_of
from apps.hosted.viewing import is_looked_at
from apps.links.sale_documents import vat_of
from apps.links.services.sales import SALE, TIP
from apps.links.till_selectors import is_sale
from apps.payments import states
from apps.payments.documents.checkout import (
    CheckoutAddress,
    CheckoutFacts,
    CheckoutTransaction,
    checkout_facts,
)
from apps.payments.documents.news import beat_of
from apps.payments.documents.order import order_of
from apps.payments.documents.progress import progress_of
from apps.payments.documents.receipt import coins_paid, refunded_of
from apps.payments.documents.sightings import seen_for
from apps.payments.documents.ways import WayToPay, grouped, ways_of
from apps.payments.lost_coins import lost_coins_of
from apps.payments.models import Payment
from apps.payments.requests import SCENARIOS, SimulationRequest
from apps.payments.selectors import Received, received_by, simulated_waiting
from apps.payments.services.simulate import simulate_deposit
from apps.payments.services.views import note_viewed

# What the QR code may hold: the address alone, or an EIP-681 link with chain, coin and amount.
ADDRESS = "address"
LINK = "link"
CODE_COOKIE = "checkout_code"
CODE_KEPT_SECONDS = 365 * 24 * 3600
# The forms of the page are sent to paths below its own.
_FORMS = re.compile(
    r"/(simulate|card|quote|sent|receipt|refund-link|refund-address|refund/[\w-]+)$"
)
# A stage has a template of its own, hosted/stages/<stage>.html.
PAY = "pay"
UNDERPAID = "underpaid"
CONFIRMING = "confirming"
COMPLETED = "completed"
EXPIRED = "expired"
FAILED = "failed"
REFUNDED = "refunded"
_GIVEN_BACK = (FAILED, REFUNDED)


@require_safe
@missing_in_frame
@public_page("checkout")
def checkout(request: HttpRequest, reference: str) -> HttpResponse:
    payment = plumbing.payment_of(reference)
    if is_looked_at(request):
        note_viewed(payment, clock.now(payment.store, payment.mode))
    return page(request, payment)


@require_safe
@public_page("checkout")
def pulse(request: HttpRequest, reference: str) -> HttpResponse:
    """A text that changes when coins are seen or come, or the payment's status changes: the page
    looks again when it does. Asked for what has changed `since`, the answer waits for that."""
    payment = plumbing.payment_of(reference)
    beat = beat_of(payment)
    if request.GET.get("since") == beat:
        request.META[variables.HOLD] = variables.Hold(str(payment.pk), beat)
    return HttpResponse(beat, content_type="text/plain")


@require_POST
@public_page("checkout")
def simulate(request: HttpRequest, reference: str) -> HttpResponse:
    """A button of the test panel: anybody with the link may press it, in test mode only."""
    problem = simulated(request, plumbing.payment_of(reference))
    if problem:
        return page(request, plumbing.payment_of(reference), problem=problem, status=422)
    return back_from_simulating(request)


def simulated(request: HttpRequest, payment: Payment) -> str:
    """Make the deposit that the form asks for; the problem in words, or nothing."""
    scenario = request.POST.get("scenario", "exact")
    if payment.is_live or scenario not in SCENARIOS:
        raise Http404
    choices = {name: request.POST.get(name) or None for name in ("asset_id", "reference")}
    try:
        order = SimulationRequest.read(
            {
                **choices,
                "scenario": scenario,
                "confirmations": 1 if scenario == "unconfirmed" else 0,
            }
        )
        simulate_deposit(Access.for_public(payment.store, payment.mode), payment, order)
    except (Failure, Invalid) as refusal:
        return " ".join(sentences(refusal))
    return ""


def back_from_simulating(request: HttpRequest) -> HttpResponse:
    """To the page with the form, as it was."""
    return HttpResponseRedirect(
        f"{request.path.removesuffix('/simulate')}?{_kept(request.POST.get('query', ''))}",
        status=303,
    )


@require_POST
@public_page("checkout")
def pay_by_card(request: HttpRequest, reference: str) -> HttpResponse:
    """The card form: opens a card payment and leads to the page that sends the customer on."""
    payment = plumbing.payment_of(reference)
    problem = cards.start(request, payment)
    if problem:
        return page(request, plumbing.payment_of(reference), card_problem=problem, status=422)
    return HttpResponseRedirect(f"{request.path}/leave", status=303)


def _kept(text: str) -> str:
    """Of a query that came back with a form, the choices this page knows."""
    query = QueryDict(text[:200])
    remembered = QueryDict(mutable=True)
    for name in ("asset", "code", "more", "pay", "country", "region", languages.PARAMETER):
        if name in query:
            remembered[name] = query[name]
    return remembered.urlencode()


@require_safe
@public_page("checkout")
def wallets(request: HttpRequest, reference: str) -> HttpResponse:
    """The dialog with the wallets of a browser: asked for when somebody wants to pay with one, and
    empty until its script fills it."""
    plumbing.payment_of(reference)
    return render(request, "hosted/_wallets.html")


@require_safe
@public_page("checkout")
def brand_style(request: HttpRequest, reference: str) -> HttpResponse:
    return sheet(plumbing.payment_of(reference).store)


@require_safe
def embed_script(request: HttpRequest) -> HttpResponse:
    """The script that puts the checkout into a merchant's page."""
    return HttpResponse(
        _script(),
        content_type="text/javascript; charset=utf-8",
        headers={"Cache-Control": "public, max-age=3600"},
    )


@cache
def _script() -> bytes:
    return (settings.BASE_DIR / "static" / "js" / "embed.js").read_bytes()


def _of_order(payment: Payment) -> Context:
    """Of a sale at the till with its VAT, and what isn't an item by its name in the customer's
    language."""
    order = order_of(payment)
    if is_sale(payment):
        names = {SALE: gettext("Sale"), TIP: gettext("Tip")}
        items = [
            replace(item, description=names.get(item.description, item.description))
            for item in order.items
        ]
        order = dataclasses.replace(order, items=items)
    return {"order": order, "vat": vat_of(payment)}


def page(
    request: HttpRequest,
    payment: Payment,
    *,
    problem: str = "",
    card_problem: str = "",
    quote_problem: str = "",
    receipt_problem: str = "",
    receipt_email: str = "",
    refund: RefundPart | None = None,
    status: int = 200,
) -> HttpResponse:
    """Each problem is at the form that was sent."""
    path = _FORMS.sub("", request.path)
    framing = Framing.asked_by(request, payment.store)
    card = cards.card_of(request, payment, problem=card_problem)
    context = checkout_context(request, payment, card, path) | {
        "framing": framing,
        "problem": problem,
        "quote_problem": quote_problem,
        "receipt_problem": receipt_problem,
        "receipt_email": receipt_email,
    }
    if refund is not None:
        context["refund"] = refund
    template = "hosted/_checkout.html" if is_part(request) else "hosted/checkout.html"
    response = render(request, template, context, status=status)
    remember_code(request, response)
    if not payment.is_live or card.is_choosing:
        # Without any referrer the browser would hide the origin of a form of the page, which then
        # looks forged.
        response["Referrer-Policy"] = "same-origin"
    return framing.apply(response)


def is_part(request: HttpRequest) -> bool:
    """True if the page looks again at the part of itself that changes."""
    return bool(request.headers.get("HX-Request")) and not request.headers.get(
        "HX-History-Restore-Request"
    )


def checkout_context(
    request: HttpRequest, payment: Payment, card: cards.Card, path: str, *, card_path: str = ""
) -> Context:
    """Variables of a checkout's parts. Their links lead to `path`, that to card payments to
    `card_path` if it is another page."""
    received = received_by(payment)
    document = checkout_facts(payment, clock.now(payment.store, payment.mode), received)
    query = request.GET
    stage, is_late = stage_of(document), stages.is_late(document)
    offered = ways_of(document, received)
    way = _chosen(offered, query.get("asset"))
    chosen = way.address if way is not None else None
    set_aside, seen = _set_aside(document, path, query), _seen(payment, document, received)
    ways = {name: plumbing.query_with(query, pay=name) for name in ("crypto", "card")}
    return (
        brand_of(payment.store)
        | (set_aside | seen | _signature(payment, received, stage, way))
        | _code(request, chosen)
        | _named(payment, document, query)
        | _of_order(payment)
        | {
            "checkout": document,
            "framed_query": plumbing.framed_query(request),
            "next_step": NextStep() if is_late else next_step(payment),
            "bill": progress_of(payment, received),
            "has_receipt": payment.completed_at is not None,
            "receipt_sent": query.get("receipt") == "sent",
            "coins_paid": coins_paid(payment, received) if stage in (COMPLETED, REFUNDED) else [],
            "refunded": refunded_of(payment, received) if stage == REFUNDED else None,
            "refund": part_of(payment, query=query) if is_late or stage in _GIVEN_BACK else None,
            "is_late": is_late,
            "is_ending": stages.is_ending(payment, document),
            "ending_seconds": stages.ending_seconds(payment),
            "lifetime_seconds": stages.lifetime_seconds(payment),
            "card": card,
            "stage": stage,
            "stage_template": f"hosted/stages/{stage}.html",
            "is_waiting": not document.terminal,
            "is_due": not (
                document.terminal
                or set_aside["is_set_aside"]
                or stage == CONFIRMING
                or seen["is_seen_whole"]
                or (stage == PAY and card.is_paid)
            ),
            "is_polled": _is_polled(document, seen) and not card.is_choosing,
            "way": way,
            "chosen": chosen,
            "coins": _coins(offered, query),
            "path": path,
            "query": query.urlencode(),
            "is_choice": len(offered) > 1,
            "is_local_chain": payment.is_live
            and any(item.asset.chain_id in LOCAL_CHAIN_IDS for item in document.payment_addresses),
            "progress": _progress(document),
            "completed_at": payment.completed_at,
            "return_host": plumbing.host_shown(
                document.success_url if stage == COMPLETED else document.failed_url
            ),
            "is_card_return": query.get("onramp") == "success"
            and stage in (PAY, UNDERPAID, CONFIRMING),
            "way_links": {
                "crypto": f"{path}?{ways['crypto']}",
                "card": f"{card_path or path}?{ways['card']}",
            },
            "confirming_reference": ""
            if payment.is_live or stage not in (UNDERPAID, CONFIRMING)
            else simulated_waiting(payment),
        }
    )


def _named(payment: Payment, document: CheckoutFacts, query: QueryDict) -> Context:
    """State of the transaction that was just named, and of coins that are gone for good, unless
    these are the same; and whether the last one failed of a payment that is still due."""
    is_due = stage_of(document) in (PAY, UNDERPAID)
    sent = answer_shown(payment, query.get("sent", ""))
    lost = lost_coins_of(payment)
    is_told = sent is not None and lost is not None and sent.tx_hash == lost.tx_hash
    return {
        "sent": sent,
        "lost": None if is_told else lost,
        "failed": stages.failed_now(document) if is_due else None,
    }


def _signature(
    payment: Payment, received: list[Received], stage: str, way: WayToPay | None
) -> Context:
    if stage != PAY:
        return signatures.NOTHING
    return signatures.part_of(payment, received, way.asset_id if way is not None else None)


def _coins(
    offered: list[WayToPay], query: QueryDict
) -> list[tuple[bool, list[tuple[WayToPay, str]]]]:
    """The coins to choose from, each with where it leads."""
    return [
        (is_stable, [(item, plumbing.query_with(query, asset=item.asset_id)) for item in ways])
        for is_stable, ways in grouped(offered)
    ]


def _code(request: HttpRequest, chosen: CheckoutAddress | None) -> Context:
    """The code to be scanned, and how another one is asked for."""
    code = code_chosen(request, chosen)
    links = {name: plumbing.query_with(request.GET, code=name) for name in (ADDRESS, LINK)}
    return {
        "code": code,
        "code_text": chosen and (chosen.payment_uri if code == LINK else chosen.address),
        "code_links": links,
    }


def _is_polled(document: CheckoutFacts, seen: Context) -> bool:
    """Tell whether the page looks again: also after its end, while what came late is on its way."""
    is_confirming = any(deposit.status == "confirming" for deposit in document.transactions)
    return bool(not document.terminal or seen["is_seen_late"] or is_confirming)


def _seen(payment: Payment, document: CheckoutFacts, received: list[Received]) -> Context:
    """Transactions that wait to be mined, and the address at which the page hears at once that this
    has changed since `beat`, which is read first: what comes in between is news. What is sent after
    the time was up is shown as well."""
    is_open = not document.terminal or document.status == EXPIRED
    beat = beat_of(payment) if is_open else ""
    seen = seen_for(received)
    return {
        **seen,
        "is_seen_late": document.status == EXPIRED and seen["is_seen_waiting"],
        "pulse_path": f"/pay/{payment.reference}/pulse" if is_open else "",
        "beat": beat,
    }


def _set_aside(document: CheckoutFacts, path: str, query: QueryDict) -> Context:
    """Coins that came late or in another currency: nothing more is asked for while they wait,
    unless the customer wants to pay all the same."""
    waiting = stages.waiting_for_merchant(document)
    return {
        "waiting_deposits": waiting,
        "is_set_aside": bool(waiting) and not document.terminal and query.get("more") != "1",
        "more_link": f"{path}?{plumbing.query_with(query, more='1')}",
        "was_accepted": any(deposit.accepted_at for deposit in document.transactions),
    }


def code_chosen(request: HttpRequest, chosen: CheckoutAddress | None) -> str:
    """The content of the QR code: of a coin of its chain everything that a wallet needs, unless
    this customer's takes a plain address only; of a token the address, unless they ask for the
    link."""
    is_token = chosen is not None and chosen.qr_text == chosen.address
    default = ADDRESS if is_token else request.COOKIES.get(CODE_COOKIE)
    choice = request.GET.get("code") or default
    return ADDRESS if choice == ADDRESS else LINK


def remember_code(request: HttpRequest, response: HttpResponse) -> None:
    """The browser of a customer who chose the plain address gets it on the next payment too; nobody
    else gets a cookie."""
    choice = request.GET.get("code")
    cookie = request.COOKIES.get(CODE_COOKIE)
    if choice == ADDRESS != cookie:
        is_secure = request.is_secure()
        response.set_cookie(
            CODE_COOKIE,
            ADDRESS,
            max_age=CODE_KEPT_SECONDS,
            secure=is_secure,
            httponly=True,
            samesite="Lax",
        )
    elif choice == LINK and cookie:
        response.delete_cookie(CODE_COOKIE, samesite="Lax")


def stage_of(document: CheckoutFacts) -> str:
    """The stage of a checkout: the customer's next act or news."""
    if document.status == states.PENDING:
        return PAY
    if document.status == states.PROCESSING:
        if not document.has_received:
            return PAY
        return UNDERPAID if document.state_reason == states.PROCESSING_UNDERPAID else CONFIRMING
    return document.status


def _chosen(offered: list[WayToPay], asset_id: str | None) -> WayToPay | None:
    """The coin asked for, else the one that money has come in, else the first."""
    requested = [address for address in offered if address.asset_id == asset_id]
    paid = [address for address in offered if address.address.received_atomic != "0"]
    return next(iter([*requested, *paid, *offered]), None)


def _progress(document: CheckoutFacts) -> CheckoutTransaction | None:
    """The confirmations of the deposit that is furthest from its goal."""
    waiting = [
        transaction
        for transaction in document.transactions
        if transaction.status in ("pending", "confirming")
    ]
    return (
        min(
            waiting,
            key=lambda transaction: transaction.confirmations - transaction.required_confirmations,
        )
        if waiting
        else None
    )
