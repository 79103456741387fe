"""The tools that a language model gets: each is one operation of the agent API, and its docstring is what the model reads.

Amounts are strings. What moves money takes an idempotency_key: the same key is the same act, however often it is asked for.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer

from apps.console.providers.agent_api import AgentApi

Told = dict[str, Any]


def server(api: AgentApi) -> MCPServer:
    """A server whose tools speak through `api`."""
    made: MCPServer = MCPServer("tillgate", instructions="Take, send and refund crypto payments within the limits of one agent credential.")
    for tool in (*_of_payments(api), *_of_payouts(api), *_of_assets(api), *_of_mandates(api)):
        made.add_tool(tool)
    return made


def _given(**fields: Any) -> dict[str, Any]:
    """The fields that were given."""
    return {name: value for name, value in fields.items() if value is not None}


def _of_payments(api: AgentApi) -> list[Callable[..., Told]]:
    def create_payment(
        amount: str, currency: str, order_id: str | None = None, metadata: dict[str, str] | None = None, expires_in: int | None = None
    ) -> Told:
        """Ask to be paid `amount` (major units, as "12.50") of a fiat `currency`; answers with hosted_url and deposit addresses."""
        fields = _given(amount=amount, currency=currency, order_id=order_id, metadata=metadata, expires_in=expires_in)
        return api.ask("POST", "payments", {"payment_intent": fields})

    def get_payment(payment_id: str) -> Told:
        """One of this agent's payments, with its status and what has arrived."""
        return api.ask("GET", f"payments/{quote(payment_id, safe='')}")

    def list_payments(page: int = 1, reference: str | None = None) -> Told:
        """This agent's payments, newest first."""
        return api.ask("GET", "payments", query=_given(page=str(page), reference=reference))

    def cancel_payment(payment_id: str) -> Told:
        """Call off a payment that nothing was paid on."""
        return api.ask("POST", f"payments/{quote(payment_id, safe='')}/cancel")

    def refund_payment(payment_id: str, idempotency_key: str, amount: str | None = None, asset_id: str | None = None) -> Told:
        """Send a payment's coins back to who paid: all of it, or `amount` coins of `asset_id`."""
        path = f"payments/{quote(payment_id, safe='')}/refunds"
        return api.ask("POST", path, _given(amount=amount, asset_id=asset_id), key=idempotency_key)

    def list_refunds(payment_id: str) -> Told:
        """The refunds of one payment."""
        return api.ask("GET", f"payments/{quote(payment_id, safe='')}/refunds")

    return [create_payment, get_payment, list_payments, cancel_payment, refund_payment, list_refunds]


def _of_payouts(api: AgentApi) -> list[Callable[..., Told]]:
    def send_payout(asset_id: str, amount_atomic: str, destination_address: str, idempotency_key: str) -> Told:
        """Send coins to an address. This can't be taken back. `amount_atomic` counts the asset's smallest units."""
        body = {"asset_id": asset_id, "amount_atomic": amount_atomic, "destination_address": destination_address}
        return api.ask("POST", "payouts", body, key=idempotency_key)

    def get_payout(payout_id: str) -> Told:
        """One of this agent's payouts."""
        return api.ask("GET", f"payouts/{quote(payout_id, safe='')}")

    def list_payouts(page: int = 1) -> Told:
        """This agent's payouts, newest first."""
        return api.ask("GET", "payouts", query={"page": str(page)})

    def get_payout_limits(asset_id: str | None = None) -> Told:
        """How much may be paid out at once and today, and what is left of it."""
        return api.ask("GET", "payout_limits", query=_given(asset_id=asset_id))

    return [send_payout, get_payout, list_payouts, get_payout_limits]


def _of_assets(api: AgentApi) -> list[Callable[..., Told]]:
    def get_account() -> Told:
        """Which store and mode this credential belongs to, and what it may do. Test mode moves no real money."""
        return api.ask("GET", "account")

    def get_balances(asset_id: str | None = None) -> Told:
        """What the store holds of each asset."""
        return api.ask("GET", "balances", query=_given(asset_id=asset_id))

    def get_exchange_rates(currency: str | None = None, asset_id: str | None = None) -> Told:
        """The rates at which this service prices payments."""
        return api.ask("GET", "exchange_rates", query=_given(currency=currency, asset_id=asset_id))

    def list_tokens() -> Told:
        """The assets that customers can pay with, and those they could."""
        return api.ask("GET", "tokens")

    def set_token(asset_id: str, active: bool) -> Told:
        """Accept an asset for payments, or stop."""
        return api.ask("PATCH", f"tokens/{quote(asset_id, safe='')}", {"active": active})

    def get_market_data(symbol_or_id: str, currency: str = "usd") -> Told:
        """Public reference figures of a coin; not the rates that this service uses."""
        return api.ask("GET", "market_data", query={"symbol_or_id": symbol_or_id, "currency": currency})

    return [get_account, get_balances, get_exchange_rates, list_tokens, set_token, get_market_data]


def _of_mandates(api: AgentApi) -> list[Callable[..., Told]]:
    def create_mandate(
        asset_id: str,
        total_cap_atomic: str,
        mandate_ref: str,
        per_call_cap_atomic: str | None = None,
        scope: str | None = None,
        expires_in_seconds: int | None = None,
    ) -> Told:
        """Ask for a spending envelope. The same mandate_ref is the same envelope."""
        fields = _given(per_call_cap_atomic=per_call_cap_atomic, scope=scope, expires_in_seconds=expires_in_seconds)
        return api.ask(
            "POST", "mandates", {"asset_id": asset_id, "total_cap_atomic": total_cap_atomic, "mandate_ref": mandate_ref, **fields}
        )

    def list_mandates() -> Told:
        """This agent's envelopes; remaining_atomic is what can still be drawn."""
        return api.ask("GET", "mandates")

    def get_mandate(mandate_id: str) -> Told:
        """One envelope."""
        return api.ask("GET", f"mandates/{quote(mandate_id, safe='')}")

    def create_settlement(
        asset_id: str,
        amount_atomic: str,
        mandate_ref: str,
        idempotency_key: str,
        pay_to: str | None = None,
        nonce: str | None = None,
        requirements: dict[str, Any] | None = None,
    ) -> Told:
        """Draw on an envelope to pay a service that answered 402. The coins are spent at once."""
        fields = _given(pay_to=pay_to, nonce=nonce, requirements=requirements)
        body = {"asset_id": asset_id, "amount_atomic": amount_atomic, "mandate_ref": mandate_ref, **fields}
        return api.ask("POST", "x402/settlements", body, key=idempotency_key)

    def list_settlements(page: int = 1) -> Told:
        """This agent's draws, newest first."""
        return api.ask("GET", "x402/settlements", query={"page": str(page)})

    def get_settlement(settlement_id: str) -> Told:
        """One draw; submitted isn't final, confirmed and failed are."""
        return api.ask("GET", f"x402/settlements/{quote(settlement_id, safe='')}")

    return [create_mandate, list_mandates, get_mandate, create_settlement, list_settlements, get_settlement]
