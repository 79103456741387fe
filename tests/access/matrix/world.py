"""A store that has one of everything in both modes."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from apps.access import credentials
from apps.access.authorization.validator import checksum
from apps.access.factors import second_factor
from apps.access.models import AccessToken, AgentCredential, ApiKey
from apps.access.services import create_agent_credential, create_api_key
from apps.agents.models import Mandate
from apps.assets.models import Asset
from apps.chain.models import Block, Deposit, Head, UnmatchedTransfer
from apps.core import clock
from apps.core.models import OutgoingMail
from apps.payouts.models import ApprovalRule, Payout, PayoutApproval, Schedule
from apps.payouts.services.approval_decisions import digest_of
from apps.payouts.services.batches import open_batch
from apps.payouts.services.destinations import add_wallet
from apps.stores.models import Invitation, Role, Store, User
from apps.stores.settings import write_settings
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.access.matrix.lines import ADDRESS, OTHER
from tests.cast import Api, Cast, assemble, join, person
from tests.contract.oauth.apps import App
from tests.dashboard.browse import Browser

COIN = {"test": "SETH", "live": "ETH"}
DOLLARS = {"test": "USDC_SETH", "live": "ETH_USDC"}
NETWORK = {"test": "sepolia", "live": "ethereum"}
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@dataclass
class World:
    """A store that has one of everything in both modes."""

    cast: Cast
    store: Store
    names: dict[str, dict[str, Any]]  # mode -> name -> id
    people: dict[tuple[str, bool], User]  # role, whether they have a second factor
    browsers: dict[tuple[str, bool], Browser]  # theirs

    def fill(self, value: Any, mode: str) -> Any:
        if isinstance(value, str):
            return value.format(**self.names[mode]) if "{" in value else value
        if isinstance(value, dict):
            return {name: self.fill(item, mode) for name, item in value.items()}
        return [self.fill(item, mode) for item in value] if isinstance(value, list) else value


def waiting(api: Api, coin: str) -> PayoutApproval:
    """A payout that waits for a second person, in a store whose other payouts need none."""
    store = Store.objects.get(name="Alice's Bakery")
    rule = ApprovalRule.objects.create(
        store=store,
        mode="test" if coin == "SETH" else "live",
        currency="EUR",
        above_cents=0,
        created_at=clock.real_now(),
        changed_at=clock.real_now(),
    )
    make.payout(api, 10**16, asset_id=coin)
    rule.delete()
    OutgoingMail.objects.all().delete()  # of what waits
    held: PayoutApproval = PayoutApproval.objects.select_related("store").get(mode=rule.mode)
    return held


def failed_payout(here: dict[str, Any], coin: str) -> Payout:
    """One whose outcome nobody knows yet."""
    return Payout.objects.create(
        **here,
        updated_at=here["created_at"],
        rail="crypto",
        asset_id=coin,
        amount_atomic=1,
        destination_address=OTHER.lower(),
        status="failed",
        is_outcome_unknown=True,
        idempotency_key="world",
    )


def weekly_schedule(here: dict[str, Any], coin: str) -> Schedule:
    return Schedule.objects.create(
        **here,
        updated_at=here["created_at"],
        asset_id=coin,
        frequency="weekly",
        destination_address=OTHER.lower(),
        minimum_fiat_currency="USD",
        next_payout_at=here["created_at"] + timedelta(days=7),
        anchor_day=1,
    )


def mandate_of(here: dict[str, Any], agent: AgentCredential, coin: str) -> Mandate:
    return Mandate.objects.create(
        **here,
        updated_at=here["created_at"],
        credential=agent,
        asset_id=coin,
        mandate_ref="books",
        scope="x402",
        total_cap_atomic=1,
        authorization_provider="policy",
        expires_at=here["created_at"] + timedelta(days=1),
    )


def stray_transfer(payment_id: str, mode: str, number: int) -> int:
    """Coins of another asset than was meant; in live mode a block has brought them."""
    transfer_id = make.stray_transfer(payment_id, DOLLARS[mode])
    if mode == "live":
        deposit = Deposit.objects.get(tx_hash=UnmatchedTransfer.objects.get(pk=transfer_id).tx_hash)
        at = clock.real_now()
        block = Block.objects.create(
            chain_id=deposit.chain_id,
            number=number,
            hash=f"0x{number:064x}",
            parent_hash=f"0x{number - 1:064x}",
            mined_at=at,
            scanned_at=at,
        )
        head = {"number": block.number + 99, "hash": "0x" + "f" * 64, "genesis_hash": "0x0"}
        head |= {"block_time": at, "synced_at": at}
        Head.objects.update_or_create(chain_id=block.chain_id, defaults=head)
        deposit.is_simulated, deposit.mined_at = False, at
        deposit.block_number, deposit.block_hash = block.number, block.hash
        deposit.save()
    return transfer_id


def of_mode(cast: Cast, mode: str) -> dict[str, Any]:
    shop = cast.bakery
    at = clock.real_now()
    store = shop.store
    coin = COIN[mode]
    here = {"store": store, "mode": mode, "created_at": at}
    make.store_coins(store, coin, 10**18)
    held = waiting(getattr(shop, mode), coin)
    viewer = person("victor")
    join(store, viewer, Role.VIEWER)
    lost = create_api_key(store, mode, scope_names=["payouts:write"])[0]
    ApiKey.objects.filter(pk=lost.pk).update(user=viewer)
    lost_agent = create_agent_credential(store, mode, scope_names=["payouts:write"])[0]
    AgentCredential.objects.filter(pk=lost_agent.pk).update(user=viewer)
    payout = failed_payout(here, coin)
    schedule = weekly_schedule(here, coin)
    raw = f"asset_id,amount,destination\n{coin},0.1,{ADDRESS}\n".encode()
    batch = open_batch(
        shop.access(mode), store, cast.alice, filename="a.csv", raw=raw, form_key=mode * 8
    )
    agent = create_agent_credential(store, mode)[0]
    mandate = mandate_of(here, agent, coin)
    ended = make.payment(getattr(shop, mode))["id"]
    deposit = make.late_deposit(ended)
    stray, other_stray = (make.payment(getattr(shop, mode)) for _ in range(2))
    transfer = stray_transfer(stray["id"], mode, 1)
    hook = register_endpoint(
        shop.access(mode),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.completed"]),
    )
    return {
        "mode": mode,
        "is_live": str(mode == "live").lower(),
        "coin": coin,
        "dollars": DOLLARS[mode],
        "network": NETWORK[mode],
        "unknown": str(uuid.uuid4()),
        "payout": payout.pk,
        "schedule": schedule.pk,
        "batch": batch.pk,
        "digest": batch.digest,
        "transfer": transfer,
        "transfer_payment": stray["id"],
        "transfer_hash": UnmatchedTransfer.objects.get(pk=transfer).tx_hash,
        "reference": stray["reference"],
        "other_transfer": stray_transfer(other_stray["id"], mode, 2),
        "payment": make.payment(getattr(shop, mode))["id"],
        "ended": ended,
        "deposit": deposit,
        "mandate": mandate.pk,
        "agent": agent.pk,
        "wallet": add_wallet(store, mode, NETWORK[mode], make.fresh_address()).pk,
        "key": create_api_key(store, mode, scope_names=["payments:read"])[0].pk,
        "lost": lost.pk,
        "lost_agent": lost_agent.pk,
        "hook": hook.endpoint.pk,
        "store": str(store.pk),
        "approval": held.pk,
        "agreed": digest_of(held),
    }


def token_of(user: User, store: Store, mode: str, app: App, scope: str) -> tuple[str, uuid.UUID]:
    """The access token of an app that somebody let in."""
    token = credentials.mint(credentials.OAUTH_ACCESS_PREFIX)
    family = uuid.uuid4()
    AccessToken.objects.create(
        application_id=app.id,
        user=user,
        store=store,
        mode=mode,
        token=token,
        token_checksum=checksum(token),
        scope=scope,
        expires=clock.real_now() + timedelta(hours=1),
        token_family=family,
    )
    return token, family


def one_of_everything() -> World:
    cast = assemble()
    store = cast.bakery.store
    at = clock.real_now()
    for number, pk in enumerate(("ETH_USDC", "USDC_SETH"), 1):
        Asset.objects.filter(pk=pk).update(contract_address=f"0x{number:040x}", is_active=True)
    Store.objects.filter(pk=store.pk).update(is_platform=True)
    write_settings(store, {"authorization_provider": "policy"})
    store.refresh_from_db()
    app = App(cast)
    people: dict[tuple[str, bool], User] = {}
    for role in Role.values:
        for has_factor in (False, True):
            user = people[role, has_factor] = person(role)
            join(store, user, role)
            if has_factor:
                second_factor.switch_on(user, SECRET)
    colleague = person("colleague")
    join(store, colleague, Role.DEVELOPER)
    invitation = Invitation.objects.create(
        store=store,
        email="eve@example.com",
        role=Role.VIEWER,
        invited_by=cast.alice,
        token_hash=b"x" * 32,
        created_at=at,
        sent_at=at - timedelta(hours=1),
        expires_at=at + timedelta(days=1),
    )
    account = Store.objects.create(name="Corner", created_at=at, platform=store)
    names = {}
    for mode in ("test", "live"):
        _, family = token_of(cast.alice, store, mode, app, "payments:read")
        shared = {
            "app": app.id,
            "client": app.client_id,
            "invitation": invitation.pk,
            "colleague": colleague.pk,
            "account": account.pk,
        }
        names[mode] = {**of_mode(cast, mode), **shared, "family": family}
    browsers = {who: Browser(user).known() for who, user in people.items()}
    return World(cast, store, names, people, browsers)
