"""Agents: their credentials (each shown once) with what they may pay out, and the mandates that they draw on."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse

from apps.access import makers, rights, scopes, services
from apps.access.models import AgentCredential
from apps.agents.models import AgentPayoutCap, Mandate, Settlement
from apps.agents.services.mandates import revoke_mandate, status_at
from apps.agents.services.payouts import set_cap
from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.core import clock, money
from apps.core.errors import Flat
from apps.core.literal import Text
from apps.core.web import status_of
from apps.dashboard import confirming
from apps.dashboard.keys import taken_over
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, sentences, show

_NAME = Text(100, required=True, shortest=1, trim=True)


class NotAnAmount(Flat):
    """A cap that can't be read."""


def _credentials(request: PageRequest) -> "QuerySet[AgentCredential]":
    rows: QuerySet[AgentCredential] = AgentCredential.objects.seen_by(request.access).filter(revoked_at=None)
    return rows.select_related("application").order_by("-created_at")


def _mandates(request: PageRequest) -> "QuerySet[Mandate]":
    rows: QuerySet[Mandate] = Mandate.objects.seen_by(request.access)
    return rows.select_related("asset", "credential", "store").order_by("-created_at", "-id")


def index(request: PageRequest) -> HttpResponse:
    rows = list(_credentials(request))
    lost = makers.lost_by(rows, request.access.store_id)
    return show(request, "dashboard/agents/list.html", {"credentials": [(one, lost.get(one.pk)) for one in rows]})


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, {"name": "", "scopes": rights.held_of(request.access, scopes.AGENT)}, [])
    given = {"name": request.POST.get("name", ""), "scopes": request.POST.getlist("scopes")}

    def make() -> tuple[AgentCredential, str]:
        name = _NAME.check(given["name"], "name")
        return services.create_agent_credential(
            request.access.store,
            request.access.mode,
            name=name,
            wanted=request.POST.getlist("scopes"),
            by=request.access,
        )

    try:
        rows = [("Name", given["name"]), ("Scopes", ", ".join(request.POST.getlist("scopes")) or "none")]
        asked = confirming.ask_about_form(request, rows, make)
        if asked is not None:
            return asked
        row, secret = make()
    except Refusals as refusal:
        return _form(request, given, sentences(refusal), status_of(refusal))
    return show(request, "dashboard/agents/created.html", {"credential": row, "secret": secret}, status=201)


def _form(request: PageRequest, given: Mapping[str, object], errors: list[str], status: int = 200) -> HttpResponse:
    held = rights.held_of(request.access, scopes.AGENT)
    context = {"given": given, "errors": errors, "scopes": held}
    return show(request, "dashboard/agents/create.html", context, status=status)


def revoke(request: PageRequest, id: str) -> HttpResponse:
    row: AgentCredential = find(_credentials(request), id)
    if request.method == "GET":
        return show(request, "dashboard/agents/revoke.html", {"credential": row})
    services.revoke_agent_credential(row, clock.real_now(), by=request.access)
    messages.success(request, f"The credential {row.name or row.token_prefix} has been revoked.")
    return go("agents")


def take_over(request: PageRequest, id: str) -> HttpResponse:
    return taken_over(request, find(_credentials(request).filter(application=None), id), "agents", "Agents")


def caps(request: PageRequest, id: str) -> HttpResponse:
    """What one credential may pay out of each asset, in coins."""
    row: AgentCredential = find(_credentials(request), id)
    assets = active_assets(request.access.mode)
    if request.method == "GET":
        return _caps_form(request, row, assets, {}, [])
    given = {name: str(text).strip() for name, text in request.POST.items()}
    try:
        wanted = [(asset, _cap(given, asset, "per_tx"), _cap(given, asset, "daily")) for asset in assets]
    except NotAnAmount as refusal:
        return _caps_form(request, row, assets, given, sentences(refusal), 422)

    def keep() -> None:
        for asset, per_tx, daily in wanted:
            set_cap(row, asset, per_tx, daily, by=request.access)

    told = [("Agent", row.name or row.token_prefix), *_told_caps(given, assets)]
    try:
        asked = confirming.ask_about_form(request, told, keep)
        if asked is not None:
            return asked
        keep()
    except Refusals as refusal:
        return _caps_form(request, row, assets, given, sentences(refusal), status_of(refusal))
    messages.success(request, "The caps have been saved.")
    return go("agents")


def _told_caps(given: Mapping[str, str], assets: list[Asset]) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for asset in assets:
        parts = [(given.get(f"{asset.pk}.per_tx"), "per payout"), (given.get(f"{asset.pk}.daily"), "per day")]
        rows.append((f"{asset.coin_symbol} on {asset.chain.name}", ", ".join(f"{typed} {of}" for typed, of in parts if typed) or "no cap"))
    return rows


def _cap(given: Mapping[str, str], asset: Asset, part: str) -> int | None:
    text = given.get(f"{asset.pk}.{part}", "")
    if not text:
        return None
    try:
        amount = money.atomic_from_decimal(text, asset.atomic_decimals)
    except (ValueError, ArithmeticError):
        amount = None
    if amount is None or amount < 0:
        raise NotAnAmount(f"{text[:30]} is not an amount of {asset.coin_symbol}")
    return amount


def _caps_form(
    request: PageRequest, row: AgentCredential, assets: list[Asset], given: Mapping[str, str], errors: list[str], status: int = 200
) -> HttpResponse:
    kept = {cap.asset_id: cap for cap in AgentPayoutCap.objects.filter(credential=row)}
    lines = [
        {"asset": asset, "per_tx": _shown(given, asset, "per_tx", kept), "daily": _shown(given, asset, "daily", kept)} for asset in assets
    ]
    return show(request, "dashboard/agents/caps.html", {"credential": row, "lines": lines, "errors": errors}, status=status)


def _shown(given: Mapping[str, str], asset: Asset, part: str, kept: Mapping[str, AgentPayoutCap]) -> str:
    if given:
        return given.get(f"{asset.pk}.{part}", "")
    amount = getattr(kept.get(asset.pk), f"{part}_atomic", None)
    return "" if amount is None else money.decimal_from_atomic(amount, asset.atomic_decimals)


def mandates(request: PageRequest) -> HttpResponse:
    page, now = window(_mandates(request), request.GET, {}), request.access.now()
    told = [(one, status_at(one, now)) for one in page.rows]
    return show(request, "dashboard/agents/mandates.html", {"mandates": told, "page": page})


def mandate(request: PageRequest, id: str) -> HttpResponse:
    row: Mandate = find(_mandates(request), id)
    draws: Any = Settlement.objects.seen_by(request.access).filter(mandate=row).order_by("-created_at", "-id")
    page, status = window(draws, request.GET, {}), status_at(row, request.access.now())
    context = {
        "mandate": row,
        "status": status,
        "page": page,
        "steps": list(row.steps.all()),
        "is_lasting": status in ("active", "exhausted"),
    }
    return show(request, "dashboard/agents/mandate.html", context)


def revoke_one(request: PageRequest, id: str) -> HttpResponse:
    row = revoke_mandate(find(_mandates(request), id), by=request.access)
    messages.success(request, f"The mandate {row.mandate_ref} has been revoked.")
    return go("mandate", row.pk)
