"""Less or more than is due, in the last minute, and what goes back."""

import html
import re
import time

from eth_account import Account
from eth_account.messages import encode_defunct

from tests.situations.contracts import FORWARDER, forwarding, wallet_code
from tests.situations.register import situation
from tests.situations.world import ETHER, Story, World, until, words

SHORTEST = {"expires_in": 300}
MINUTE_SECONDS = 60.0
DUST_WEI = 10**12
# From so many transactions on an account counts as an exchange's.
SHARED_TRANSACTIONS_MIN = 10_000
# Before the deadline, and in the block before it.
LAST_SECONDS = 7.0


def by_contract(story: Story, code: str, share: float = 0.5) -> str:
    """A contract sends a part; its address."""
    network = story.shop.network
    contract = network.contract(code)
    to, due = story.way()
    sent = story.payer.send(contract, int(due * share), forwarding(to))
    story.payer.receipt(sent)
    return contract


@situation("a contract or an exchange pays in the last minute")
def last_minute(world: World) -> Story:
    story = world.shop.begin("Last minute", **SHORTEST)
    contract = world.live.contract(FORWARDER)
    to, due = story.way()
    time.sleep(max(0.0, story.seconds_left() - LAST_SECONDS))
    sent = story.payer.send(contract, due, forwarding(to))
    story.payer.receipt(sent)
    story.deadline_passes()
    seen = set()

    def state() -> str:
        found = story.detail()
        seen.add(found["status"])
        if found["status"] == "processing":
            story.look()
        return str(found["status"])

    until(state, lambda status: status == "completed", "it completes", 2 * MINUTE_SECONDS)
    story.check(seen <= {"pending", "processing", "completed"}, f"it was {sorted(seen)}")
    story.look()
    events = [event["type"] for event in story.events()]
    story.check("payment_intent.expired" not in events, f"it was told as {events}")
    return story


@situation("less than the amount due")
def short(world: World) -> Story:
    story = world.shop.begin("Short")
    story.pay(0.5)
    story.until("processing_underpaid")
    story.look()
    story.pay(0.5, more=1)
    story.until("completed")
    return story


@situation("you accept what arrived")
def accepted_in_time(world: World) -> Story:
    story = world.shop.begin("Accepted in time")
    story.pay(0.6)
    story.until("processing_underpaid")
    story.confirmed()
    page = world.shop.merchant.post(f"payments/{story.id}/shortfall")
    story.merchant.append(page)
    story.until("completed")
    story.look()
    return story


@situation("you accept it after the deadline")
def accepted_later(world: World) -> Story:
    story = world.shop.begin("Accepted later", **SHORTEST)
    by_contract(story, FORWARDER, 0.6)
    story.until("processing_underpaid")
    story.deadline_passes()
    story.until("failed")
    until(lambda: story.detail()["needs_attention"], bool, "its refund is held")
    world.shop.write(f"/payments/{story.id}/accept_shortfall", {})
    after = story.detail()
    story.check(after["status"] == "failed", f"it is {after['status']}")
    story.check(after["accepted_late_amount"] == "6.00", after["accepted_late_amount"])
    story.look()
    return story


@situation("you give more time")
def more_time(world: World) -> Story:
    story = world.shop.begin("More time", **SHORTEST)
    story.pay(0.5)
    story.until("processing_underpaid")
    world.shop.write(f"/payments/{story.id}/extend", {"expires_in": 1200})
    story.look()
    story.deadline_passes()
    time.sleep(20)
    story.check(story.detail()["status"] == "processing", "it ended in spite of that")
    story.pay(0.5, more=1)
    story.until("completed")
    story.look()
    return story


@situation("more than is due, by less than the last digit that pages show of the coins")
def unseen_excess(world: World) -> Story:
    story = world.shop.begin("Unseen excess")
    story.pay(more=1000)
    story.until("completed")
    story.look()
    return story


@situation("more than that")
def excess(world: World) -> Story:
    story = world.shop.begin("Excess")
    story.pay(1.5)
    story.until("completed")
    story.look()
    return story


def held(world: World, title: str, **fields: object) -> Story:
    return world.shop.begin(title, **SHORTEST, **fields)


