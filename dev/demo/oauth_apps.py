"""The demo's OAuth apps, with client ids that never change: a workflow tool, an MCP client and a
shop are connected without a form.

Public clients with PKCE: there is no secret that could be known to everybody. They exist in the
demo alone.
"""

from dataclasses import dataclass

from django.db import transaction

from apps.access.authorization.apps import create_app
from apps.access.models import Application
from apps.access.requests import AppRequest
from apps.stores.models import Store, User

SHOP_SCOPES = (
    "payments:read",
    "payments:write",
    "refunds:read",
    "refunds:write",
    "webhooks:read",
    "webhooks:write",
)
ALL_DAY = ("profile", "offline_access")


@dataclass(frozen=True)
class KnownApp:
    client_id: str
    name: str
    redirect_uris: tuple[str, ...]
    scopes: tuple[str, ...]


# Where such programs listen when they run on the same machine. On 127.0.0.1 the port may be any.
APPS = (
    KnownApp(
        "tillgate-demo-workflow",
        "Workflow tool",
        (
            "http://localhost:5678/rest/oauth2-credential/callback",
            "http://127.0.0.1/rest/oauth2-credential/callback",
        ),
        (*SHOP_SCOPES, "balances:read", "billing:read", "billing:write", "payouts:read", *ALL_DAY),
    ),
    KnownApp(
        "tillgate-demo-mcp",
        "MCP client",
        ("http://localhost:6274/oauth/callback", "http://127.0.0.1/callback"),
        ("payments:read", "payments:write", "balances:read", "agents:write", *ALL_DAY),
    ),
    KnownApp(
        "tillgate-demo-shop",
        "Shop plugin",
        ("http://localhost:8080/wc-api/tillgate/", "http://127.0.0.1/callback"),
        (*SHOP_SCOPES, *ALL_DAY),
    ),
)


def seed_apps(store: Store, merchant: User) -> None:
    """Those that aren't there yet."""
    there = set(Application.objects.values_list("client_id", flat=True))
    for sample in APPS:
        if sample.client_id in there:
            continue
        order = AppRequest(
            name=sample.name,
            confidential=False,
            redirect_uris=list(sample.redirect_uris),
            scopes=list(sample.scopes),
        )
        with transaction.atomic():
            app, _ = create_app(store, merchant, order)
            app.client_id = sample.client_id
            app.save(update_fields=["client_id"])
