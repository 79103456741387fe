"""What statuses are called on pages, and in which tone: never told by color alone.

Each app has those of its nouns in `badges.py`; in `customer_badges.py` those that customers see,
whose words are translated.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from django.apps import apps
from django.utils.functional import Promise
from django.utils.module_loading import module_has_submodule
from django.utils.translation import gettext_lazy as _

from apps.core.tones import BAD, GOOD, QUIET, WAIT

Badges = Mapping[str, Mapping[str, tuple[str, str | Promise]]]
_MODULES = ("badges", "customer_badges")

# noun -> status -> (tone, words)
BADGES: Badges = {
    "mail": {
        "queued": (WAIT, _("Queued")),
        "sent": (GOOD, _("Sent")),
        "failed": (BAD, _("Failed")),
        "dropped": (QUIET, _("Dropped")),
    },
}


@cache
def all_badges() -> Badges:
    """Those of every app. A status missing there is shown as it is. Raises ValueError when two apps
    have the same noun."""
    badges_by_noun: dict[str, Mapping[str, tuple[str, str | Promise]]] = {}
    for config in apps.get_app_configs():
        for name in _MODULES:
            if not config.name.startswith("apps.") or not module_has_submodule(config.module, name):
                continue
            badges: Badges = import_module(f"{config.name}.{name}").BADGES
            if twice := set(badges) & set(badges_by_noun):
                raise ValueError(f"{config.name}: another app has badges of {sorted(twice)}")
            badges_by_noun |= badges
    return badges_by_noun
