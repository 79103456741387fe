"""People of the demo: a merchant with a store, and two members of the staff. Made once, found again
at the next start."""

from django.db import transaction
from msgspec import json
from msgspec.structs import replace

from apps.access.factors import second_factor
from apps.console.management.commands.create_store import StoreResult, open_store
from apps.stores.models import Member, Store, User
from apps.stores.requests import StoreRequest
from apps.stores.services import change_store, create_store, create_user

STORE_NAME = "Demo Coffee"
MERCHANT = {
    "email": "merchant@demo.example",
    "password": "demo-coffee-2026",
    "totp_secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
}
STAFF = {"email": "staff@demo.example", "password": "demo-staff-2026"}
# What takes two members of staff can be tried.
COLLEAGUE = {"email": "colleague@demo.example", "password": "demo-colleague-2026"}


@transaction.atomic
def open_demo_store() -> Store:
    """The demo's store, made with its people when it is not there.

    It is the merchant's first one: names and all else that the dashboard can change don't tell.
    """
    for person, name in ((STAFF, "Sam Staff"), (COLLEAGUE, "Cleo Colleague")):
        if User.objects.with_email(person["email"]) is None:
            create_user(person["email"], person["password"], name=name, is_staff=True)
    member = (
        Member.objects.filter(user__email=MERCHANT["email"])
        .select_related("store")
        .order_by("pk")
        .first()
    )
    if member is not None:
        return member.store
    merchant = create_user(MERCHANT["email"], MERCHANT["password"], name="Mira Merchant")
    second_factor.switch_on(merchant, MERCHANT["totp_secret"])
    store = create_store(
        merchant,
        StoreRequest(
            name=STORE_NAME,
            country="DE",
            settlement_currency="EUR",
            time_zone="Europe/Berlin",
        ),
        is_kyc_confirmed=True,
    )
    change_store(
        store,
        support_email="support@demo.example",
        support_phone="+49 30 5550100",
        card_funding_live=True,
        card_funding_test=True,
    )
    return store


def credentials(store: Store, content: bytes | None) -> StoreResult:
    """Output of `create_store`: the one kept since it was made (secrets are shown once), else new
    credentials."""
    stored = json.decode(content, type=StoreResult) if content is not None else None
    if stored is not None and stored.store.id == str(store.pk):
        return replace(stored, store=replace(stored.store, name=store.name))
    return open_store(store, User.objects.get(email=MERCHANT["email"]))
