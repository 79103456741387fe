"""Records that a running demo has no example of: written into its database once, for the pictures.

    .venv/bin/python -m tests.seldom

People whose roles allow little; approvals of payouts and requests of staff, waiting and decided; a
contact's confirmation, a payout limit, a transfer that matches no payment, coins that nothing
explains, a key and an agent whose makers may no longer do what they were given.
Prints the pages to see as JSON: who is signed in, a name, the path.
"""

import json
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dev import embedded

if TYPE_CHECKING:
    from apps.access.access import Access
    from apps.stores.models import Store

PASSWORD = "demo-seldom-2026"
SECRET = "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU"
# Whose sessions pages are seen in: of the demo's own people, and of those who are made here.
MERCHANT = "merchant"
STAFF = "staff"
APPROVER = "approver@demo.example"
VIEWER = "viewer@demo.example"
SUPPORT = "support-staff@demo.example"
HASH = "0x" + "7e57c01d" * 8
STALLS_OWNER = "olive@stall.example"


@dataclass(frozen=True)
class SeldomPage:
    """Where it is, and whose session it takes: an email address, or the demo's merchant or
    staff."""

    who: str
    name: str
    path: str


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    embedded.ensure()
    import django

    django.setup()
    from apps.stores.models import Member
    from dev.demo.people import MERCHANT as PERSON

    owned = Member.objects.filter(user__email=PERSON["email"], role="owner")
    store = owned.select_related("store").earliest("pk").store
    _people(store)
    pages = [*_of_payouts(store), *_of_staff(store), *_lost_makers(store), *_refusals(store)]
    print(json.dumps([asdict(page) for page in pages]))


def _people(store: "Store") -> None:
    from apps.access.factors import second_factor
    from apps.core import clock
    from apps.stores.models import Member, User
    from apps.stores.services import create_user

    for email, name in ((APPROVER, "Alma Admin"), (VIEWER, "Vera Viewer"), (SUPPORT, "Sue")):
        if User.objects.with_email(email) is None:
            person = create_user(email, PASSWORD, name=name, is_staff=email == SUPPORT)
            second_factor.switch_on(person, SECRET)
    User.objects.filter(email=SUPPORT).update(staff_roles=["support"])
    for email, role in ((APPROVER, "admin"), (VIEWER, "viewer")):
        Member.objects.get_or_create(
            store=store,
            user=User.objects.get(email=email),
            defaults={"role": role, "created_at": clock.real_now()},
        )


def _of_payouts(store: "Store") -> Iterator[SeldomPage]:
    """Under review, and approvals that wait and that are over."""
    from apps.payouts.models import Payout
    from apps.payouts.models.approvals import PayoutApproval

    if not PayoutApproval.objects.filter(store=store).exists():
        _decide_payouts(store)
    for approval in PayoutApproval.objects.filter(store=store):
        page = f"/dashboard/approvals/{approval.pk}"
        yield SeldomPage(MERCHANT, f"approval-{approval.status}", page)
        if approval.status == "waiting":
            yield SeldomPage(APPROVER, "approval-by-another", page)
            yield SeldomPage(APPROVER, "approval-reject", f"{page}/reject")
    yield SeldomPage(MERCHANT, "approvals-decided", "/dashboard/approvals?show=decided")
    for payout in Payout.objects.filter(store=store, status="requires_review"):
        kind = "waits-for-approval" if payout.approval_id else "under-review"
        page = f"/admin/payouts/payout/{payout.pk}"
        yield SeldomPage(MERCHANT, f"payout-{kind}", f"/dashboard/payouts/{payout.pk}")
        yield SeldomPage(STAFF, f"payout-{kind}-decision", f"{page}/decide/")
        yield SeldomPage(STAFF, f"payout-{kind}-record", f"{page}/change/")
        yield SeldomPage(STAFF, f"payout-{kind}-history", f"{page}/history/")


