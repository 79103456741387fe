"""THE table of the dashboard's navigation: the sections of the side bar, and the entries that each
has as tabs."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache

from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_noop as _

from apps.core.text.wording import translated
from apps.stores import roles

APPROVALS = "approvals"
PLATFORM = "platform"
AGENTS = "agents"
MENUS_KEPT_MAX = 1024


@cache
def _address(name: str) -> str:
    """Each page of the dashboard asks for those of all entries; they never change."""
    return reverse(f"dashboard:{name}")


@dataclass(frozen=True)
class MenuEntry:
    """A tab. `name` is the page it opens; every page below its address belongs to it.

    Who lacks the `permission` isn't shown it. The tabs are on its own page and on those of
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


# The pages of store settings, beside them on a desk and folded on a phone.
_SETTINGS = {
    "settings_store": _("Store details"),
    "settings": _("Checkout and fees"),
    "settings_assets": _("Accepted coins"),
    "settings_wallets": _("Wallets"),
    "settings_auto_swap": _("Automatic swaps"),
    "settings_branding": _("Branding"),
    "settings_domain": _("Domain"),
    "settings_embedding": _("Embedding"),
    "settings_btcpay": _("BTCPay API"),
    "settings_waiting": _("Waiting period"),
    "settings_approvals": _("Payout approval"),
    "settings_taxes": _("Taxes"),
    "settings_documents": _("Invoice numbers"),
    "settings_account_codes": _("Account codes"),
}
_PAYOUTS = ("payout_batches", "payout_schedules", "payout_destinations")

SECTIONS: tuple[MenuSection, ...] = (
    MenuSection(_("Home"), "home", (MenuEntry(_("Home"), "home"),)),
    MenuSection(
        _("Payments"),
        "banknotes",
        (
            MenuEntry(_("Payments"), "payments"),
            MenuEntry(_("Refunds"), "refunds"),
            MenuEntry(_("Payment links"), "links"),
            MenuEntry(_("Point of sale"), "till", roles.SELL),
        ),
    ),
    MenuSection(_("Customers"), "user-group", (MenuEntry(_("Customers"), "customers"),)),
    MenuSection(_("Invoices"), "document-text", (MenuEntry(_("Invoices"), "invoices"),)),
    MenuSection(
        _("Subscriptions"),
        "arrow-path",
        (MenuEntry(_("Subscriptions"), "subscriptions"), MenuEntry(_("Products"), "products")),
    ),
    MenuSection(
        _("Balances & payouts"),
        "wallet",
        (
            MenuEntry(_("Balances"), "balances"),
            MenuEntry(_("Payouts"), "payouts", pages=_PAYOUTS),
            MenuEntry(_("Approvals"), APPROVALS),
            MenuEntry(_("Swaps"), "swaps"),
            MenuEntry(_("Statement"), "statement", roles.KEEP_BOOKS),
            MenuEntry(_("Reports"), "reports", roles.KEEP_BOOKS),
        ),
    ),
    MenuSection(
        _("Platform"),
        "building-storefront",
        (
            MenuEntry(_("Platform"), PLATFORM),
            MenuEntry(_("Sub-merchants"), "platform_accounts"),
            MenuEntry(_("Platform payments"), "platform_payments"),
        ),
    ),
    MenuSection(
        _("Agents"),
        "cpu-chip",
        (
            MenuEntry(_("Agents"), AGENTS, roles.INSPECT),
            MenuEntry(_("Mandates"), "mandates", roles.INSPECT),
            MenuEntry("x402 payments", "x402", roles.INSPECT),
        ),
    ),
    MenuSection(
        _("Developers"),
        "code-bracket",
        (
            MenuEntry(_("API keys"), "keys", roles.INSPECT),
            MenuEntry(_("Webhooks"), "webhook_endpoints", roles.INSPECT),
            MenuEntry(_("Events"), "events", roles.INSPECT),
            MenuEntry(_("Apps"), "oauth_grants", roles.INSPECT, pages=("oauth_apps",)),
            MenuEntry(_("Request log"), "request_log", roles.INSPECT),
            MenuEntry(_("Test clock"), "test_clock", roles.INSPECT),
            MenuEntry(_("Test emails"), "test_emails", roles.INSPECT),
        ),
        is_divided=True,
    ),
    MenuSection(
        _("Settings"),
        "cog-6-tooth",
        (
            MenuEntry(_("Store settings"), "settings", pages=tuple(_SETTINGS)),
            MenuEntry(_("Verification"), "verification"),
            MenuEntry(_("Team"), "members"),
            MenuEntry(_("Audit log"), "audit_log", roles.MANAGE),
            MenuEntry(_("Features"), "features", pages=("settings_selling",)),
        ),
    ),
)

