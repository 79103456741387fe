"""Onboarding links: a platform mints one, its sub-merchant opens it and fills in what it is for,
once.

Links live by the platform's clock in their mode. Finishing one is a compare-and-set beside the last
step, so it works once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from apps.access import credentials, operations, waiting_period
from apps.access.access import Access
from apps.assets.selectors import active_assets
from apps.core import clock
from apps.core.db import tenancy
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import Invalid
from apps.payouts.models import Destination
from apps.payouts.services.destinations import UnknownNetwork, add_bank, add_wallet
from apps.platforms.models import DestinationConfirmation, OnboardingLink
from apps.platforms.requests import OnboardingLinkRequest, OwnVerificationRequest
from apps.platforms.selectors import find_account
from apps.platforms.services import confirmations
from apps.platforms.services.verifications import submit_own
from apps.stores.auditing import audit
from apps.stores.models import Store, Verification

TOKEN_PREFIX = "svcob_"  # noqa: S105  # the name of a kind
SHOWN_LENGTH = 10
LIFETIME_DEFAULT = timedelta(days=7)
LIFETIME_MAX = timedelta(days=30)
_LIFETIME_MAX_SECONDS = int(LIFETIME_MAX.total_seconds())


class Unusable(Failure):
    """Used and unknown tokens get the same answer."""

    kind = RefusalKind.NOT_FOUND
    code = "onboarding_link_unusable"
    message = "This onboarding link can't be used anymore; ask for a new one"


class Expired(Unusable):
    kind = RefusalKind.GONE
    message = "This onboarding link has expired; ask for a new one"


class OutOfScope(Failure):
    """A link scoped to one step opens no other."""

    kind = RefusalKind.FORBIDDEN
    code = "onboarding_step_not_allowed"
    message = "This onboarding link is not for this step"


def account_for_link(access: Access, account_id: str) -> Store:
    """The account that they may mint a link for: asked before what of the link is read. Raises
    AccountNotFound."""
    operations.check(access, operations.LINK_CREATE)
    return find_account(access, account_id)


def mint_link(
    access: Access, account: Store, request: OnboardingLinkRequest
) -> tuple[OnboardingLink, str]:
    """A new link and its token, which is shown once."""
    operations.check(access, operations.LINK_CREATE)
    seconds = request.expires_in
    at = access.now()
    lifetime = (
        LIFETIME_DEFAULT
        if seconds is None
        else timedelta(seconds=min(seconds, _LIFETIME_MAX_SECONDS))
    )
    token = credentials.mint(TOKEN_PREFIX)
    with transaction.atomic():
        link: OnboardingLink = OnboardingLink.objects.create(
            store=access.store,
            mode=access.mode,
            account=account,
            purpose=request.purpose,
            return_url=request.return_url,
            token_hash=credentials.digest(token),
            token_prefix=token[:SHOWN_LENGTH],
            created_at=at,
            expires_at=at + lifetime,
        )
        details = {"purpose": link.purpose, "account": account.pk}
        audit.record(
            "onboarding_link.created",
            store=access.store,
            mode=access.mode,
            target=link,
            name=account.name,
            details=details,
        )
    return link, token


def open_link(token: str) -> OnboardingLink:
    """The link behind a token, while it can be used. Raises Unusable or Expired."""
    if not credentials.is_well_formed(token, TOKEN_PREFIX):
        raise Unusable
    rows = OnboardingLink.objects.filter(
        token_hash=credentials.digest(token), account__deleted_at=None, store__deleted_at=None
    )
    link: OnboardingLink | None = tenancy.opened(
        "an onboarding link", rows.select_related("store", "account__platform").first
    )
    if link is None or link.completed_at is not None:
        raise Unusable
    tenancy.narrow(link.store, link.account, modes=[link.mode])
    if link.expires_at <= now_of(link):
        raise Expired
    return link


def now_of(link: OnboardingLink) -> datetime:
    return clock.now(link.store, link.mode)


def has_business(link: OnboardingLink) -> bool:
    """True if nothing more is asked of the business now."""
    if link.account.kyc_confirmed_at is not None:
        return True
    return Verification.objects.filter(
        store=link.account, status=Verification.Status.PENDING
    ).exists()


def has_destination(link: OnboardingLink) -> bool:
    return Destination.objects.filter(store=link.account, mode=link.mode, removed_at=None).exists()


def tell_business(link: OnboardingLink, request: OwnVerificationRequest) -> bool:
    """Submit the business details and documents, as a store submits its own; whether that was the
    link's last step. Raises Unusable, OutOfScope or a refusal.

    In live mode they name a contact: without one nothing is ever sent to what the link names.
    """
    if not link.has_business_step:
        raise OutOfScope
    if link.is_live and not request.contact_email:
        raise Invalid("contact_email", "required")
    return _step(
        link,
        lambda: submit_own(link.account, request),
        link.purpose == link.Purpose.KYB or has_destination(link),
    )


@dataclass(frozen=True)
class NamedDestination:
    """Result of the destination step: whether it was the link's last one, and in live mode the
    question to its contact."""

    is_last: bool
    confirmation: DestinationConfirmation | None


def save_wallet(link: OnboardingLink, network: str, address: str) -> NamedDestination:
    """Save a wallet. Raises Unusable, OutOfScope or a refusal."""
    if network not in {asset.chain_id for asset in active_assets(link.mode)}:
        raise UnknownNetwork
    return _name(
        link, lambda until: add_wallet(link.account, link.mode, network, address, usable_from=until)
    )


def save_bank(link: OnboardingLink, currency: str, holder: str, account: str) -> NamedDestination:
    """Save a bank account, which staff verify. Raises Unusable, OutOfScope or a refusal."""

    def save(until: datetime | None) -> Destination:
        return add_bank(
            link.account,
            link.mode,
            currency=currency,
            holder=holder,
            account=account,
            usable_from=until,
        )

    return _name(link, save)


def _name(link: OnboardingLink, save: Callable[[datetime | None], Destination]) -> NamedDestination:
    """In live mode nothing is sent there before the business's contact was notified."""
    if not link.has_payout_step:
        raise OutOfScope
    rows: list[DestinationConfirmation] = []

    def act() -> None:
        saved = save(waiting_period.HELD if link.is_live else None)
        if link.is_live:
            rows.append(confirmations.begin(link, saved))

    is_last = _step(
        link, act, link.purpose == link.Purpose.PAYOUT_DESTINATION or has_business(link)
    )
    return NamedDestination(is_last, rows[0] if rows else None)


