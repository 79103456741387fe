"""How the acts are asked for that let somebody or something in: keys, apps, members and what opens
an account. Each with what there is of it, which is another once it is done."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django_otp_webauthn.models import WebAuthnCredential

from apps.access import pairing
from apps.access.authorization.apps import create_app
from apps.access.models import AgentCredential, ApiKey, Application, SecondFactor
from apps.access.requests import AppRequest
from apps.access.services import create_agent_credential, create_api_key
from apps.core import clock
from apps.platforms.models import OnboardingLink
from apps.stores.models import Invitation, Member, Role, Store
from tests.cast import Cast, join, person
from tests.dashboard.browse import Browser

Step = tuple[str, dict[str, Any]]
KEY = {"name": "Till", "key_type": "secret", "scopes": ["payouts:write"]}
APP = {
    "name": "Ledger",
    "redirect_uris": "https://app.example/other",
    "scopes": ["payments:read", "profile"],
}
# The code comes before the page: it is sent once, with a password or a new passkey in it.
CODE_FIRST = {"passkey_add", "security_email"}


def lost(world: Cast, room: str) -> Step:
    """Records that a viewer made when they could do more."""
    victor = person("victor")
    store = world.bakery.store
    join(store, victor, Role.VIEWER)
    make = create_api_key if room == "api-keys" else create_agent_credential
    row: Any = make(store, "test", scope_names=["payouts:write"])[0]
    type(row).objects.filter(pk=row.pk).update(user=victor)
    return f"{room}/{row.pk}/take-over", {}


def asking() -> str:
    """Path of the page that a client sends its owner to."""
    client, _ = pairing.begin("Harbor", pairing.client_id_of(b"\x02" * 33))
    return f"api-keys/pair?code={client.code}"


def pairing_of(world: Cast) -> Step:
    Store.objects.filter(pk=world.bakery.store.pk).update(has_compatible_apis=True)
    return asking(), {}


def app_of(world: Cast) -> Application:
    order = AppRequest(
        name="Books", redirect_uris=["https://app.example/back"], scopes=["payments:read"]
    )
    return create_app(world.bakery.store, world.alice, order)[0]


def sent_before(world: Cast) -> Step:
    at = clock.real_now()
    row = Invitation.objects.create(
        store=world.bakery.store,
        email="eve@example.com",
        role=Role.VIEWER,
        invited_by=world.alice,
        token_hash=b"x" * 32,
        created_at=at,
        sent_at=at - timedelta(hours=1),
        expires_at=at + timedelta(days=1),
    )
    return f"team/invitations/{row.pk}/resend", {}


def passkey(world: Cast) -> Step:
    row = WebAuthnCredential.objects.create(
        user=world.alice, name="Laptop", credential_id=b"\x00", public_key=b"k", aaguid=""
    )
    return f"security/passkeys/{row.pk}/remove", {}


def link(world: Cast) -> Step:
    store = world.bakery.store
    Store.objects.filter(pk=store.pk).update(is_platform=True)
    account = Store.objects.create(name="Corner", created_at=clock.real_now(), platform=store)
    fields = {"purpose": "kyb", "return_url": "https://shop.example", "expires_in": "86400"}
    return f"platform/accounts/{account.pk}/link", fields


def fixed(path: str, **fields: Any) -> Callable[[Cast, Browser], Step]:
    return lambda world, browser: (path.format(bob=world.bob.pk), fields)


TABLE: dict[str, tuple[Callable[[Cast, Browser], Step], Callable[[], object]]] = {
    "key_create": (fixed("api-keys/new", **KEY), ApiKey.objects.count),
    "key_pair": (lambda world, browser: pairing_of(world), ApiKey.objects.count),
    "key_take_over": (
        lambda world, browser: lost(world, "api-keys"),
        lambda: set(ApiKey.objects.values_list("user", "last_four")),
    ),
    "agent_take_over": (
        lambda world, browser: lost(world, "agents"),
        lambda: set(AgentCredential.objects.values_list("user", "last_four")),
    ),
    "oauth_app": (
        lambda world, browser: (f"apps/own/{app_of(world).pk}", APP),
        lambda: Application.objects.get().redirect_uris,
    ),
    "oauth_app_rotate": (
        lambda world, browser: (f"apps/own/{app_of(world).pk}/secret", {}),
        lambda: Application.objects.get().client_secret,
    ),
    "member_invite": (
        fixed("team/invite", email="dora@example.com", role="admin"),
        Invitation.objects.count,
    ),
    "invitation_resend": (
        lambda world, browser: sent_before(world),
        lambda: Invitation.objects.get().sent_at,
    ),
    "member_role": (
        fixed("team/{bob}/role", role="admin"),
        Member.objects.filter(role=Role.ADMIN).count,
    ),
    "member_hand_over": (
        fixed("team/{bob}/owner"),
        Member.objects.filter(role=Role.ADMIN).count,
    ),
    "platform_link_create": (lambda world, browser: link(world), OnboardingLink.objects.count),
    "test_data": (
        fixed("test-data", reset="all"),
        Store.objects.exclude(test_reset_at=None).count,
    ),
    "passkey_remove": (lambda world, browser: passkey(world), WebAuthnCredential.objects.count),
    "security_take_off": (fixed("security/authenticator/remove"), SecondFactor.objects.count),
    "security_codes": (
        fixed("security/backup-codes"),
        lambda: list(SecondFactor.objects.values_list("sealed_backup_codes")),
    ),
}
