"""What a button on the page of an invoice or a subscription leads to: a page that says what will
happen, then the act."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from django.http import Http404

from apps.access.access import Access
from apps.core.web.refusals import status_of
from apps.dashboard.plumbing import PageRequest, Refusals, sentences

RowT = TypeVar("RowT")


@dataclass(frozen=True)
class Act(Generic[RowT]):
    """Its name and that of the button that does it, whether it is offered, what is done (the page
    has one option), and what is said then."""

    name: str
    button: str
    is_offered: Callable[[RowT], bool]
    do: Callable[[Access, RowT, bool], object]
    done: str


class ActOutcome(NamedTuple):
    """Whether the act was done; if not, what was wrong and the status of the page that says it."""

    is_done: bool
    errors: list[str]
    status: int


def find_act(acts: Mapping[str, Act[RowT]], name: str) -> Act[RowT]:
    act = acts.get(name)
    if act is None:
        raise Http404
    return act


def attempt(request: PageRequest, act: Act[RowT], row: RowT, *, has_option: bool) -> ActOutcome:
    """Only a press does it: the page that asks is read first."""
    if request.method != "POST":
        return ActOutcome(False, [], 200)
    try:
        act.do(request.access, row, has_option)
    except Refusals as refusal:
        return ActOutcome(False, sentences(refusal), status_of(refusal))
    return ActOutcome(True, [], 200)
