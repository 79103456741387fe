"""The demo's platform: a market hall whose stalls take payments; one is verified, of the other a
person has yet to decide."""

from decimal import Decimal

from django.db import transaction

from apps.access.access import ACT, Access
from apps.assets.services import accept_all_active
from apps.payments.requests import EXPIRES_IN_MAX, PaymentRequest, SimulationRequest
from apps.payments.services.create import create_payment
from apps.payments.services.simulate import simulate_deposit
from apps.platforms.requests import AccountRequest, VerificationRequest
from apps.platforms.services.accounts import create_account
from apps.platforms.services.verifications import approve_verification, submit_verification
from apps.stores.models import Member, Store, User
from apps.stores.requests import StoreRequest
from apps.stores.services import change_store, create_store

NAME = "Demo Market"
VERIFIED = ("Olive Stall", "stall-1")
WAITING = ("Honey Stall", "stall-2")
SALES = (
    ("Olive oil 1 l", "18.50", True),
    ("Tasting box", "42.00", True),
    ("Olive wood board", "35.00", False),
)


def seed_platform(merchant: User) -> None:
    """The platform with its two sub-merchants, once."""
    if Member.objects.filter(user=merchant, store__is_platform=True).exists():
        return
    with transaction.atomic():
        platform = create_store(
            merchant,
            StoreRequest(name=NAME, country="IE", settlement_currency="EUR"),
            is_kyc_confirmed=True,
        )
        change_store(platform, is_platform=True, platform_fee_fraction=Decimal("0.015"))
        accept_all_active(platform)
    access = Access.for_session(merchant, platform, "test", proof=ACT)
    verified, waiting = (
        create_account(access, AccountRequest(name=name, external_id=id, country="IE"))[0]
        for name, id in (VERIFIED, WAITING)
    )
    approve_verification(
        submit_verification(
            verified,
            VerificationRequest(business_legal_name="Olive Stall Ltd", business_country="IE"),
        )
    )
    submit_verification(
        waiting, VerificationRequest(business_legal_name="Honey Stall Ltd", business_country="IE")
    )
    _sell(Access.for_session(merchant, Store.objects.get(pk=verified.pk), "test", proof=ACT))


def _sell(access: Access) -> None:
    for title, amount, is_paid in SALES:
        order = PaymentRequest(
            amount=amount, currency="EUR", title=title, expires_in=EXPIRES_IN_MAX
        )
        payment, _ = create_payment(access, order)
        if is_paid:
            simulate_deposit(access, payment, SimulationRequest())
