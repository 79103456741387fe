"""Agents whose signatures somebody else submits, or no block has in time."""

import json
from typing import Any

from tests.agents.paying import Payer
from tests.situations.contracts import carrying_out
from tests.situations.misdirected import USDC
from tests.situations.register import situation
from tests.situations.world import DOLLAR, Story, World

PRICE_ATOMIC = 2_500_000
RESOURCE = "https://shop.example/report"


def asked_and_signed(world: World) -> tuple[Story, dict[str, Any]]:
    """An offer of the store, and what an agent with coins has signed for it."""
    offer = {"asset_id": USDC, "amount_atomic": str(PRICE_ATOMIC), "resource": RESOURCE}
    asked = dict(world.shop.write("/x402/requirements", offer))
    story = Story.of(world.shop, asked["extra"]["paymentIntentId"], "Report")
    agent = Payer()
    token = world.live.tokens[USDC]
    story.payer.receipt(story.payer.mint(token, agent.address, 10 * DOLLAR))
    story.program.append(json.dumps(asked))
    return story, agent.signed(asked)


def settle(world: World, story: Story, body: dict[str, Any]) -> dict[str, Any]:
    """Answers to the seller, with the agent's part of them."""
    told = dict(world.shop.api("POST", "/x402/settle", body))
    story.program.append(json.dumps(told))
    return told


@situation("somebody else submits an agent's authorization")
def by_a_stranger(world: World) -> Story:
    story, body = asked_and_signed(world)
    token = world.live.tokens[USDC]
    payload = body["paymentPayload"]["payload"]
    sent = story.payer.send(token, data=carrying_out(payload))
    story.payer.receipt(sent)
    told = settle(world, story, body)
    story.check(told["success"] and told["transaction"] == sent, f"it was told as {told}")
    again = settle(world, story, body)
    story.check(not again["success"], "success was told twice")
    story.until("completed")
    left = world.live.held(payload["authorization"]["from"], token)
    story.check(left == 10 * DOLLAR - PRICE_ATOMIC, f"the agent has {left} left")
    story.look()
    return story


@situation("an agent's price is below what its gas costs")
def below_its_gas(world: World) -> Story:
    story, _ = asked_and_signed(world)
    supported = world.shop.api("GET", "/x402/supported")
    offer = {"asset_id": USDC, "amount_atomic": "1", "resource": RESOURCE}
    url = f"{world.shop.base_url}/api/v2/x402/requirements"
    answer = world.shop.api.session.post(url, json=offer, timeout=30)
    story.check(answer.status_code == 422, f"it answered {answer.status_code}")
    story.program += [json.dumps(supported), answer.text]
    story.look()
    return story
