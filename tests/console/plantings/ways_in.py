"""Changes of credentials, members and apps, and of what was stopped or removed.

Each with the invariant that must name it.
"""

from django_otp_webauthn.models import WebAuthnCredential

from apps.access.members import invitations
from apps.assets.models import Asset
from apps.chain.models import HotWallet
from apps.chain.sending import holds, hot_wallets
from apps.core import clock
from apps.payouts.services.destinations import add_wallet, remove_destination
from apps.stores.auditing import audit
from apps.stores.models import Member, Role
from apps.stores.staff.staffing import set_roles
from tests import make
from tests.cast import Shop, person
from tests.console.plantings.rows import again

WAYS_IN: dict[str, tuple[str, str]] = {
    "destination that was removed is paid": (
        "UPDATE payouts_destination SET removed_at = NULL WHERE removed_at IS NOT NULL",
        "removed_stay_removed",
    ),
    "invitation that nobody sent": (
        again(
            "stores_invitation",
            "true",
            id="gen_random_uuid()",
            store_id="(SELECT id FROM stores_store WHERE id <> t.store_id LIMIT 1)",
            token_hash="sha256('mine')",
        ),
        "ways_in_logged",
    ),
    "role of an invitation": (
        "UPDATE stores_invitation SET role = 'owner'",
        "ways_in_logged",
    ),
    "passkey that nobody added": (
        again(
            "django_otp_webauthn_webauthncredential",
            "true",
            id="t.id + 1",
            credential_id="'mine'",
            credential_id_sha256="encode(sha256('mine'), 'hex')",
        ),
        "ways_in_logged",
    ),
    "second factor taken off": (
        "DELETE FROM access_secondfactor WHERE user_id = (SELECT target_id::uuid FROM"
        " stores_auditentry WHERE action = 'second_factor.set_up' LIMIT 1)",
        "ways_in_logged",
    ),
    "roles of staff": (
        "UPDATE stores_user SET staff_roles = ARRAY['admin', 'finance'] WHERE id = (SELECT"
        " target_id::uuid FROM stores_auditentry WHERE action = 'staff.roles_changed' LIMIT 1)",
        "ways_in_logged",
    ),
    "member whom nobody let in": (
        again(
            "stores_member",
            "store_id = '{store}' AND role = 'owner'",
            id="(SELECT max(id) + 1 FROM stores_member)",
            user_id="(SELECT id FROM stores_user WHERE id NOT IN (SELECT user_id FROM stores_member"
            " WHERE store_id = t.store_id) LIMIT 1)",
        ),
        "members_joined",
    ),
    "member who was let in missing": (
        "DELETE FROM stores_member WHERE store_id = '{store}' AND role = 'developer'",
        "members_joined",
    ),
    "founder replaced": (
        "UPDATE stores_member SET user_id = (SELECT id FROM stores_user WHERE id NOT IN (SELECT"
        " user_id FROM stores_member) LIMIT 1) WHERE store_id = '{store}' AND role = 'owner'",
        "members_joined",
    ),
    "wallet that was halted goes on": (
        "UPDATE chain_hotwallet SET halted_at = NULL, halted_reason = '', halted_code = '' WHERE"
        " halted_at IS NOT NULL",
        "stops_stand",
    ),
    "hold on sending lifted": (
        "UPDATE chain_sendinghold SET lifted_at = now(), lift_reason = 'x'",
        "stops_stand",
    ),
    "hold on sending deleted": ("DELETE FROM chain_sendinghold", "stops_stand"),
    "address of a hot wallet": (
        f"UPDATE chain_hotwallet SET address = '0x{'7' * 40}' WHERE chain_id = 'ethereum'",
        "stops_stand",
    ),
}


def let_in(shop: Shop) -> None:
    """Somebody is invited, has a passkey and a second factor, and is staff."""
    at = clock.real_now()
    invitations.invite(shop.owner_access(), email="eve@example.com", role=Role.VIEWER, at=at)
    passkey = WebAuthnCredential.objects.create(
        user=shop.owner, name="Phone", credential_id=b"phone", public_key=b"key", aaguid=""
    )
    audit.record("passkey.added", target=passkey, name=passkey.name)
    audit.record("second_factor.set_up", target=shop.owner, name=shop.owner.email)
    set_roles(make.clerk(), ["support"])


def stop(shop: Shop) -> None:
    """A destination is removed, sending of a coin held, and a wallet halted."""
    at = clock.real_now()
    remove_destination(add_wallet(shop.store, "test", "ethereum", make.fresh_address()), at)
    holds.place(None, Asset.objects.get(pk="ETH_USDC"), "Its issuer asks", make.clerk("admin"), at)
    hot_wallets.halt(HotWallet.objects.get(chain_id="sepolia"), "Its key may be known", at)


def joined(shop: Shop, name: str) -> Member:
    """An admin, whom somebody has let in."""
    row = Member.objects.create(
        store=shop.store, user=person(name), role=Role.ADMIN, created_at=clock.real_now()
    )
    details = {"role": row.role}
    audit.record(
        "member.joined", store=shop.store, target=row.user, name=row.user.email, details=details
    )
    return row
