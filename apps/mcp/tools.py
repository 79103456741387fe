"""The tools that a language model gets: each is one operation of the agent API, and its docstring
is what the model reads.

Amounts are strings. What moves money takes an idempotency_key: the same key is the same act,
however often it is asked for. A tool takes no argument that it doesn't list (decision 639).
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from apps.agents.requests.mandates import (
    DEFAULT_SCOPE,
    EXPIRES_IN_DEFAULT,
    MandateBody,
    SettlementBody,
)
from apps.agents.requests.payments import AgentPayment, AgentPayout, AgentRefund, TokenChange
from apps.core.messages.documents import FreeForm
from apps.core.messages.requests import NAME_MAX, nearest
from apps.mcp.providers.agent_api import AgentAnswer, AgentApi, PaymentBody
from apps.payments.requests import EXPIRES_IN_DEFAULT as PAYMENT_EXPIRES_IN

Tool = Callable[..., AgentAnswer]


class ToolServer(MCPServer):
    """Refuses arguments that a tool doesn't list: one that is misspelled may be the amount."""

    def __init__(self, *tools: Tool, instructions: str) -> None:
        super().__init__("tillgate", instructions=instructions)
        self._arguments = {
            tool.__name__: list(inspect.signature(tool).parameters) for tool in tools
        }
        for tool in tools:
            self.add_tool(tool)

    async def list_tools(self) -> list[Any]:
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema["additionalProperties"] = False
        return tools

    async def call_tool(
        self, name: str, arguments: Mapping[str, object], context: Any = None
    ) -> Any:
        listed = self._arguments.get(name, [*arguments])
        unknown = next((argument for argument in arguments if argument not in listed), None)
        if unknown is not None:
            near = nearest(unknown, listed)
            raise ToolError(
                f"Unknown field: {unknown[:NAME_MAX]}"
                + (f" (the nearest that it takes is {near})" if near else "")
            )
        return await super().call_tool(name, dict(arguments), context)


def server(api: AgentApi) -> MCPServer:
    """A server whose tools speak through `api`."""
    return ToolServer(
        *_of_payments(api),
        *_of_payouts(api),
        *_of_assets(api),
        *_of_mandates(api),
        instructions=(
            "Take, send and refund crypto payments within the limits of one agent credential."
        ),
    )


def _path(*parts: str) -> str:
    """What a model writes into a path stays one part of it."""
    return "/".join(quote(part, safe="") for part in parts)


def _asked(**parameters: str | None) -> dict[str, str]:
    """The parameters of an address that were given."""
    return {name: value for name, value in parameters.items() if value is not None}


def _of_payments(api: AgentApi) -> list[Tool]:
    def create_payment(
        amount: str,
        currency: str,
        order_id: str | None = None,
        metadata: dict[str, str] | None = None,
        expires_in: int = PAYMENT_EXPIRES_IN,
    ) -> AgentAnswer:
        """Ask to be paid `amount` (major units, as "12.50") of a fiat `currency`; answers with
        hosted_url and deposit addresses."""
        order = AgentPayment(
            amount=amount,
            currency=currency,
            order_id=order_id,
            metadata=metadata or {},
            expires_in=expires_in,
        )
        return api.post("payments", PaymentBody(order))

    def get_payment(payment_id: str) -> AgentAnswer:
        """One of this agent's payments, with its status and what has arrived."""
        return api.get(_path("payments", payment_id))

    def list_payments(page: int = 1, reference: str | None = None) -> AgentAnswer:
        """This agent's payments, newest first."""
        return api.get("payments", _asked(page=str(page), reference=reference))

    def cancel_payment(payment_id: str) -> AgentAnswer:
        """Call off a payment that nothing was paid on."""
        return api.post(_path("payments", payment_id, "cancel"))

    def refund_payment(
        payment_id: str,
        idempotency_key: str,
        amount: str | None = None,
        asset_id: str | None = None,
    ) -> AgentAnswer:
        """Send a payment's coins back to who paid: all of it, or `amount` coins of `asset_id`."""
        order = AgentRefund(amount=amount, asset_id=asset_id)
        return api.post(_path("payments", payment_id, "refunds"), order, key=idempotency_key)

    def list_refunds(payment_id: str) -> AgentAnswer:
        """The refunds of one payment."""
        return api.get(_path("payments", payment_id, "refunds"))

    return [
        create_payment,
        get_payment,
        list_payments,
        cancel_payment,
        refund_payment,
        list_refunds,
    ]


