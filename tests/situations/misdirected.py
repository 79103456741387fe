"""Coins that come late, in another coin, to nobody, or past a node that leaves them out."""

import re

from tests.situations.register import situation
from tests.situations.short import SHORTEST
from tests.situations.world import TEST_DOLLARS, Story, World, until

USDC = "ETH_USDC"
USDT = "ETH_USDT"


def undecided(story: Story) -> dict[str, object]:
    """The transaction about which the merchant has to decide, once it has confirmed."""
    found = until(
        lambda: [
            item
            for item in story.detail()["transactions"]
            if item["undecided"] and item["status"] == "confirmed"
        ],
        bool,
        f"what came for {story.title} waits for the merchant",
    )
    return dict(found[0])


@situation("late, and you accept it")
def late_accepted(world: World) -> Story:
    story = world.shop.begin("Late, accepted", **SHORTEST)
    story.deadline_passes()
    story.until("expired")
    story.pay()
    undecided(story)
    story.look()
    [late] = story.detail()["late_deposits"]
    path = f"payments/{story.id}/late-deposits/{late['id']}"
    story.merchant.append(world.shop.merchant.post(path, accept="1"))
    after = story.detail()
    story.check(after["status"] == "expired", f"it is {after['status']}")
    story.check(after["accepted_late_amount"] == "10.00", after["accepted_late_amount"])
    story.look()
    return story


@situation("late, and you send it back")
def late_returned(world: World) -> Story:
    story = world.shop.begin("Late, returned", **SHORTEST)
    story.deadline_passes()
    story.until("expired")
    _, due = story.way()
    story.pay()
    undecided(story)
    story.look()
    before = world.live.held(story.payer.address)
    world.shop.write(f"/payments/{story.id}/refunds", {})
    until(lambda: world.live.held(story.payer.address), lambda held: held == before + due, "back")
    story.until("refunded")
    story.look()
    return story


def swallowed(story: Story) -> str:
    """Send the amount of the dollars' address in the other dollars."""
    network = story.shop.network
    to, due = story.way(USDC)
    sent = story.payer.transfer(network.tokens[USDT], to, due)
    story.payer.receipt(sent)
    return sent


def accept_transfer(story: Story) -> str:
    """The press on the page of what came; what it says then."""
    path = until(story.transfer, bool, "the payment's page leads to what came")
    return story.shop.merchant.post(f"{path}/accept", payment=story.reference)


@situation("in another coin, while the payment is open")
def other_coin_open(world: World) -> Story:
    story = world.shop.begin("Other coin, open", amount="11.37")
    swallowed(story)
    until(lambda: story.detail()["transactions"], bool, "what came is shown")
    story.look()
    undecided(story)
    story.merchant.append(accept_transfer(story))
    story.until("completed")
    story.look()
    return story


@situation("in another coin, when it has ended")
def other_coin_ended(world: World) -> Story:
    story = world.shop.begin("Other coin, ended", amount="12.43", **SHORTEST)
    story.deadline_passes()
    story.until("expired")
    swallowed(story)
    undecided(story)
    story.look()
    story.merchant.append(accept_transfer(story))
    after = until(
        story.detail, lambda found: found["accepted_late_amount"] != "0.00", "it is accepted"
    )
    story.check(after["status"] == "expired", f"it is {after['status']}")
    story.look()
    return story


@situation("to a token's own contract")
def to_the_contract(world: World) -> Story:
    story = world.shop.begin("To the contract")
    token = world.live.tokens[USDC]
    _, due = story.way(USDC)
    sent = story.payer.transfer(token, token, due)
    story.payer.receipt(sent)
    world.live.pass_blocks(3)
    until(
        lambda: world.shop.visit(f"{story.page}/sent", transaction=sent),
        lambda page: "own contract" in page,
        "the customer is told where it went",
        60,
    )
    story.look()  # a later visit
    return story


@situation("a customer scans the code of a token")
def token_code(world: World) -> Story:
    story = world.shop.begin("Token code")
    chosen = f"?asset={USDC}"
    story.look(chosen)
    markup = world.shop.markup(f"{story.page}{chosen}")
    [current] = re.findall(r'<a id="code-(\w+)"[^>]*aria-current="true"', markup)
    story.check(current == "address", f"the code holds the {current}")
    entries = story.detail()["payment_addresses"]
    [entry] = [item for item in entries if item["supported_asset"]["asset_id"] == USDC]
    story.check(entry["qr_text"] == entry["address"], f"qr_text is {entry['qr_text']}")
    return story


@situation("a new quote is paid instead")
def new_quote(world: World) -> Story:
    story = world.shop.begin("New quote", order_id="A-77", **SHORTEST)
    story.deadline_passes()
    story.until("expired")
    story.look()
    world.shop.visit(f"{story.page}/quote", press="1")
    first = story.detail()
    story.look()
    later = Story.of(world.shop, first["renewed_as"], "New quote")
    later.pay()
    later.until("completed")
    later.look()
    story.check(later.detail()["order_id"] == "A-77", "it is another order")
    story.program += later.program
    story.merchant += later.merchant
    story.customer += later.customer
    return story


@situation("paid, and not shown")
def not_shown(world: World) -> Story:
    """The node leaves a block's logs out, and its header doesn't contradict it."""
    shop = world.test_shop("Not shown")
    story = shop.begin("Not shown")
    with world.test_network() as network, world.left_out():
        sent = story.pay(asset_id=TEST_DOLLARS)
        network.pass_blocks(6)
    story.check(story.detail()["status"] == "pending", "it was found all the same")
    story.names_transaction(sent)
    answer = shop.merchant.post(f"payments/{story.id}/transaction", transaction=sent)
    story.merchant += [answer, shop.merchant.read(f"payments/{story.id}")]
    story.until("completed")
    story.look()
    return story
