"""A token whose issuer stops it, and what costs more than it brings: each has the live network for
itself."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from apps.chain.keys.seeds import Seed
from apps.core.process.published_secrets import DEMO_MNEMONIC
from dev.anvil import BLOCK_SECONDS
from tests.situations.agents import asked_and_signed, settle
from tests.situations.contracts import stopped_token
from tests.situations.misdirected import USDC
from tests.situations.register import situation
from tests.situations.short import SHORTEST
from tests.situations.world import DOLLAR, Story, World, until

DEAR_WEI = 200 * 10**9
USUAL_WEI = 10**9
BLOCK_PART_SECONDS = 0.5
# A token's stop is looked for once a minute, and what waits for it goes on after five.
GOES_ON_SECONDS = 600.0


@contextmanager
def stopped(world: World, *frozen: str, is_lying: bool = False) -> Iterator[None]:
    """The issuer refuses everybody, or these holders."""
    token = world.live.tokens[USDC]
    code = world.live.call("eth_getCode", token, "latest")
    implementation = world.live.contract(code)
    other = stopped_token(implementation, frozen, is_lying=is_lying)
    world.live.call("anvil_setCode", token, other)
    try:
        yield
    finally:
        world.live.call("anvil_setCode", token, code)


def hot_wallet() -> str:
    return Seed(DEMO_MNEMONIC).hot_key("live").address


def offered(world: World) -> set[str]:
    made = world.shop.api.payment()
    return {item["supported_asset"]["asset_id"] for item in made["payment_addresses"]}


def pay_out(world: World, to: str, dollars: int = 2) -> dict[str, Any]:
    body = {"asset_id": USDC, "amount_atomic": str(dollars * DOLLAR), "destination_address": to}
    return dict(world.shop.write("/payouts", body))


def payout(world: World, made: dict[str, Any]) -> dict[str, Any]:
    return dict(world.shop.api("GET", f"/payouts/{made['id']}"))


def waits(world: World, story: Story, *frozen: str) -> Story:
    """A payout waits while the token is stopped, and goes on by itself."""
    to = world.live.fresh()
    with stopped(world, *frozen):
        made = pay_out(world, to)
        told = until(
            lambda: payout(world, made),
            lambda found: bool(found["pending_reason"]),
            "the payout says why it waits",
        )
        story.program.append(json.dumps(told))
        until(lambda: offered(world), lambda assets: USDC not in assets, "it isn't offered")
        story.look()
        story.merchant.append(world.shop.merchant.read(f"payouts/{made['id']}"))
    until(lambda: offered(world), lambda assets: USDC in assets, "it is offered again")
    done = until(
        lambda: payout(world, made),
        lambda found: found["status"] == "confirmed",
        "the payout went on",
        GOES_ON_SECONDS,
    )
    story.check(world.live.held(to, world.live.tokens[USDC]) == 2 * DOLLAR, f"arrived: {done}")
    return story


def with_dollars(world: World, title: str, **fields: Any) -> Story:
    """The store has dollars of its own to pay out."""
    funds = world.shop.begin(f"{title}, funds", amount="50.00")
    funds.pay(asset_id=USDC)
    funds.until("completed")
    return world.shop.begin(title, **fields)


@situation("the issuer stops a token", is_alone=True)
def paused(world: World) -> Story:
    return waits(world, with_dollars(world, "Paused"))


@situation("the issuer freezes our wallet", is_alone=True)
def wallet_frozen(world: World) -> Story:
    return waits(world, with_dollars(world, "Wallet frozen"), hot_wallet())


@situation("the issuer freezes whom a refund or payout goes to", is_alone=True)
def recipient_frozen(world: World) -> Story:
    story = with_dollars(world, "Recipient frozen", **SHORTEST)
    story.pay(0.5, asset_id=USDC)
    story.until("processing_underpaid")
    to = world.live.fresh()
    with stopped(world, story.payer.address, to):
        made = pay_out(world, to)
        failed = until(
            lambda: payout(world, made), lambda found: found["status"] == "failed", "it fails"
        )
        story.program.append(json.dumps(failed))
        story.merchant.append(world.shop.merchant.read("attention"))
        story.deadline_passes()
        story.until("failed")
        until(
            lambda: story.detail()["needs_attention"], bool, "the refund that was refused is held"
        )
        story.look()
        assets = offered(world)
        story.check(USDC in assets, "the token isn't offered to anybody")
    return story


@situation("a token says that it has moved coins, and hasn't", is_alone=True)
def lying(world: World) -> Story:
    story = with_dollars(world, "Lying token")
    to = world.live.fresh()
    with stopped(world, is_lying=True):
        made = pay_out(world, to)
        held = until(
            lambda: payout(world, made),
            lambda found: found["status"] == "requires_review",
            "the payout is looked at by a person",
        )
        story.program.append(json.dumps(held))
        story.merchant.append(world.shop.merchant.read("attention"))
    [row] = json.loads(world.operator("sending", "show", "--json"))["in_review"]
    world.operator("sending", "unsent", row["id"])
    failed = until(
        lambda: payout(world, made), lambda found: found["status"] == "failed", "it failed"
    )
    story.program.append(json.dumps(failed))
    story.check(world.live.held(to, world.live.tokens[USDC]) == 0, "something arrived")
    story.look()
    return story


@situation("no block has an agent's payment in time", is_alone=True)
def no_block_in_time(world: World) -> Story:
    story, body = asked_and_signed(world)
    world.live.call("evm_setIntervalMining", 0)
    try:
        told = settle(world, story, body)
        story.check(told["errorReason"] == "settlement_pending", f"it was told as {told}")
        story.look()
    finally:
        world.live.call("evm_setIntervalMining", BLOCK_SECONDS)
    story.until("completed")
    story.look()
    return story


class DearGas:
    """Every block costs so much, until it ends."""

    def __init__(self, world: World, price_wei: int) -> None:
        self._network = world.live
        self._price_wei = price_wei
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._hold, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self._network.call("anvil_setNextBlockBaseFeePerGas", hex(USUAL_WEI))

    def _hold(self) -> None:
        while not self._end.wait(BLOCK_PART_SECONDS):
            self._network.call("anvil_setNextBlockBaseFeePerGas", hex(self._price_wei))


@situation("bringing coins together costs more than they are worth", is_alone=True)
def dear_sweep(world: World) -> Story:
    story = world.shop.begin("Dear sweep", amount="60.00")  # above the least that is swept
    to, due = story.way(USDC)
    story.pay(asset_id=USDC)
    token = world.live.tokens[USDC]
    with DearGas(world, DEAR_WEI):
        story.until("completed")
        story.look()
        world.live.pass_blocks(3)
        story.operator.append(world.operator("sweep"))
        world.live.pass_blocks(6)
        story.check(world.live.held(to, token) == due, "it was swept at a loss")
        story.check(world.live.held(to) == 0, "gas was sent ahead")
    world.live.pass_blocks(3)

    def left() -> int:
        world.operator("sweep")
        return world.live.held(to, token)

    until(left, lambda held: held == 0, "it is swept once that pays", GOES_ON_SECONDS)
    return story
