"""THE table of the tools that a language model gets: each is one operation of the agent API.

tools.json has them as the protocol lists them, with the schemas of the API's description:
`manage.py mcp_tools` draws it up, and a test compares both.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from apps.core.messages.fields import Schema

FILE = Path(__file__).with_name("tools.json")
KEY = "idempotency_key"  # the argument that becomes the header of the same name


@dataclass(frozen=True)
class Tool:
    """`path` is below /api/v2/agentic and has arguments in braces. `wrapper` is the key of the body
    under which the other arguments go; `takes_key` requires an idempotency key."""

    name: str
    title: str
    method: str
    path: str
    description: str
    wrapper: str = ""
    takes_key: bool = False
    is_destructive: bool = False

    @property
    def reads(self) -> bool:
        return self.method == "GET"

    @property
    def hints(self) -> dict[str, bool]:
        """The protocol's annotations. A repeated call with the same arguments changes nothing
        more, for each tool: by its key, its reference or its nature."""
        if self.reads:
            return {"readOnlyHint": True, "openWorldHint": self.name == "get_market_data"}
        return {
            "readOnlyHint": False,
            "destructiveHint": self.is_destructive,
            "idempotentHint": True,
            "openWorldHint": self.is_destructive,
        }


TOOLS = (
    Tool(
        "create_payment",
        "Create a payment",
        "POST",
        "payments",
        "Request `amount` (major units, such as 12.50) of a fiat `currency`. The answer has"
        " hosted_url, the page on which the customer pays, and the deposit addresses.",
        wrapper="payment_intent",
        takes_key=True,
    ),
    Tool(
        "get_payment",
        "Retrieve a payment",
        "GET",
        "payments/{payment_id}",
        "One of this agent's payments, with its status and the received coins.",
    ),
    Tool(
        "list_payments", "List payments", "GET", "payments", "This agent's payments, newest first."
    ),
    Tool(
        "cancel_payment",
        "Cancel a payment",
        "POST",
        "payments/{payment_id}/cancel",
        "Cancel a payment on which nothing was paid.",
        is_destructive=True,
    ),
    Tool(
        "refund_payment",
        "Refund a payment",
        "POST",
        "payments/{payment_id}/refunds",
        "Send a payment's coins back to their sender: all of them, or `amount` coins of `asset_id`."
        " This can't be taken back.",
        takes_key=True,
        is_destructive=True,
    ),
    Tool(
        "list_refunds",
        "List refunds",
        "GET",
        "payments/{payment_id}/refunds",
        "The refunds of one payment.",
    ),
    Tool(
        "send_payout",
        "Send a payout",
        "POST",
        "payouts",
        "Send coins to an address. This can't be taken back. `amount_atomic` counts the asset's"
        " smallest units.",
        takes_key=True,
        is_destructive=True,
    ),
    Tool(
        "get_payout",
        "Retrieve a payout",
        "GET",
        "payouts/{payout_id}",
        "One of this agent's payouts.",
    ),
    Tool("list_payouts", "List payouts", "GET", "payouts", "This agent's payouts, newest first."),
    Tool(
        "get_payout_limits",
        "Retrieve payout limits",
        "GET",
        "payout_limits",
        "The largest single payout, the largest sum of a day, and what is left of it today.",
    ),
    Tool(
        "get_account",
        "Retrieve the account",
        "GET",
        "account",
        "The store and mode of this credential, and its scopes. Test mode moves no real money.",
    ),
    Tool(
        "get_balances", "Retrieve balances", "GET", "balances", "The store's balance of each asset."
    ),
    Tool(
        "get_exchange_rates",
        "List exchange rates",
        "GET",
        "exchange_rates",
        "The rates at which this service prices payments.",
    ),
    Tool(
        "list_tokens",
        "List tokens",
        "GET",
        "tokens",
        "The assets that customers can pay with, and those that the store could accept.",
    ),
    Tool(
        "set_token",
        "Accept or stop accepting a token",
        "PATCH",
        "tokens/{asset_id}",
        "Accept an asset for payments, or stop.",
    ),
    Tool(
        "get_market_data",
        "Retrieve market data",
        "GET",
        "market_data",
        "Public reference figures of a coin; not the rates that this service uses.",
    ),
    Tool(
        "create_mandate",
        "Create a mandate",
        "POST",
        "mandates",
        "Request a spending limit. The same mandate_ref is the same mandate.",
    ),
    Tool(
        "list_mandates",
        "List mandates",
        "GET",
        "mandates",
        "This agent's mandates; remaining_atomic is the amount that can still be drawn.",
    ),
    Tool("get_mandate", "Retrieve a mandate", "GET", "mandates/{mandate_id}", "One mandate."),
    Tool(
        "create_settlement",
        "Draw on a mandate",
        "POST",
        "x402/settlements",
        "Draw on a mandate to pay a service that answered 402. The coins are spent immediately.",
        takes_key=True,
        is_destructive=True,
    ),
    Tool(
        "list_settlements",
        "List settlements",
        "GET",
        "x402/settlements",
        "This agent's draws, newest first.",
    ),
    Tool(
        "get_settlement",
        "Retrieve a settlement",
        "GET",
        "x402/settlements/{settlement_id}",
        "One draw; submitted isn't final, confirmed and failed are.",
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


@cache
def listed() -> list[Schema]:
    """The answer to tools/list."""
    rows: list[Schema] = json.loads(FILE.read_text())
    return rows


@cache
def arguments_of(name: str) -> Schema:
    """The schema of each argument of a tool, by its name."""
    schema: Schema = next(row for row in listed() if row["name"] == name)["inputSchema"]
    return dict(schema["properties"])
