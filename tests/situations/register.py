"""The situations by the names that the guide's table has for them."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.situations.world import Story, World

Tried = Callable[[World], Story]


@dataclass(frozen=True)
class Situation:
    """`is_alone`: others would see what it does to the network or a token."""

    name: str
    tried: Tried
    is_alone: bool


SITUATIONS: dict[str, Situation] = {}


def situation(name: str, *, is_alone: bool = False) -> Callable[[Tried], Tried]:
    """Tried beside the others unless it needs the demo for itself."""

    def add(tried: Tried) -> Tried:
        SITUATIONS[name] = Situation(name, tried, is_alone)
        return tried

    return add
