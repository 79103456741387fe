"""Acts on an invoice or a subscription: a page that says what will happen, then the act."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Self, TypeVar

from django.http import Http404
from django.utils.translation import gettext

from apps.access.access import Access
from apps.core.web.refusals import status_of
from apps.dashboard.site.views import PageRequest, Refusals, sentences

RowT = TypeVar("RowT")


@dataclass(frozen=True)
class RecordAction(Generic[RowT]):
    """Its name, the title of its page and the button that does it, whether it is offered, what is
    done (the page has one option), and what is said then; all words in English."""

    name: str
    title: str
    button: str
    is_offered: Callable[[RowT], bool]
    do: Callable[[Access, RowT, bool], object]
    done: str

    @property
    def translated(self) -> Self:
        """With its words in the reader's language."""
        return replace(
            self,
            name=gettext(self.name),
            title=gettext(self.title),
            button=gettext(self.button),
        )


class ActOutcome(NamedTuple):
    """Result of an act; for a refusal the errors and the status of the page with them."""

    is_done: bool
    errors: list[str]
    status: int


def find_act(acts: Mapping[str, RecordAction[RowT]], name: str) -> RecordAction[RowT]:
    act = acts.get(name)
    if act is None:
        raise Http404
    return act


def attempt(
    request: PageRequest, act: RecordAction[RowT], row: RowT, *, has_option: bool
) -> ActOutcome:
    """Only a press does it: the page that asks is read first."""
    if request.method != "POST":
        return ActOutcome(False, [], 200)
    try:
        act.do(request.access, row, has_option)
    except Refusals as refusal:
        return ActOutcome(False, sentences(refusal), status_of(refusal))
    return ActOutcome(True, [], 200)
