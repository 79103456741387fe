"""Situations that take an operator, or seem to: a node that loses a receipt, blocks that are taken
back, blocks that are read again, coins that nothing explains."""

import json
from typing import Any

from apps.chain.keys.seeds import Seed
from apps.core.process.published_secrets import CHAIN_KEYS, DEMO_MNEMONIC
from dev.demo.chain import DemoWallet
from tests.situations.register import situation
from tests.situations.world import ETHER, TEST_DOLLARS, Shop, Story, World, until

# Of the demo's staff, for what takes two.
COLLEAGUE = "colleague@demo.example"
STILL_MISSING_SECONDS = 900.0
GOES_ON_SECONDS = 240.0
REORG_BLOCKS = 6
UNEXPLAINED_WEI = 7 * 10**15
SENT_BY = ("eth_getTransactionReceipt", "eth_getTransactionByHash")


@situation("a node loses a transaction of ours")
def receipt_missing(world: World) -> Story:
    """Its wallet halts after ten minutes, and goes on by itself."""
    shop = world.test_shop("Receipt")
    hot = Seed(DEMO_MNEMONIC).hot_key("test").address

    def lie(method: str, given: list[Any], result: Any) -> Any:
        is_ours = method in SENT_BY and result and result["from"].lower() == hot.lower()
        return None if is_ours else result

    story = shop.begin("Receipt")
    with world.test_network():
        story.pay()
        story.until("completed")
    with world.told(lie):
        shop.write(f"/payments/{story.id}/refunds", {"refund": {"amount": "0.001"}})
        until(lambda: halted(world), bool, "the wallet halts", STILL_MISSING_SECONDS)
        story.look()
        story.merchant.append(shop.merchant.read("attention"))
        story.program.append(json.dumps(story.refunds()))
    until(
        lambda: [item["status"] for item in story.refunds()],
        lambda found: found == ["confirmed"],
        "the refund is confirmed",
        GOES_ON_SECONDS,
    )
    until(lambda: halted(world), lambda is_so: not is_so, "the wallet goes on", GOES_ON_SECONDS)
    story.look()
    story.program.append(json.dumps(story.refunds()))
    return story


def halted(world: World) -> bool:
    wallets = json.loads(world.operator("sending", "show", "--json"))["hot_wallets"]
    return any(wallet["halted_at"] for wallet in wallets if wallet["network"] == "sepolia")


@situation("a confirmed deposit leaves the chain")
def leaves_the_chain(world: World) -> Story:
    shop = world.test_shop("Leaves")
    story = shop.begin("Leaves")
    with world.test_network() as network:
        assert story.payer
        network.pass_blocks(2 * REORG_BLOCKS)  # it stays rich
        sent = story.pay()
        raw = network.call("eth_getRawTransactionByHash", sent)
        story.until("completed")
        until(lambda: settled_twice(shop), bool, "its coins are booked")
        depth = network.height - network.block_of(sent) + 1
        story.check(depth < 2 * REORG_BLOCKS, f"it is {depth} blocks deep")
        network.call("anvil_reorg", depth, [])
        until(lambda: "transaction.failed" in told(story), bool, "the loss is told")
        story.look()
        story.merchant.append(shop.merchant.read("attention"))
        story.merchant.append(shop.merchant.read("notifications"))
        network.call("eth_sendRawTransaction", raw)
        until(
            lambda: shop.merchant.read("attention"),
            lambda page: "stopped for review" not in page,
            "the stop ends by itself",
            GOES_ON_SECONDS,
        )
    story.check(story.detail()["status"] == "completed", "it isn't complete any more")
    story.merchant.append(shop.merchant.read("notifications"))
    story.look()
    return story


def settled_twice(shop: Shop) -> bool:
    return bool(shop.api("GET", "/balances"))


def told(story: Story) -> set[str]:
    return {event["type"] for event in story.events()}


@situation("a block that was read without its logs is read again")
def read_again(world: World) -> Story:
    shop = world.test_shop("Again")
    story = shop.begin("Again")
    with world.test_network() as network, world.left_out():
        sent = story.pay(asset_id=TEST_DOLLARS)
        number = network.block_of(sent)
        network.pass_blocks(6)
    story.check(story.detail()["status"] == "pending", "it was found all the same")
    blocks = ("sepolia", str(number - 1), str(number + 1))
    told = world.operator("watch_chains", "--again", *blocks)
    story.check(f"block {number}: " in told and "1 deposit" in told, told)
    twice = world.operator("watch_chains", "--again", *blocks)
    story.check("No new deposits" in twice, twice)
    story.operator += [told, twice]
    story.until("completed")
    story.look()
    return story


@situation("coins that nothing explains")
def unexplained(world: World) -> Story:
    """A validator's withdrawal to a payment's address, and coins straight to the hot wallet."""
    story = world.shop.begin("Unexplained")
    to, _ = story.way()
    world.live.call("anvil_setBalance", to, hex(UNEXPLAINED_WEI))
    richest = DemoWallet(world.live.url, CHAIN_KEYS["live"])
    hot = Seed(DEMO_MNEMONIC).hot_key("live").address
    gift = richest.send(hot, ETHER)
    richest.receipt(gift)
    world.live.pass_blocks(13)
    found = world.demo.manage("verify_ledger", "--chain").stdout
    for words in (f"{to.lower()} +{UNEXPLAINED_WEI}", f"{hot.lower()} or corrections +{ETHER}"):
        story.check(words in found, f"the audit doesn't say {words}")
        story.operator.append(words)
    staff = ("--staff", world.demo.info["admin"]["email"])
    world.operator("treasury", "fund", "--network", "ethereum", "--hash", gift, *staff)
    story.operator.append(accept(world))
    left = world.demo.manage("verify_ledger", "--chain").stdout
    story.check("or corrections" not in left, "what was funded is still a finding")
    story.check(f"{to.lower()} +{UNEXPLAINED_WEI}" in left, "what isn't booked is no finding")
    correct(world, "unexplained", UNEXPLAINED_WEI)
    story.look()
    story.pay()
    story.until("completed")
    story.look()
    return story


def accept(world: World) -> str:
    """By the number that the staff site shows beside it."""
    for number in range(1, 20):
        words = ("--accept", str(number), "--reason", "A validator's withdrawal")
        run = world.demo.manage("watch_chains", *words)
        if run.returncode == 0:
            return run.stdout
    raise AssertionError("nothing waits to be accepted")


def correct(world: World, key: str, amount_atomic: int) -> None:
    """Coins at deposit addresses that are the service's from here on."""
    fields = {
        "--asset": "ETH",
        "--account": "custody_deposits",
        "--amount-atomic": str(-amount_atomic),
        "--reason": "A validator's withdrawal",
        "--key": key,
        "--staff": world.demo.info["admin"]["email"],
        "--approved-by": COLLEAGUE,
    }
    world.operator("treasury", "correct", *[word for pair in fields.items() for word in pair])
