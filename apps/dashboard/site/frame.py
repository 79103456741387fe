"""Queries of every page's frame: the store, by one statement, the lines of the side bar, the bell's
count, and light or dark."""

from collections import Counter
from functools import cache
from typing import Any, NamedTuple

from django.contrib.postgres.fields import ArrayField
from django.db.models import DateTimeField, QuerySet, UUIDField
from django.http import HttpRequest

from apps.access.access import Access
from apps.agents.selectors import agents_visible_to
from apps.core.db.prepared_reads import any_viewer
from apps.core.db.sql import BlankParameter, Statement, array, statement_of_names
from apps.dashboard.site.navigation import AGENTS, APPROVALS, PLATFORM
from apps.payouts.services import approval_decisions, approval_rules
from apps.stores.models import Member
from apps.stores.notices import notifications

UNREAD = "unread"
THEME_COOKIE = "theme"
THEMES = ("light", "dark")


class Frame(NamedTuple):
    """`unused` is what this store has no use for yet: Settings lead to it, the side bar doesn't."""

    unused: set[str]
    unread_count: int


def frame_of(access: Access, member: Member) -> Frame:
    counts = _counts(access, member)
    used = {
        APPROVALS: bool(counts[APPROVALS]) and approval_decisions.are_shown(access),
        PLATFORM: access.store.is_platform,
        AGENTS: bool(counts[AGENTS]),
    }
    return Frame({name for name, is_used in used.items() if not is_used}, counts[UNREAD])


def _counts(access: Access, member: Member) -> Counter[str]:
    rows = _asking().rows(
        store_id=access.store_id,
        mode=access.mode,
        user_id=member.user_id,
        since=notifications.unread_since(member, access.mode),
        read_ids=array(member.read_ids),
    )
    return Counter(name for (name,) in rows)


@cache
def _asking() -> Statement:
    """Says the name of each that there is, UNREAD once for each notification."""
    viewer = any_viewer()
    unread = notifications.unread_by(
        viewer,
        BlankParameter("user_id", UUIDField()),
        BlankParameter("since", DateTimeField()),
        BlankParameter("read_ids", ArrayField(UUIDField())),
    )
    kinds: dict[str, QuerySet[Any]] = {
        UNREAD: unread,
        APPROVALS: approval_rules.rules_visible_to(viewer),
        AGENTS: agents_visible_to(viewer),
    }
    return statement_of_names(kinds, limit=notifications.UNREAD_MAX)


def theme_of(request: HttpRequest) -> str:
    """The theme that the person chose on this device; empty: the system's."""
    chosen = request.COOKIES.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else ""
