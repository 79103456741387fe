"""A schedule's next run: the amount, or the reasons for paying out nothing."""

from dataclasses import dataclass

from apps.access.access import Access
from apps.assets.selectors import price_of
from apps.core import clock
from apps.core.money import Amount, Fiat
from apps.ledger.selectors import balances
from apps.payouts.models import Schedule
from apps.payouts.services.offramp import OFFRAMP_MINIMUMS
from apps.payouts.services.orders import network_minimum

NO_BALANCE = "no_balance"
BELOW_MINIMUM = "below_minimum"
BELOW_NETWORK_MINIMUM = "below_network_minimum"


class RunWithoutRate(Exception):
    """The balance can't be valued at the moment: the run waits for a rate."""


@dataclass(frozen=True)
class ExpectedRun:
    """`skip_reason` says why nothing would leave; `worth` is None without a rate."""

    amount_atomic: int
    worth: Fiat | None
    skip_reason: str | None


def expected_run(access: Access, schedule: Schedule) -> ExpectedRun:
    """As the balance is now: a run reads it again, locked. What can't be valued is left to the
    run."""
    balance = balances(schedule.store_id, schedule.mode).get(schedule.asset_id)
    amount = 0 if balance is None else balance.available_atomic
    price = price_of(schedule.asset, access.store.settlement_currency, clock.real_now())
    try:
        reason = skip_reason(schedule, amount)
    except RunWithoutRate:
        reason = None
    worth = None if price is None else price.worth(Amount(schedule.asset, amount))
    return ExpectedRun(amount, worth, reason)


def skip_reason(schedule: Schedule, amount_atomic: int) -> str | None:
    """Why nothing leaves; None when it does. Raises RunWithoutRate."""
    if amount_atomic <= 0:
        return NO_BALANCE
    if schedule.minimum_fiat_cents:
        price = price_of(schedule.asset, schedule.minimum_fiat_currency, clock.real_now())
        if price is None:
            raise RunWithoutRate
        if price.worth(Amount(schedule.asset, amount_atomic)) < Fiat(
            schedule.minimum_fiat_cents, schedule.minimum_fiat_currency
        ):
            return BELOW_MINIMUM
    least = network_minimum(schedule.asset)
    if schedule.destination_type == "fiat":
        least = (
            1
            if schedule.swap_target_asset_id is not None
            else OFFRAMP_MINIMUMS.get(schedule.asset.coin_symbol, least)
        )
    return BELOW_NETWORK_MINIMUM if amount_atomic < least else None
