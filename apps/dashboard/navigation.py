"""THE table of the dashboard's rooms, in the order of the side bar."""

from dataclasses import dataclass

from django.urls import reverse

from apps.stores import roles

APPROVALS = "approvals"


@dataclass(frozen=True)
class Room:
    """`name` is the page it opens; every page below its address belongs to it. Who lacks the `permission` isn't shown it."""

    label: str
    icon: str
    name: str
    permission: str = roles.VIEW

    @property
    def url(self) -> str:
        return reverse(f"dashboard:{self.name}")


ROOMS: tuple[tuple[str, tuple[Room, ...]], ...] = (
    ("", (Room("Home", "home", "home"), Room("Payments", "banknotes", "payments"))),
    (
        "Money",
        (
            Room("Balances", "wallet", "balances"),
            Room("Payouts", "arrow-up-right", "payouts"),
            Room("Approvals", "check-badge", APPROVALS),
            Room("Swaps", "arrows-right-left", "swaps"),
        ),
    ),
    (
        "Billing",
        (
            Room("Invoices", "document-text", "invoices"),
            Room("Subscriptions", "arrow-path", "subscriptions"),
            Room("Customers", "user-group", "customers"),
            Room("Products", "cube", "products"),
        ),
    ),
    ("Platform", (Room("Sub-merchants", "building-storefront", "platform"),)),
    ("Books", (Room("Statement", "book-open", "statement"), Room("Reports", "document-chart-bar", "reports"))),
    (
        "Developers",
        (
            Room("API keys", "key", "keys", roles.INSPECT),
            Room("Webhooks", "bolt", "webhook_endpoints", roles.INSPECT),
            Room("Apps", "puzzle-piece", "oauth_grants", roles.INSPECT),
            Room("Agents", "cpu-chip", "agents", roles.INSPECT),
            Room("Request log", "queue-list", "request_log", roles.INSPECT),
        ),
    ),
    (
        "Settings",
        (
            Room("Store", "cog-6-tooth", "settings"),
            Room("Team", "users", "members"),
            Room("Audit log", "clipboard-document-list", "audit_log", roles.MANAGE),
            Room("Your account", "shield-check", "security"),
        ),
    ),
)


def rooms_of(role: str, *, without: str = "") -> list[tuple[str, list[Room]]]:
    """What the side bar shows to a role."""
    shown = [(label, [one for one in group if one.name != without and roles.may(role, one.permission)]) for label, group in ROOMS]
    return [(label, group) for label, group in shown if group]


def current(path: str) -> Room:
    """The room that a page belongs to; home when it belongs to none."""
    home = ROOMS[0][1][0]
    rooms = [room for _, group in ROOMS for room in group if room is not home]
    return next((room for room in rooms if path == room.url or path.startswith((f"{room.url}/", f"{room.url}."))), home)