def _decide_payouts(store: "Store") -> None:
    """Three that need a second approval: one gets it, one is rejected, one waits."""
    from apps.access.access import ACT, Access
    from apps.ledger.selectors import balances
    from apps.payouts.models.approvals import PayoutApproval
    from apps.payouts.requests import PayoutRequest, RawAddress
    from apps.payouts.services import approval_decisions, approval_rules
    from apps.payouts.services.approvals import maker_of
    from apps.payouts.services.create import make_payout
    from apps.stores.models import User

    mine = _as_owner(store, "test")
    other = Access.for_session(User.objects.get(email=APPROVER), store, "test", proof=ACT)
    approval_rules.change_rule(mine, 0)
    amount = balances(store.pk, "test")["SETH"].available_atomic // 20
    for number in range(3):
        wish = PayoutRequest("SETH", amount, RawAddress("0x" + secrets.token_hex(20)))
        make_payout(mine, wish, f"seldom: {number}", maker=maker_of(mine), caller=mine.caller)
    approval_rules.change_rule(mine, None)
    first, second, _ = PayoutApproval.objects.filter(store=store).order_by("created_at")
    approval_decisions.approve(other, first, approval_decisions.digest_of(first))
    approval_decisions.reject(other, second, "We agreed on a smaller amount")


def _of_staff(store: "Store") -> Iterator[SeldomPage]:
    """Requests that wait and that are over, and records that the demo has none of."""
    from apps.chain.models import UnexplainedBalance, UnmatchedTransfer
    from apps.payouts.models import StorePayoutCap
    from apps.platforms.models import DestinationConfirmation
    from apps.stores.models import StaffRequest, Store
    from apps.stores.staff.staffing import ROLES

    makers: dict[Any, Callable[[Store], None]] = {
        StaffRequest: _request_things,
        UnmatchedTransfer: _receive_unmatched,
        UnexplainedBalance: _find_unexplained,
        StorePayoutCap: _limit_payouts,
        DestinationConfirmation: _confirm_contact,
    }
    for model, make in makers.items():
        if not model.objects.exists():
            make(store)
    for request in StaffRequest.objects.all():
        page = f"/admin/stores/staffrequest/{request.pk}/decide/"
        is_own = request.decided_by_id == request.asked_by_id
        name = f"request-{request.kind}-{'withdrawn' if is_own else request.state}"
        yield SeldomPage(STAFF, name, page)
        if request.state == "pending" and request.kind != ROLES.name:
            yield SeldomPage(SUPPORT, f"{name}-by-support", page)
    for model in (UnmatchedTransfer, UnexplainedBalance, StorePayoutCap, DestinationConfirmation):
        records = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        row: Any = model._base_manager.order_by("pk").first()
        yield SeldomPage(STAFF, f"{model._meta.model_name}-list", records)
        yield SeldomPage(STAFF, f"{model._meta.model_name}-record", f"{records}{row.pk}/change/")
        if model is UnmatchedTransfer:
            yield SeldomPage(STAFF, "unmatchedtransfer-outcome", f"{records}{row.pk}/resolve/")


def _request_things(store: "Store") -> None:
    """One request waits, one was rejected, one withdrawn."""
    from apps.core import clock
    from apps.stores.models import User
    from apps.stores.staff import four_eyes, staffing
    from apps.stores.staff.dispatch import request_dispatch
    from dev.demo.people import COLLEAGUE
    from dev.demo.people import STAFF as MEMBER

    at = clock.real_now()
    staff, colleague = (User.objects.get(email=person["email"]) for person in (MEMBER, COLLEAGUE))
    support = User.objects.get(email=SUPPORT)
    wish = staffing.wish_of(support, ["finance", "support"], "Takes over from Cleo in May")
    rejected = four_eyes.ask(staffing.ROLES, wish, colleague, at)
    four_eyes.reject(staffing.ROLES, rejected.pk, staff, at, reason="Finance has enough people")
    withdrawn = four_eyes.ask(staffing.ROLES, wish, staff, at)
    four_eyes.reject(staffing.ROLES, withdrawn.pk, staff, at)
    changes = {
        "x402_dispatch": True,
        "authorization_provider": "policy",
        "authorization_policy": {"agents_may_refund": False, "allowed_assets": ["SETH"]},
    }
    request_dispatch(store, changes, "They sell to agents from Monday on", colleague, at)


def _receive_unmatched(store: "Store") -> None:
    from apps.chain.models import UnmatchedTransfer
    from apps.core import clock
    from apps.payments.models import PaymentAddress

    address = PaymentAddress.objects.filter(payment__store=store, asset="SETH").first()
    assert address is not None
    UnmatchedTransfer.objects.create(
        chain_id="sepolia",
        asset_id="USDC_SETH",
        address=address.address,
        tx_hash=HASH,
        log_index=0,
        from_address="0x" + "a1" * 20,
        amount_atomic=25 * 10**6,
        block_number=1,
        reason="Another asset",
        detected_at=clock.real_now(),
    )


