"""Writes to people and stores: opening a store, adding a person, changing what staff decide."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_noop
from msgspec.structs import asdict

from apps.core import clock, emails
from apps.core.db.constraints import refused_by
from apps.core.db.sql import insert
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid, check_storable
from apps.core.text.vat_numbers import vat_number
from apps.core.text.wording import Worded
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import Currency, Member, Role, Store, User
from apps.stores.profile import UnknownZone, zone_names
from apps.stores.requests import StoreDetails, StoreRequest
from apps.stores.settings import values_of, write_settings
from apps.stores.staff_roles import ALL_ROLES

PASSWORD_LENGTH_MAX = 1024
ORIGINS_MAX = 20
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PORT = r"(?::[0-9]{1,5})?"
# Plain http only of this machine, where a shop is tried out.
_PHONE = re.compile(r"[0-9+(][0-9 ()./-]{2,49}", re.ASCII)
_ORIGIN = re.compile(
    rf"https://(?:{_LABEL}\.)*{_LABEL}{_PORT}|http://(?:localhost|127\.0\.0\.1){_PORT}"
)


class EmailTaken(Failure):
    field = "email"
    message = "A user with this email already exists"


class BadOrigin(Failure):
    field = "origins"
    message = "Each line must be an origin such as https://shop.example.com, without a path"


class TooManyOrigins(Failure):
    field = "origins"
    message = "At most 20 sites can be listed"


class BadPassword(Failure):
    """Refused password; the sentence names the fault."""

    field = "password"


def create_user(
    email: str, password: str, *, name: str = "", language: str = "", is_staff: bool = False
) -> User:
    """A person who can sign in; staff in every role. `language` is theirs until they choose
    another. Raises Failure when the address is malformed
    or taken."""
    try:
        email = emails.for_account(email)
    except Invalid as refusal:
        raise Failure(str(refusal)) from None
    if not password:
        raise Failure("password is required")
    user = User(
        email=email,
        name=name,
        language=language,
        is_staff=is_staff,
        staff_roles=sorted(ALL_ROLES) if is_staff else [],
    )
    user.set_password(password)
    with refused_by(User.EMAIL_ONCE, EmailTaken):
        user.save(force_insert=True)
    return user


def create_store(owner: User, request: StoreRequest, *, is_kyc_confirmed: bool = False) -> Store:
    """A store with its owner as the first member."""
    at = clock.real_now()
    with transaction.atomic():
        store = Store(
            name=request.name,
            country=request.country or "",
            settlement_currency=request.settlement_currency,
            time_zone=request.time_zone if request.time_zone in zone_names() else "",
            created_at=at,
            kyc_confirmed_at=at if is_kyc_confirmed else None,
        )
        insert(store)
        Member.objects.create(store=store, user=owner, role=Role.OWNER, created_at=at)
        audit.record(
            "store.opened",
            store=store,
            target=store,
            name=store.name,
            details={"owner": owner.email, "user": owner.pk},
        )
    return store


def change_store(store: Store, **changes: Any) -> Store:
    """Set columns of the store and of its settings, which have been checked by the caller."""
    return change_store_for(store, "", changes)


def change_store_for(store: Store, reason: str, changes: Mapping[str, Any]) -> Store:
    """Changes a store for staff, with a reason."""
    differences = audit.differences(values_of(store, list(changes)), changes)
    with transaction.atomic():
        write_settings(store, changes)
        if differences:
            audit.record(
                "store.changed",
                store=store,
                target=store,
                name=store.name,
                reason=reason,
                details=differences,
            )
    return store


# Who the seller is on invoices and for tax offices.
SELLER_FIELDS = (
    "legal_name",
    "street",
    "postal_code",
    "city",
    "country",
    "vat_number",
    "register_number",
)


class OnlyOwnersChangeSeller(Failure):
    message = "Only owners can change who the seller is"


def change_details(store: Store, request: StoreDetails, *, is_owner: bool = True) -> Store:
    """Invoices that are finalized from now on say so. Others than owners leave out who the seller
    is, which stays. Raises UnknownZone, OnlyOwnersChangeSeller or Invalid."""
    if request.time_zone and request.time_zone not in zone_names():
        raise UnknownZone
    changes = {name: value or "" for name, value in asdict(request).items()}
    if not is_owner:
        for name in SELLER_FIELDS:
            if changes[name] and changes[name] != getattr(store, name):
                raise OnlyOwnersChangeSeller(field=name)
            changes[name] = getattr(store, name)
    elif changes["vat_number"]:
        changes["vat_number"] = vat_number(changes["vat_number"], changes["country"])
    return change_store(store, **changes)


def change_embedding(store: Store, origins: Sequence[str]) -> Store:
    """The sites that may frame the store's checkout; none listed: any site. Raises BadOrigin or
    TooManyOrigins."""
    allowed_origins = list(dict.fromkeys(origin.lower().rstrip("/") for origin in origins))
    if any(_ORIGIN.fullmatch(origin) is None for origin in allowed_origins):
        raise BadOrigin
    if len(allowed_origins) > ORIGINS_MAX:
        raise TooManyOrigins
    return change_store(store, embed_origins=allowed_origins)


def change_checkout(
    store: Store,
    *,
    settlement_currency: str,
    support_email: str,
    support_phone: str,
    customer_pays_fee: bool,
    accept_overpayments: bool,
    accept_underpayments: bool,
    offers_new_quotes: bool,
    publishable_key_amounts: bool,
) -> Store:
    """Changes a merchant's settings of payments made from now on. Raises Failure when a value is
    malformed."""
    if settlement_currency not in Currency.values:
        raise Failure(
            Worded(
                "Unsupported settlement currency: {settlement_currency}",
                settlement_currency=settlement_currency,
            ),
            field="settlement_currency",
        )
    if support_email:
        try:
            validate_email(support_email)
        except ValidationError:
            raise Failure(
                "The support email is not an email address", field="support_email"
            ) from None
    if support_phone and _PHONE.fullmatch(support_phone) is None:
        raise Failure("The phone number isn’t one", field="support_phone")
    return change_store(
        store,
        settlement_currency=settlement_currency,
        support_email=support_email,
        support_phone=support_phone,
        customer_pays_fee=customer_pays_fee,
        accept_overpayments=accept_overpayments,
        accept_underpayments=accept_underpayments,
        offers_new_quotes=offers_new_quotes,
        publishable_key_amounts=publishable_key_amounts,
    )


def change_password(user: User, password: str) -> None:
    """A new password; every session ends. Raises Failure with what is wrong with it."""
    check_password(password, user)
    user.set_password(password)
    with transaction.atomic():
        user.save(update_fields=["password"])
        sign_out_everywhere(user)
        audit.record("password.changed", target=user, name=user.email)
        account_emails.tell(user, gettext_noop("Your password was changed"))


def check_password(password: str, user: User) -> None:
    """Refuses an unfit password. Raises BadPassword."""
    try:
        check_storable(password)
        validate_password(password, user)
    except Invalid:
        raise BadPassword("password contains characters that can't be stored") from None
    except ValidationError as refusal:
        raise BadPassword(" ".join(refusal.messages)) from None
    if len(password) > PASSWORD_LENGTH_MAX:
        raise BadPassword(
            Worded(
                "This password is too long. It may have {maximum} characters.",
                maximum=PASSWORD_LENGTH_MAX,
            )
        )


def sign_out_everywhere(user: User) -> None:
    """End every session of a person; the caller keeps its own with `update_session_auth_hash`."""
    User.objects.filter(pk=user.pk).update(session_version=F("session_version") + 1)
    user.refresh_from_db(fields=["session_version"])