def _of_payouts(api: AgentApi) -> list[Tool]:
    def send_payout(
        asset_id: str, amount_atomic: str, destination_address: str, idempotency_key: str
    ) -> AgentAnswer:
        """Send coins to an address. This can't be taken back. `amount_atomic` counts the asset's
        smallest units."""
        order = AgentPayout(
            asset_id=asset_id, amount_atomic=amount_atomic, destination_address=destination_address
        )
        return api.post("payouts", order, key=idempotency_key)

    def get_payout(payout_id: str) -> AgentAnswer:
        """One of this agent's payouts."""
        return api.get(_path("payouts", payout_id))

    def list_payouts(page: int = 1) -> AgentAnswer:
        """This agent's payouts, newest first."""
        return api.get("payouts", _asked(page=str(page)))

    def get_payout_limits(asset_id: str | None = None) -> AgentAnswer:
        """How much may be paid out at once and today, and what is left of it."""
        return api.get("payout_limits", _asked(asset_id=asset_id))

    return [send_payout, get_payout, list_payouts, get_payout_limits]


def _of_assets(api: AgentApi) -> list[Tool]:
    def get_account() -> AgentAnswer:
        """Which store and mode this credential belongs to, and what it may do. Test mode moves no
        real money."""
        return api.get("account")

    def get_balances(asset_id: str | None = None) -> AgentAnswer:
        """What the store holds of each asset."""
        return api.get("balances", _asked(asset_id=asset_id))

    def get_exchange_rates(currency: str | None = None, asset_id: str | None = None) -> AgentAnswer:
        """The rates at which this service prices payments."""
        return api.get("exchange_rates", _asked(currency=currency, asset_id=asset_id))

    def list_tokens() -> AgentAnswer:
        """The assets that customers can pay with, and those they could."""
        return api.get("tokens")

    def set_token(asset_id: str, active: bool) -> AgentAnswer:
        """Accept an asset for payments, or stop."""
        return api.patch(_path("tokens", asset_id), TokenChange(active=active))

    def get_market_data(symbol_or_id: str, currency: str = "usd") -> AgentAnswer:
        """Public reference figures of a coin; not the rates that this service uses."""
        return api.get("market_data", _asked(symbol_or_id=symbol_or_id, currency=currency))

    return [get_account, get_balances, get_exchange_rates, list_tokens, set_token, get_market_data]


def _of_mandates(api: AgentApi) -> list[Tool]:
    def create_mandate(
        asset_id: str,
        total_cap_atomic: str,
        mandate_ref: str,
        per_call_cap_atomic: str | None = None,
        scope: str = DEFAULT_SCOPE,
        expires_in_seconds: int = EXPIRES_IN_DEFAULT,
    ) -> AgentAnswer:
        """Ask for a spending envelope. The same mandate_ref is the same envelope."""
        order = MandateBody(
            asset_id=asset_id,
            total_cap_atomic=total_cap_atomic,
            mandate_ref=mandate_ref,
            per_call_cap_atomic=per_call_cap_atomic,
            scope=scope,
            expires_in_seconds=expires_in_seconds,
        )
        return api.post("mandates", order)

    def list_mandates() -> AgentAnswer:
        """This agent's envelopes; remaining_atomic is what can still be drawn."""
        return api.get("mandates")

    def get_mandate(mandate_id: str) -> AgentAnswer:
        """One envelope."""
        return api.get(_path("mandates", mandate_id))

    def create_settlement(
        asset_id: str,
        amount_atomic: str,
        mandate_ref: str,
        idempotency_key: str,
        pay_to: str | None = None,
        nonce: str | None = None,
        requirements: FreeForm | None = None,
    ) -> AgentAnswer:
        """Draw on an envelope to pay a service that answered 402. The coins are spent at once."""
        order = SettlementBody(
            asset_id=asset_id,
            amount_atomic=amount_atomic,
            mandate_ref=mandate_ref,
            pay_to=pay_to,
            nonce=nonce,
            requirements=requirements,
        )
        return api.post("x402/settlements", order, key=idempotency_key)

    def list_settlements(page: int = 1) -> AgentAnswer:
        """This agent's draws, newest first."""
        return api.get("x402/settlements", _asked(page=str(page)))

    def get_settlement(settlement_id: str) -> AgentAnswer:
        """One draw; submitted isn't final, confirmed and failed are."""
        return api.get(_path("x402", "settlements", settlement_id))

    return [
        create_mandate,
        list_mandates,
        get_mandate,
        create_settlement,
        list_settlements,
        get_settlement,
    ]