def _find_unexplained(store: "Store") -> None:
    """As a validator's withdrawal comes: once open, for the chain has it, and once accepted."""
    from django.conf import settings

    from apps.chain.models import UnexplainedBalance
    from apps.core import clock, local_chain
    from apps.payments.models import PaymentAddress

    addresses = PaymentAddress.objects.filter(payment__store=store, asset="SETH")
    at = clock.real_now()
    [url] = settings.CHAIN_URLS["sepolia"]
    for number, entry in enumerate(addresses.order_by("pk")[:2]):
        amount_atomic = (number + 1) * 7 * 10**15
        local_chain.call(url, "anvil_setBalance", entry.address_id, hex(amount_atomic))
        UnexplainedBalance.objects.create(
            address_id=entry.address_id,
            chain_id="sepolia",
            asset_id="SETH",
            block_number=number + 1,
            amount_atomic=amount_atomic,
            found_at=at,
            looked_at=at,
            settled_at=at if number else None,
            accepted_reason="A validator’s withdrawal, which pays for nothing" if number else "",
        )


def _lost_makers(store: "Store") -> Iterator[SeldomPage]:
    """A key and an agent of somebody who is a viewer by now."""
    from apps.access.models import AgentCredential, ApiKey
    from apps.access.services import create_agent_credential, create_api_key
    from apps.stores.models import User

    viewer = User.objects.get(email=VIEWER)
    for model, make, page in (
        (ApiKey, create_api_key, "api-keys"),
        (AgentCredential, create_agent_credential, "agents"),
    ):
        if not model._base_manager.filter(store=store, user=viewer).exists():
            row, _ = make(store, "test", name="Warehouse")
            model._base_manager.filter(pk=row.pk).update(user=viewer)
        lost = model._base_manager.filter(store=store, user=viewer).earliest("pk")
        yield SeldomPage(MERCHANT, f"{page}-lost", f"/dashboard/{page}")
        yield SeldomPage(MERCHANT, f"{page}-take-over", f"/dashboard/{page}/{lost.pk}/take-over")


def _limit_payouts(store: "Store") -> None:
    from apps.payouts.services.caps import set_store_cap

    set_store_cap(store, "SETH", per_tx_atomic=10**18, daily_atomic=5 * 10**18)


def _confirm_contact(_: "Store") -> None:
    """A live wallet that a link of the demo's platform named: its contact was notified."""
    from apps.platforms.requests import OnboardingLinkRequest
    from apps.platforms.services.onboarding import mint_link, save_wallet
    from apps.stores.models import Store, Verification
    from dev.demo.platforms import NAME, VERIFIED

    platform = Store.objects.get(name=NAME)
    account = Store.objects.get(platform=platform, name=VERIFIED[0])
    Verification.objects.filter(store=account).update(contact_email=STALLS_OWNER)
    wish = OnboardingLinkRequest(purpose="payout_destination")
    link, _token = mint_link(_as_owner(platform, "live"), account, wish)
    save_wallet(link, "ethereum", "0x" + secrets.token_hex(20))


def _as_owner(store: "Store", mode: str) -> "Access":
    from apps.access.access import ACT, Access
    from apps.stores.models import Member

    owner = Member.objects.filter(store=store, role="owner").earliest("pk").user
    return Access.for_session(owner, store, mode, proof=ACT)


def _refusals(store: "Store") -> Iterator[SeldomPage]:
    """Pages that a role doesn't allow."""
    yield SeldomPage(VIEWER, "not-allowed-page", "/dashboard/payouts/new")
    yield SeldomPage(VIEWER, "not-allowed-settings", "/dashboard/settings/approvals")
    yield SeldomPage(VIEWER, "not-allowed-team", "/dashboard/team")
    yield SeldomPage(SUPPORT, "not-allowed-request", "/admin/stores/staffrequest/ask/correction/")
    yield SeldomPage(SUPPORT, "not-allowed-sending", "/admin/sending/")
    yield SeldomPage(SUPPORT, "not-allowed-store", f"/admin/stores/store/{store.pk}/change/")
    yield SeldomPage(MERCHANT, "not-staff", "/admin/")


if __name__ == "__main__":
    main()
