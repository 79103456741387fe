"""Requests of staff for networks and assets that the catalog doesn't have."""

from dataclasses import fields
from datetime import datetime
from typing import Any

from django import forms
from django.utils.html import format_html

from apps.assets.models import Chain, FeeModel
from apps.chain import requested_additions
from apps.chain.additions import DECIMALS_MAX, FEE_MODELS, AssetFacts, NetworkFacts
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.models import Mode
from apps.core.typed_amounts import Ambiguous, coins_typed, percent_text
from apps.core.web.forms import typographic
from apps.staff.decisions.forms import AskForm, Line
from apps.staff.plumbing.codes import code
from apps.staff.plumbing.unit_fields import amount_widget, count_widget
from apps.stores.models import StaffRequest, User

_SECONDS_PLACES = 3
_PERCENT_PLACES = 2


def _typed(placeholder: str = "", **options: Any) -> forms.CharField:
    attributes = {"autocomplete": "off", "placeholder": placeholder}
    return forms.CharField(widget=forms.TextInput(attrs=attributes), **options)


def _count(**options: Any) -> forms.IntegerField:
    return forms.IntegerField(widget=count_widget(), **options)


def _read_number(form: AskForm, name: str, places: int) -> None:
    """Reads a number typed with a comma or a point; what is none is an error."""
    try:
        form.cleaned_data[name] = coins_typed(form.cleaned_data.get(name, ""), name, places)
    except Ambiguous as refusal:
        form.add_error(name, refusal.text_of(str(form.fields[name].label)))
    except Invalid:
        form.add_error(name, f"Enter a number with at most {places} decimal places")


class _AdditionForm(AskForm):
    is_reviewed = True
    what_follows = (
        "This takes a second approval: another member of staff is emailed and has seven days to"
        " approve it. A worker adds it then, in live mode after a waiting period in which one"
        " member of staff can stop it. Nothing is offered before it is activated."
    )

    def differences(self) -> list[Line]:
        return [
            (label, "—", after) for label, _, after in requested_additions.lines_of(self._facts())
        ]

    def clean(self) -> None:
        """Refuses before the review what the request would be refused for."""
        super().clean()
        self._read_numbers()
        if self.errors:
            return
        try:
            requested_additions.check(self._facts())
        except Failure as refusal:
            self.add_error(None, typographic(refusal.text))

    def _read_numbers(self) -> None:
        raise TypeError("a form defines _read_numbers")

    def _facts(self) -> NetworkFacts | AssetFacts:
        raise TypeError("a form defines _facts")


class NetworkForm(_AdditionForm):
    title = "Add a network"
    kind = requested_additions.NETWORK
    id = _typed("gnosis", label="ID", help_text="As settings name it.")
    name = _typed("Gnosis", label="Name")
    symbol = _typed("GNO", label="Short name")
    number = _count(label="Chain ID")
    mode = forms.ChoiceField(choices=Mode.choices)
    confirmations = _count(label="Confirmations")
    confirmations_floor = _count(
        label="Fewest confirmations", required=False, help_text="A quarter unless you say so."
    )
    block_seconds = forms.CharField(label="Seconds between blocks", widget=amount_widget())
    fee_symbol = _typed("xDAI", label="Coin of the fees")
    fee_model = forms.ChoiceField(
        label="Fees", choices=[(each.value, each.label) for each in map(FeeModel, FEE_MODELS)]
    )
    explorer_url = _typed("https://", label="Block explorer", required=False)
    wallet_url = _typed(
        "https://",
        label="Node for wallets",
        required=False,
        help_text="Public, for customers’ wallets that don’t have the network yet.",
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.what_follows = format_html(
            "{} An operator names the network’s nodes in {}.",
            self.what_follows,
            code("CHAIN_NETWORKS"),
        )

    def _read_numbers(self) -> None:
        _read_number(self, "block_seconds", _SECONDS_PLACES)

    def _facts(self) -> NetworkFacts:
        data = self.cleaned_data
        confirmations = data["confirmations"]
        lowest = data["confirmations_floor"]
        return NetworkFacts(
            id=data["id"],
            name=data["name"],
            symbol=data["symbol"],
            number=data["number"],
            mode=data["mode"],
            confirmations=confirmations,
            confirmations_floor=max(1, confirmations // 4) if lowest is None else lowest,
            block_seconds=float(data["block_seconds"]),
            fee_symbol=data["fee_symbol"],
            fee_model=data["fee_model"],
            explorer_url=data["explorer_url"],
            wallet_url=data["wallet_url"],
        )

    def ask(self, staff: User, at: datetime) -> StaffRequest:
        return requested_additions.request_network(self._facts(), self.reason, staff, at)


class AssetForm(_AdditionForm):
    title = "Add an asset"
    kind = requested_additions.ASSET
    network = forms.ModelChoiceField(Chain.objects.order_by("name"), empty_label="Choose a network")
    id = _typed("GNO_USDC", label="ID", help_text="Of the network and the coin.")
    symbol = _typed("USDC", label="Short name")
    name = _typed("USD Coin", label="Name")
    contract = _typed(
        label="Contract",
        required=False,
        help_text="Empty for the network’s own coin. A worker asks the network’s node for it.",
    )
    decimals = _count(label="Decimals", min_value=0, max_value=DECIMALS_MAX)
    minimum = forms.CharField(
        label="Smallest payout", widget=amount_widget(), help_text="In coins, such as 1 or 0.005."
    )
    eip712_name = _typed(
        label="EIP-712 name", required=False, help_text="For signed payments (EIP-3009)."
    )
    eip712_version = _typed(label="EIP-712 version", required=False)
    pays_fees = forms.BooleanField(
        label="The network takes its fees in this token",
        required=False,
        help_text="Only on a network without a coin of its own.",
    )
    sweep_minimum = forms.CharField(
        label="Minimum sweep",
        required=False,
        widget=amount_widget(),
        help_text=(
            "In coins. Deposits are swept to the hot wallet from this amount on. Empty:"
            " SWEEP_MINIMUMS."
        ),
    )
    sweep_cost = forms.CharField(
        label="Maximum cost of a sweep (%)",
        required=False,
        widget=amount_widget(),
        help_text="Of the deposit. What is dearer waits. Empty: SWEEP_COST_PERCENT.",
    )
    sweep_after_days = _count(
        label="Sweep smaller deposits after days",
        required=False,
        help_text="From 1 to 3,650. Empty: never.",
    )

    def _read_numbers(self) -> None:
        decimals = self.cleaned_data.get("decimals") or 0
        _read_number(self, "minimum", decimals)
        if self.cleaned_data.get("sweep_minimum"):
            _read_number(self, "sweep_minimum", decimals)
        if self.cleaned_data.get("sweep_cost"):
            self.cleaned_data["sweep_cost"] = percent_text(self.cleaned_data["sweep_cost"])
            _read_number(self, "sweep_cost", _PERCENT_PLACES)

    def _facts(self) -> AssetFacts:
        names = [each.name for each in fields(AssetFacts) if each.name in self.fields]
        data = {name: self.cleaned_data[name] for name in names}
        days = data["sweep_after_days"]
        data["sweep_after_days"] = "" if days is None else str(days)
        return AssetFacts(**{**data, "network": data["network"].pk})

    def ask(self, staff: User, at: datetime) -> StaffRequest:
        return requested_additions.request_asset(self._facts(), self.reason, staff, at)
