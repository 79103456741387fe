"""THE table of the dashboard's navigation: the sections of the side bar, and the entries that each
has as tabs."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from django.urls import reverse

from apps.stores import roles

APPROVALS = "approvals"
PLATFORM = "platform"
AGENTS = "agents"


@cache
def _address(name: str) -> str:
    """Each page of the dashboard asks for those of all entries; they never change."""
    return reverse(f"dashboard:{name}")


@dataclass(frozen=True)
class MenuEntry:
    """A tab. `name` is the page it opens; every page below its address belongs to it.

    Who lacks the `permission` isn't shown it. The tabs stand on its own page and on those of
    `pages`, not on records and forms, whose way back is their breadcrumb.
    """

    label: str
    name: str
    permission: str = roles.VIEW
    pages: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        return _address(self.name)

    def holds(self, path: str) -> bool:
        url = self.url
        return path == url or (self.name != "home" and path.startswith((f"{url}/", f"{url}.")))


@dataclass(frozen=True)
class MenuSection:
    """A line of the side bar, or of the person's menu. It opens the first entry that somebody may
    see."""

    label: str
    icon: str
    entries: tuple[MenuEntry, ...]
    is_divided: bool = False


_SETTINGS = (
    "settings_store",
    "settings_embedding",
    "settings_assets",
    "settings_auto_swap",
    "settings_branding",
    "settings_domain",
    "settings_cooling",
    "settings_approvals",
    "settings_account_codes",
)
_PAYOUTS = ("payout_batches", "payout_schedules", "payout_destinations")

SECTIONS: tuple[MenuSection, ...] = (
    MenuSection("Home", "home", (MenuEntry("Home", "home"),)),
    MenuSection(
        "Payments",
        "banknotes",
        (
            MenuEntry("Payments", "payments"),
            MenuEntry("Refunds", "refunds"),
            MenuEntry("Payment links", "links"),
            MenuEntry("Point of sale", "till", roles.PAY),
        ),
    ),
    MenuSection("Customers", "user-group", (MenuEntry("Customers", "customers"),)),
    MenuSection("Invoices", "document-text", (MenuEntry("Invoices", "invoices"),)),
    MenuSection(
        "Subscriptions",
        "arrow-path",
        (MenuEntry("Subscriptions", "subscriptions"), MenuEntry("Products", "products")),
    ),
    MenuSection(
        "Balances & payouts",
        "wallet",
        (
            MenuEntry("Balances", "balances"),
            MenuEntry("Payouts", "payouts", pages=_PAYOUTS),
            MenuEntry("Approvals", APPROVALS),
            MenuEntry("Swaps", "swaps"),
            MenuEntry("Statement", "statement", roles.KEEP_BOOKS),
            MenuEntry("Reports", "reports", roles.KEEP_BOOKS),
        ),
    ),
    MenuSection(
        "Platform",
        "building-storefront",
        (
            MenuEntry("Platform", PLATFORM),
            MenuEntry("Sub-merchants", "platform_accounts"),
            MenuEntry("Platform payments", "platform_payments"),
        ),
    ),
    MenuSection(
        "Agents",
        "cpu-chip",
        (
            MenuEntry("Agents", AGENTS, roles.INSPECT),
            MenuEntry("Mandates", "mandates", roles.INSPECT),
            MenuEntry("x402 payments", "x402", roles.INSPECT),
        ),
    ),
    MenuSection(
        "Developers",
        "code-bracket",
        (
            MenuEntry("API keys", "keys", roles.INSPECT),
            MenuEntry("Webhooks", "webhook_endpoints", roles.INSPECT),
            MenuEntry("Events", "events", roles.INSPECT),
            MenuEntry("Apps", "oauth_grants", roles.INSPECT, pages=("oauth_apps",)),
            MenuEntry("Request log", "request_log", roles.INSPECT),
            MenuEntry("Test clock", "test_clock", roles.INSPECT),
            MenuEntry("Test emails", "test_emails", roles.INSPECT),
        ),
        is_divided=True,
    ),
    MenuSection(
        "Settings",
        "cog-6-tooth",
        (
            MenuEntry("Store settings", "settings", pages=_SETTINGS),
            MenuEntry("Verification", "verification"),
            MenuEntry("Team", "members"),
            MenuEntry("Audit log", "audit_log", roles.MANAGE),
            MenuEntry("Features", "features"),
        ),
    ),
)

# Opened from the person's menu: what is theirs in every store.
ACCOUNT = MenuSection(
    "Your account",
    "shield-check",
    (
        MenuEntry("Account & security", "security"),
        MenuEntry("Profile", "profile"),
        MenuEntry("Notifications", "notifications"),
    ),
)


@dataclass(frozen=True)
class MenuLine:
    """A section or an entry as it is drawn."""

    label: str
    url: str
    icon: str = ""
    is_current: bool = False
    is_divided: bool = False


@dataclass(frozen=True)
class Menu:
    """The navigation of one page. `tabs` is empty where there is nothing to choose between.

    `back` is the list that the page belongs to: what stays open when the mode changes.
    """

    label: str
    sections: tuple[MenuLine, ...]
    tabs: tuple[MenuLine, ...]
    back: str


def menu_of(role: str, path: str, *, without: Collection[str] = ()) -> Menu:
    """What a member sees at `path`; `without` names entries that their store has no use for yet.

    A section whose first entry is named so is there only while one looks at it.
    """
    section, here = current(path)
    entries = {group.label: _shown(group, role, without) for group in (*SECTIONS, ACCOUNT)}
    lines = (
        _line(group, entries[group.label], is_current=group is section)
        for group in SECTIONS
        if entries[group.label] or group is section
    )
    tabs = (
        entries[section.label] if len(entries[section.label]) > 1 and _is_list(here, path) else ()
    )
    drawn = tuple(MenuLine(entry.label, entry.url, is_current=entry is here) for entry in tabs)
    return Menu(section.label, tuple(lines), drawn, here.url)


def pages_of(role: str) -> list[MenuLine]:
    """Every entry that a role may open, used or not, under the name it is looked for by."""
    pairs = [(group, entry) for group in (*SECTIONS, ACCOUNT) for entry in _shown(group, role, ())]
    return [MenuLine(entry.label, entry.url, section.icon) for section, entry in pairs]


def current(path: str) -> tuple[MenuSection, MenuEntry]:
    """Where a page belongs; home when it belongs to nothing."""
    every = [(section, entry) for section in (*SECTIONS, ACCOUNT) for entry in section.entries]
    holding = [pair for pair in every if pair[1].holds(path)]
    return max(holding, key=lambda pair: len(pair[1].url), default=every[0])


def _shown(section: MenuSection, role: str, without: Collection[str]) -> tuple[MenuEntry, ...]:
    if section.entries[0].name in without:
        return ()
    return tuple(
        entry
        for entry in section.entries
        if entry.name not in without and roles.may(role, entry.permission)
    )


def _line(section: MenuSection, entries: tuple[MenuEntry, ...], *, is_current: bool) -> MenuLine:
    first = entries[0] if entries else section.entries[0]
    return MenuLine(
        section.label, first.url, section.icon, is_current=is_current, is_divided=section.is_divided
    )


def _is_list(entry: MenuEntry, path: str) -> bool:
    return path in {entry.url, *map(_address, entry.pages)}
