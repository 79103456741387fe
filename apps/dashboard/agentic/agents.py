"""Agents: their credentials (each shown once) with what they may pay out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.access import makers, scopes, services
from apps.access.models import AgentCredential
from apps.agents.models import AgentPayoutCap
from apps.agents.services.payouts import has_limits, set_cap
from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.core import clock, money
from apps.core.messages.fields import Invalid, Text
from apps.core.text.wording import translated
from apps.core.typed_amounts import coins_typed, unmistakable
from apps.core.web.forms import Form
from apps.dashboard.developers.keys import taken_over
from apps.dashboard.developers.scope_words import scope_groups
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, Refusals, find, go, show

PER_TX = "per_tx"
DAILY = "daily"
_NAME = Text(100, required=True, shortest=1, trim=True)


class CredentialForm(Form):
    """A name, and what the agent may do."""

    names = ("name", "scopes")
    is_literal = True
    lists = ("scopes",)

    @property
    def scopes(self) -> list[str]:
        """Each ticked by a person (474). Raises Invalid."""
        if not self.chosen["scopes"]:
            raise Invalid("scopes", "choose_scope")
        return self.chosen["scopes"]

    @property
    def name(self) -> str:
        """Raises Invalid."""
        return _NAME.check(self.values["name"], "name")


class NoAmount(Invalid):
    """A cap that can't be read, as people know it."""

    @property
    def text(self) -> str:
        span = "payout" if self.field.endswith(PER_TX) else "day"
        return self.text_of(gettext("maximum per {span}").format(span=span))


@dataclass(frozen=True)
class CapLine:
    """An asset with its two inputs."""

    asset: Asset
    per_tx_input: str
    daily_input: str
    per_tx: str
    daily: str

    @property
    def title(self) -> str:
        return translated(self.asset.full_name)

    @property
    def words(self) -> str:
        typed = ((self.per_tx, gettext("per payout")), (self.daily, gettext("per day")))
        return ", ".join(f"{coins} {of}" for coins, of in typed if coins) or gettext("No cap")


@dataclass(frozen=True)
class AgentCap:
    """None is no cap."""

    asset: Asset
    per_tx_atomic: int | None
    daily_atomic: int | None


class CapsForm(Form):
    """For each asset the maximum per payout and per day, in coins; empty is no cap."""

    def __init__(self, typed: Mapping[str, str], assets: Sequence[Asset]) -> None:
        self.names = tuple(f"{asset.pk}.{part}" for asset in assets for part in (PER_TX, DAILY))
        self.assets = assets
        super().__init__(typed)

    def caps(self) -> list[AgentCap]:
        """Typed caps; unreadable ones are errors at their inputs."""
        return [
            AgentCap(asset, self._cap(asset, PER_TX), self._cap(asset, DAILY))
            for asset in self.assets
        ]

    def _cap(self, asset: Asset, part: str) -> int | None:
        name = f"{asset.pk}.{part}"
        if not self.values[name]:
            return None
        try:
            plain = coins_typed(self.values[name], name, asset.atomic_decimals)
        except Invalid as refusal:
            self.refuse(NoAmount(name, refusal.rule, **refusal.params))
            return None
        return money.atomic_from_coins(plain, asset.atomic_decimals)

    @property
    def lines(self) -> list[CapLine]:
        names = ((asset, f"{asset.pk}.{PER_TX}", f"{asset.pk}.{DAILY}") for asset in self.assets)
        return [
            CapLine(asset, per_tx, daily, self.values[per_tx], self.values[daily])
            for asset, per_tx, daily in names
        ]


def _credentials(request: PageRequest) -> "QuerySet[AgentCredential]":
    rows: QuerySet[AgentCredential] = AgentCredential.objects.visible_to(request.access).filter(
        revoked_at=None
    )
    return rows.select_related("application").order_by("-created_at")