def _step(link: OnboardingLink, act: Callable[[], object], is_last: bool) -> bool:
    """Do a step under the link's lock, so that of two browsers only one does the last."""
    with transaction.atomic():
        _lock(link)
        act()
        if is_last:
            _complete(link)
    return is_last


def finish(link: OnboardingLink) -> None:
    """End a link whose steps have been shown elsewhere. Raises Unusable."""
    with transaction.atomic():
        _lock(link)
        _complete(link)


def is_finished(link: OnboardingLink) -> bool:
    """True if nothing is left to ask of its sub-merchant."""
    return (not link.has_business_step or has_business(link)) and (
        not link.has_payout_step or has_destination(link)
    )


def _lock(link: OnboardingLink) -> None:
    """The account is locked too: it can't be closed in the middle of a step."""
    if (
        not Store.objects.select_for_update(no_key=True)
        .filter(pk=link.account_id, deleted_at=None)
        .exists()
    ):
        raise Unusable
    if (
        not OnboardingLink.objects.select_for_update()
        .filter(pk=link.pk, completed_at=None)
        .exists()
    ):
        raise Unusable


def _complete(link: OnboardingLink) -> None:
    link.completed_at = now_of(link)
    OnboardingLink.objects.filter(pk=link.pk).update(completed_at=link.completed_at)
    audit.record(
        "onboarding_link.used",
        store=link.store_id,
        mode=link.mode,
        target=link,
        name=link.account.name,
    )