def refused(story: Story) -> None:
    """Time is up, and who paid has been looked at."""
    story.until("processing_underpaid")
    story.deadline_passes()
    story.until("failed")
    until(lambda: story.detail()["needs_attention"], bool, f"{story.title} needs somebody")


@situation("a contract paid what goes back, and you named the customer's email")
def by_email(world: World) -> Story:
    mailbox = "held@customer.example"
    story = held(world, "Held, email", metadata={"customer_email": mailbox})
    by_contract(story, FORWARDER)
    refused(story)
    story.look()
    [link] = re.findall(rf"{story.page}/refund/([\w=\r\n-]+)", world.shop.email(mailbox))[-1:]
    token = link.replace("=\r\n", "").replace("=\n", "").split()[0]
    to = world.live.fresh()
    path = f"{story.page}/refund/{token}"
    story.customer.append(world.shop.visit(path))
    story.customer.append(world.shop.visit(path, address=to))
    story.until("refunded")
    story.check(world.live.held(to) == story.way()[1] // 2, "the refund came in full")
    again = world.shop.visit(path, address=world.live.fresh())
    story.check("has expired or was used" in again, "the link works twice")
    story.look()
    return story


@situation("an exchange paid it, and no email is known")
def by_exchange(world: World) -> Story:
    story = held(world, "Held, exchange")
    world.live.call("anvil_setNonce", story.payer.address, hex(SHARED_TRANSACTIONS_MIN + 5))
    story.pay(0.5)
    refused(story)
    story.look()
    to = world.live.fresh()
    story.customer.append(world.shop.visit(f"{story.page}/refund-address", address=to))
    story.check(world.live.held(to) == 0, "an address that anybody may enter got coins")
    story.look()
    body = {"refund": {"destination_address": to}}
    world.shop.write(f"/payments/{story.id}/refunds", body)
    story.until("refunded")
    story.look()
    return story


@situation("a contract wallet paid it")
def by_signature(world: World) -> Story:
    owner = Account.create()
    story = held(world, "Held, wallet")
    wallet = world.live.contract(wallet_code(owner.address))
    to, due = story.way()
    world.live.block_of(world.live.send_as(wallet, to, due // 2))
    refused(story)
    story.look()
    home = world.live.fresh()
    path = f"{story.page}/refund-address"
    shown = world.shop.markup(path, address=home)
    [text] = re.findall(r"<pre[^>]*>(.*?)</pre>", shown, re.DOTALL)
    message = encode_defunct(text=html.unescape(text))
    wrong, signature = (
        "0x" + bytes(one.sign_message(message).signature).hex() for one in (Account.create(), owner)
    )
    fields = {"address": home, "payer": wallet}
    world.shop.visit(path, **fields, signature=wrong)
    story.check(story.refunds() == [], "a stranger's signature was taken")
    story.customer.append(words(shown))
    world.shop.visit(path, **fields, signature=signature)
    story.until("refunded")
    story.check(world.live.held(home) == due // 2, "the refund came in full")
    story.look()
    return story


@situation("you refund what a contract or an exchange paid")
def by_hand(world: World) -> Story:
    story = world.shop.begin("By hand")
    by_contract(story, FORWARDER, 1.0)
    story.until("completed")
    funds = world.shop.begin("By hand, funds", amount="20.00")
    funds.pay()
    funds.until("completed")
    story.merchant.append(world.shop.merchant.read(f"payments/{story.id}/refund"))
    url = f"{world.shop.base_url}/api/v2/payments/{story.id}/refunds"
    key = {"Idempotency-Key": story.id}
    answer = world.shop.api.session.post(url, json={}, headers=key, timeout=30)
    story.check(answer.status_code == 422, f"it answered {answer.status_code}")
    story.program.append(answer.text)
    to = world.live.fresh()
    world.shop.write(f"/payments/{story.id}/refunds", {"refund": {"destination_address": to}})
    story.until("refunded")
    story.check(world.live.held(to) == story.way()[1], "the refund came in full")
    story.look()
    return story


@situation("what came is worth less than sending it back costs")
def dust(world: World) -> Story:
    story = world.shop.begin("Dust", **SHORTEST)
    to, _ = story.way()
    story.payer.receipt(story.payer.send(to, DUST_WEI))
    refused(story)
    story.look()
    story.check(world.live.held(to) == DUST_WEI < ETHER, "it is still there")
    return story