def index(request: PageRequest) -> HttpResponse:
    rows = list(_credentials(request))
    lost = makers.lost_by(rows, request.access.store_id)
    return show(
        request,
        "dashboard/agents/list.html",
        {"credentials": [(credential, lost.get(credential.pk)) for credential in rows]},
    )


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, CredentialForm({}))
    form = CredentialForm.from_post(request.POST)

    def make() -> tuple[AgentCredential, str]:
        access = request.access
        return services.create_agent_credential(
            access.store, access.mode, name=form.name, scope_names=form.scopes, by=access
        )

    try:
        rows = [(gettext("Name"), form.name), (gettext("Scopes"), ", ".join(form.scopes))]
        confirmation = confirming.ask_about_form(request, rows, make)
        if confirmation is not None:
            return confirmation
        row, secret = make()
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    return show(
        request, "dashboard/agents/created.html", {"credential": row, "secret": secret}, status=201
    )


def _form(request: PageRequest, form: CredentialForm) -> HttpResponse:
    groups = scope_groups(request.access, scopes.AGENT)
    context = {"form": form, "errors": form.common_errors, "groups": groups}
    return show(request, "dashboard/agents/create.html", context, status=form.status)


def revoke(request: PageRequest, id: str) -> HttpResponse:
    row: AgentCredential = find(_credentials(request), id)
    if request.method == "GET":
        return show(request, "dashboard/agents/revoke.html", {"credential": row})
    services.revoke_agent_credential(row, clock.real_now(), by=request.access)
    messages.success(
        request, gettext("Credential {value} revoked.").format(value=row.name or row.token_prefix)
    )
    return go("agents")


def take_over(request: PageRequest, id: str) -> HttpResponse:
    return taken_over(
        request,
        find(_credentials(request).filter(application=None), id),
        "agents",
        gettext("Agents"),
    )


def caps(request: PageRequest, id: str) -> HttpResponse:
    """One credential's payout cap of each asset, in coins."""
    row: AgentCredential = find(_credentials(request), id)
    assets = active_assets(request.access.mode)
    if request.method == "GET":
        caps_by_asset = {cap.asset_id: cap for cap in AgentPayoutCap.objects.filter(credential=row)}
        return _caps_form(request, row, CapsForm(_typed(assets, caps_by_asset), assets))
    form = CapsForm(request.POST.dict(), assets)
    new_caps = form.caps()
    if form.errors:
        return _caps_form(request, row, form)

    def keep() -> None:
        for cap in new_caps:
            set_cap(row, cap.asset, cap.per_tx_atomic, cap.daily_atomic, by=request.access)

    rows = [
        (gettext("Agent"), row.name or row.token_prefix),
        *((line.title, line.words) for line in form.lines),
    ]
    try:
        confirmation = confirming.ask_about_form(request, rows, keep)
        if confirmation is not None:
            return confirmation
        keep()
    except Refusals as refusal:
        return _caps_form(request, row, form.refuse(refusal))
    messages.success(request, gettext("Payout caps saved."))
    return go("agents")


def _typed(assets: Sequence[Asset], caps: Mapping[str, AgentPayoutCap]) -> dict[str, str]:
    """First values of the form: the stored caps, in coins."""
    typed: dict[str, str] = {}
    for asset in assets:
        if (cap := caps.get(asset.pk)) is not None:
            typed[f"{asset.pk}.{PER_TX}"] = _coins(cap.per_tx_atomic, asset)
            typed[f"{asset.pk}.{DAILY}"] = _coins(cap.daily_atomic, asset)
    return typed


def _coins(amount_atomic: int | None, asset: Asset) -> str:
    return (
        ""
        if amount_atomic is None
        else unmistakable(money.decimal_from_atomic(amount_atomic, asset.atomic_decimals))
    )


def _caps_form(request: PageRequest, row: AgentCredential, form: CapsForm) -> HttpResponse:
    context = {
        "credential": row,
        "form": form,
        "errors": form.common_errors,
        "has_limits": has_limits(row.store, [asset.pk for asset in form.assets]),
    }
    return show(request, "dashboard/agents/caps.html", context, status=form.status)