# Opened from the person's menu: what is theirs in every store.
ACCOUNT = MenuSection(
    _("Your account"),
    "shield-check",
    (
        MenuEntry(_("Account & security"), "security"),
        MenuEntry(_("Profile"), "profile"),
        MenuEntry(_("Notifications"), "notifications"),
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

    `pages` are those of store settings, on each of them. `back` is the list that the page belongs
    to: what stays open when the mode changes.
    """

    label: str
    sections: tuple[MenuLine, ...]
    tabs: tuple[MenuLine, ...]
    pages: tuple[MenuLine, ...]
    back: str


def menu_of(role: str, path: str, *, without: Collection[str] = ()) -> Menu:
    """A member's menu at `path`; `without` names entries that their store has no use for yet.

    A section whose first entry is named so is there only while one looks at it.
    """
    section, here = current(path)
    language = get_language() or ""
    settings_page = _settings_page(path)
    is_list = _is_list(here, path)
    return _menu(language, role, section, here, frozenset(without), settings_page, is_list=is_list)


# The same for everybody with the role: words and addresses alone.
@lru_cache(maxsize=MENUS_KEPT_MAX)
def _menu(
    language: str,
    role: str,
    section: MenuSection,
    here: MenuEntry,
    without: frozenset[str],
    settings_page: str,
    *,
    is_list: bool,
) -> Menu:
    entries = {group.label: _shown(group, role, without) for group in (*SECTIONS, ACCOUNT)}
    lines = (
        _line(group, entries[group.label], is_current=group is section)
        for group in SECTIONS
        if entries[group.label] or group is section
    )
    tabs = entries[section.label] if len(entries[section.label]) > 1 and is_list else ()
    drawn = tuple(
        MenuLine(translated(entry.label), entry.url, is_current=entry is here) for entry in tabs
    )
    return Menu(translated(section.label), tuple(lines), drawn, _settings(settings_page), here.url)


def pages_of(role: str) -> list[MenuLine]:
    """Every entry that a role may open, used or not, under the name it is looked for by."""
    pairs = [(group, entry) for group in (*SECTIONS, ACCOUNT) for entry in _shown(group, role, ())]
    return [MenuLine(translated(entry.label), entry.url, section.icon) for section, entry in pairs]


def current(path: str) -> tuple[MenuSection, MenuEntry]:
    """Section and entry of a page; home when it belongs to nothing."""
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
        translated(section.label),
        first.url,
        section.icon,
        is_current=is_current,
        is_divided=section.is_divided,
    )


def _settings_page(path: str) -> str:
    """The address of the page of store settings that this is or belongs to; empty elsewhere."""
    return max(
        (url for url in map(_address, _SETTINGS) if path.startswith(url)), key=len, default=""
    )


def _settings(page: str) -> tuple[MenuLine, ...]:
    if not page:
        return ()
    return tuple(
        MenuLine(translated(label), _address(name), is_current=_address(name) == page)
        for name, label in _SETTINGS.items()
    )


def _is_list(entry: MenuEntry, path: str) -> bool:
    return path in {entry.url, *map(_address, entry.pages)}
