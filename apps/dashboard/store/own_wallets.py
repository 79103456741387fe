"""Wallets that customers' coins go to, asset by asset: the list, a change, and passing on what lies
at forwarders. A private key that somebody pastes is never shown again."""

import json
from typing import ClassVar

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.access import operations
from apps.access.waiting_period import hours_ahead
from apps.assets import selectors
from apps.assets.models import Asset, NetworkFamily
from apps.chain.models import OwnWallet, WalletChoice
from apps.chain.networks.bitcoin.parameters import ScriptKind
from apps.chain.networks.families import shown_address
from apps.chain.own import choices, wallets
from apps.chain.own.choices import WalletRequest
from apps.chain.providers.base import RpcError
from apps.chain.watching.unflushed import flush_call
from apps.core import clock
from apps.core.errors import NotFound
from apps.core.text.wording import translated
from apps.core.web.forms import Form
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, Refusals, find, go, show
from apps.ledger.selectors import OwnBalance, own_balances

# As many unused addresses in a row as most wallets look past.
USUAL_GAP = 20
_SCRIPTS = (
    (ScriptKind.WPKH, "Native SegWit (BIP-84)"),
    (ScriptKind.TR, "Taproot (BIP-86)"),
    (ScriptKind.NESTED, "Nested SegWit (BIP-49)"),
    (ScriptKind.PKH, "Legacy (BIP-44)"),
)


class WalletForm(Form):
    """Form of a wallet: pasted text comes back only when it is no secret."""

    names = ("kind", "content", "script")
    secrets = ("content",)
    inputs: ClassVar = {"destination_address": "content", "asset_id": "kind"}


def index(request: PageRequest) -> HttpResponse:
    access = request.access
    current = choices.currents(access, clock.real_now())
    waiting = {row.asset_id: row for row in _waiting(request)}
    balances = own_balances(access.store_id, access.mode)
    accepted = {asset.pk for asset in selectors.accepted_assets(access.store_id, access.mode)}
    rows = [
        {
            "asset": asset,
            "choice": current.get(asset.pk),
            "title": _title(current.get(asset.pk)),
            "is_own": asset.pk in current and current[asset.pk].wallet_id is not None,
            "waiting": waiting.get(asset.pk),
            "waiting_title": _title(waiting.get(asset.pk)),
            "waits_for": translated(waiting[asset.pk].waits_for) if asset.pk in waiting else "",
            "balance": balances.get(asset.pk, OwnBalance(asset.pk)),
        }
        for asset in selectors.listed_assets(access.mode)
        if asset.pk in accepted or asset.pk in current or asset.pk in balances
    ]
    own = OwnWallet.objects.visible_to(access).select_related("chain").order_by("number")
    context = {
        "rows": rows,
        "wallets": [_used(wallet) for wallet in own],
        "has_platform": access.store.platform_id is not None,
        "may_change": request.member.role == "owner",
    }
    return show(request, "dashboard/settings/wallets.html", context)


def _waiting(request: PageRequest) -> list[WalletChoice]:
    return list(choices.waiting(request.access).select_related("wallet__chain", "asset__chain"))


def _title(choice: WalletChoice | None) -> str:
    title = translated(choices.title(choice.wallet if choice is not None else None))
    return title[:1].upper() + title[1:]


def _used(wallet: OwnWallet) -> dict[str, object]:
    usage = wallets.usage(wallet)
    return {
        "title": _title(WalletChoice(wallet=wallet)),
        "is_key": wallet.kind == OwnWallet.Kind.KEY,
        "usage": usage,
        "is_wide": usage.gap > USUAL_GAP,
    }


def change(request: PageRequest) -> HttpResponse:
    asset = _asset(request)
    form = WalletForm.from_post(request.POST)
    if request.method == "GET":
        return _form(request, asset, form)
    wanted = WalletRequest(
        asset.pk,
        "" if form.values["kind"] == "held" else form.values["kind"],
        form.secret_values["content"].strip(),
        form.values["script"],
    )

    def ask() -> WalletChoice:
        return choices.ask_for_wallet(request.access, wanted)

    try:
        _, named = choices.read_request(request.access, wanted)
        shown: list[tuple[str, object]] = [(gettext("Coins of"), translated(asset.full_name))]
        if named is None:
            shown.append((gettext("Go to"), gettext("Held here")))
        else:
            title = (
                gettext("Passed on to") if len(named.first()) == 1 else gettext("First addresses")
            )
            shown.append((title, ", ".join(map(shown_address, named.first()))))
        confirmation = confirming.ask_about_form(request, shown, ask)
        if confirmation is not None:
            return confirmation
        ask()
    except Refusals as refusal:
        return _form(request, asset, form.refuse(refusal))
    messages.success(request, gettext("Saved. Every owner is emailed about it."))
    return go("settings_wallets")


def _asset(request: PageRequest) -> Asset:
    """The one that is asked for, or the first. Raises NotFound."""
    listed = selectors.listed_assets(request.access.mode)
    asked = request.GET.get("asset")
    found = next((asset for asset in listed if asked in (None, asset.pk)), None)
    if found is None:
        raise NotFound
    return found


def _form(request: PageRequest, asset: Asset, form: WalletForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "asset": asset,
        "kind": form.values["kind"] or "key",
        "is_bitcoin": asset.chain.family == NetworkFamily.BITCOIN,
        "scripts": _SCRIPTS,
        "waiting_hours": hours_ahead(request.access, operations.WALLET_CHANGE, request.access.mode),
    }
    return show(request, "dashboard/settings/wallet.html", context, status=form.status)


def stop(request: PageRequest, id: str) -> HttpResponse:
    choice: WalletChoice = find(choices.waiting(request.access), id)
    if choices.stop_choice(request.access, choice):
        messages.success(request, gettext("Change canceled. Coins go where they went before."))
    return go("settings_wallets")


def forwarded(request: PageRequest) -> HttpResponse:
    """Coins at forwarders, and the transaction that passes them on."""
    asset = _asset(request)
    choice = choices.current(request.access, asset.pk, clock.real_now())
    wallet = None if choice is None else choice.wallet
    if wallet is None or wallet.kind != OwnWallet.Kind.FORWARDER:
        return show(request, "dashboard/settings/forwarded.html", {"asset": asset})
    context: dict[str, object] = {"asset": asset, "destination": shown_address(wallet.content)}
    try:
        call = flush_call(wallet, asset)
    except RpcError:
        context["is_silent"] = True
        return show(request, "dashboard/settings/forwarded.html", context)
    context["call"] = call
    if call is not None:
        context["transaction"] = json.dumps(call.wallet_request, separators=(",", ":"))
    return show(request, "dashboard/settings/forwarded.html", context)
