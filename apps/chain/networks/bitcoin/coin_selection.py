"""Which coins pay: those that leave no change where there are such, else the smallest that is
enough alone, else the largest ones. What costs more to take than it has is left where it is.

Nothing is drawn by chance: the same question has the same answer.
"""

from collections.abc import Sequence

from apps.chain.networks.base import Coin, CoinsShort
from apps.chain.networks.bitcoin.sizes import INPUT_WEIGHT, cost

# A transaction with more could be too large for nodes.
COINS_MAX = 500
_TRIES_MAX = 20_000


def input_cost(rate: int) -> int:
    return cost(-(-INPUT_WEIGHT // 4), rate)


def choose(
    coins: Sequence[Coin], target_atomic: int, rate: int, change_atomic: int
) -> tuple[Coin, ...]:
    """Coins that have the target with the fee of taking them. `change_atomic` is what change costs
    with what it must have: no more than that is given away to have none. Raises CoinsShort."""
    confirmed = [coin for coin in coins if coin.is_confirmed]
    for some in (confirmed, coins):
        chosen = _from(some, target_atomic, rate, change_atomic)
        if chosen:
            return chosen
    raise CoinsShort(target_atomic - _most(coins, rate))


def worth(coin: Coin, rate: int) -> int:
    """Amount that a coin brings beyond the fee of taking it."""
    return coin.amount_atomic - input_cost(rate)


def _most(coins: Sequence[Coin], rate: int) -> int:
    values = sorted((worth(coin, rate) for coin in coins), reverse=True)
    return sum(value for value in values[:COINS_MAX] if value > 0)


def _from(
    coins: Sequence[Coin], target_atomic: int, rate: int, change_atomic: int
) -> tuple[Coin, ...]:
    """Empty where they aren't enough."""
    useful = sorted(
        (coin for coin in coins if worth(coin, rate) > 0),
        key=lambda coin: (-coin.amount_atomic, coin.place.text),
    )
    if _most(useful, rate) < target_atomic:
        return ()
    exact = _without_change(useful, target_atomic, rate, change_atomic)
    if exact:
        return exact
    alone = [coin for coin in useful if worth(coin, rate) >= target_atomic + change_atomic]
    if alone:
        return (alone[-1],)
    chosen: list[Coin] = []
    have = 0
    for coin in useful[:COINS_MAX]:
        chosen.append(coin)
        have += worth(coin, rate)
        if have >= target_atomic + change_atomic:
            break
    return tuple(chosen)


def _without_change(
    useful: Sequence[Coin], target_atomic: int, rate: int, above_atomic: int
) -> tuple[Coin, ...]:
    """Coins whose worth is the target, or so little above that change would cost more: a search
    with a bound (branch and bound)."""
    values = [worth(coin, rate) for coin in useful]
    left = [0]
    for value in reversed(values):
        left.append(left[-1] + value)
    left.reverse()
    best: tuple[int, ...] = ()
    best_sum = target_atomic + above_atomic
    stack: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    for _ in range(_TRIES_MAX):
        if not stack:
            break
        place, have, chosen = stack.pop()
        if target_atomic <= have < best_sum:
            best, best_sum = chosen, have
        if (
            have >= target_atomic
            or place == len(values)
            or have + left[place] < target_atomic
            or len(chosen) == COINS_MAX
        ):
            continue
        stack.append((place + 1, have, chosen))
        if have + values[place] < best_sum:
            stack.append((place + 1, have + values[place], (*chosen, place)))
    return tuple(useful[place] for place in best)
