"""/agentic/balances, exchange_rates, tokens and market_data: what an agent may know of assets, and which a store takes."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.services.market import market_data
from apps.agents.services.tokens import change_token, exchange_rates, known_asset, tokens_document
from apps.api.agentic.plumbing import AgentDoor
from apps.core import clock
from apps.ledger.documents import balances_document


class AgentBalances(AgentDoor):
    """What the store holds; a filter leaves the settlement balance as it is."""

    def get(self, request: Request) -> Response:
        told = balances_document(self.access, clock.real_now())
        del told["stablecoin_summary"]
        wanted = request.query_params.get("asset_id")
        if wanted is not None:
            asset = known_asset(wanted)
            told["balances"] = [entry for entry in told["balances"] if entry["asset_id"] == asset.pk]
        return Response(told)


class ExchangeRates(AgentDoor):
    """The service's own rates."""

    def get(self, request: Request) -> Response:
        query = request.query_params
        return Response(exchange_rates(self.access, query.get("currency"), query.get("asset_id"), clock.real_now()))


class Tokens(AgentDoor):
    """What customers can pay with, and what they could."""

    def get(self, request: Request) -> Response:
        return Response(tokens_document(self.access))


class TokenById(AgentDoor):
    """Accept an asset, or stop."""

    bodies = {"PATCH": {"type": "object", "properties": {"active": {"type": "boolean"}}, "required": ["active"]}}

    def patch(self, request: Request, id: str) -> Response:
        return Response(change_token(self.access, id, self.body(request), self.envelope(request)))


class MarketData(AgentDoor):
    """Public reference figures; nobody needs a credential for them."""

    def get(self, request: Request) -> Response:
        query = request.query_params
        return Response(market_data(query.get("symbol_or_id"), query.get("currency") or query.get("vs_currency")))
