"""`set_store`: what staff decide about a store, as key=value."""

from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import URLValidator
from django.db import transaction
from django.db.models import TextChoices

from apps.agents.models import AgentSettings, AuthorizationProvider, CheckoutSignatures
from apps.core import clock
from apps.payouts.models import PaysNetworkFee
from apps.payouts.services.caps import set_store_cap
from apps.stores.command import OperatorCommand, Result, fraction, store_named
from apps.stores.models import Currency
from apps.stores.services import change_store


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise CommandError(f"{text!r} is not true or false")
    return text == "true"


def _basis_points(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 10_000:
        raise CommandError(f"{text!r} is not a number of basis points (0 to 10000)")
    return int(text)


def _currency(text: str) -> str:
    if text not in Currency.values:
        raise CommandError(f"Unsupported settlement currency: {text}")
    return text


def _one_of(choices: type[TextChoices]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices.values:
            raise CommandError(f"{text!r} is not one of {', '.join(choices.values)}")
        return text

    return read


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise CommandError(f"{text!r} is not a whole number")
    return int(text)


def _days(text: str) -> int:
    if not 1 <= _whole(text) <= 365:
        raise CommandError(f"{text!r} is not a number of days (1 to 365)")
    return int(text)


def _amount_or_none(text: str) -> int | None:
    return None if text in ("", "none") else _whole(text)


def _url(text: str) -> str:
    try:
        URLValidator(schemes=["http", "https"])(text)
    except ValidationError:
        raise CommandError(f"{text!r} is not an http or https address") from None
    return text


# key -> (columns, how the text is read)
SETTINGS: dict[str, tuple[tuple[str, ...], Callable[[str], Any]]] = {
    "accept_overpayments": (("accept_overpayments",), _boolean),
    "accept_underpayments": (("accept_underpayments",), _boolean),
    "underpayment_tolerance_bps": (("underpayment_tolerance_bps",), _basis_points),
    "overpayment_tolerance_bps": (("overpayment_tolerance_bps",), _basis_points),
    "customer_pays_fee": (("customer_pays_fee",), _boolean),
    "fee_percentage": (("fee_fraction",), fraction),
    "settlement_currency": (("settlement_currency",), _currency),
    "payout_network_fee": (("payout_network_fee",), _one_of(PaysNetworkFee)),
    "payout_review_threshold_cents": (("payout_review_threshold_cents",), _amount_or_none),
    "review_new_destinations": (("review_new_destinations",), _boolean),
    "platform_may_pay_out": (("platform_may_pay_out",), _boolean),
    "card_funding": (("card_funding_live", "card_funding_test"), _boolean),
    "authorization_provider": (("authorization_provider",), _one_of(AuthorizationProvider)),
    "authorization_url": (("authorization_url",), _url),
    "checkout_signatures": (("checkout_signatures",), _one_of(CheckoutSignatures)),
    "x402_dispatch": (("x402_dispatch",), _boolean),
    "invoice_due_days": (("invoice_due_days",), _days),
    "kyc": (("kyc_confirmed_at",), lambda text: clock.real_now() if _boolean(text) else None),
}


# The last part of a key cap.<asset_id>.<part> -> its column.
CAPS = {"per_tx": "per_tx_atomic", "daily": "daily_atomic"}


def _cap_of(key: str) -> tuple[str, str] | None:
    """(asset, column) of a key of a payout cap."""
    first, _, rest = key.partition(".")
    asset_id, _, part = rest.rpartition(".")
    return (asset_id, CAPS[part]) if first == "cap" and asset_id and part in CAPS else None


def _atomic_or_none(text: str) -> int | None:
    if text in ("", "none"):
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 60:
        raise CommandError(f"{text!r} is not an amount in atomic units")
    return int(text)


def _names(text: str) -> list[str] | None:
    return None if text in ("", "none") else [name.strip() for name in text.split(",")]


def _atomic_text(text: str) -> str | None:
    amount = _atomic_or_none(text)
    return None if amount is None else str(amount)


# rule of policy.<rule> -> how its text is read; "none" takes a rule away.
RULES: dict[str, Callable[[str], Any]] = {
    "max_mandate_cap_atomic": _atomic_text,
    "daily_issuance_cap_atomic": _atomic_text,
    "allowed_scopes": _names,
    "allowed_assets": _names,
    "agents_may_refund": _boolean,
    "agents_may_change_tokens": _boolean,
    "agents_may_pay_out": _boolean,
}


def _with_rule(policy: Mapping[str, object], rule: str, text: str) -> dict[str, object]:
    """A policy with one rule changed."""
    if rule not in RULES:
        raise CommandError(f"Unknown rule {rule!r}; use one of {', '.join(RULES)}")
    rules = {**policy, rule: RULES[rule](text)}
    return {name: value for name, value in rules.items() if value is not None}


class ChangedStore(Result, frozen=True, kw_only=True):
    id: str
    name: str


class ChangesResult(Result, frozen=True, kw_only=True):
    """The keys that were set."""

    store: ChangedStore
    changed: list[str]


class Command(OperatorCommand[ChangesResult]):
    help = "Change the settings of a store that staff manage: " + ", ".join(
        [*SETTINGS, "cap.<asset_id>.per_tx", "cap.<asset_id>.daily", "policy.<rule>"]
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--store", required=True)
        parser.add_argument("pairs", nargs="+", metavar="key=value")

    def run(self, **options: Any) -> ChangesResult:
        store = store_named(options["store"])
        changes: dict[str, object] = {}
        policy: Mapping[str, object] = AgentSettings.of(store).authorization_policy
        caps: list[tuple[str, str, int | None]] = []
        for pair in options["pairs"]:
            key, separator, text = pair.partition("=")
            cap = _cap_of(key)
            if separator and cap is not None:
                caps.append((*cap, _atomic_or_none(text)))
                continue
            if separator and key.startswith("policy."):
                changes["authorization_policy"] = policy = _with_rule(
                    policy, key.removeprefix("policy."), text
                )
                continue
            if not separator or key not in SETTINGS:
                raise CommandError(f"Unknown setting {key!r}; use one of {', '.join(SETTINGS)}")
            columns, read = SETTINGS[key]
            changes |= dict.fromkeys(columns, read(text))
        with transaction.atomic():
            change_store(store, **changes)
            for asset_id, column, amount in caps:
                set_store_cap(store, asset_id, **{column: amount})
        changed = sorted(pair.partition("=")[0] for pair in options["pairs"])
        return ChangesResult(store=ChangedStore(id=str(store.pk), name=store.name), changed=changed)
