"""/agentic/balances, exchange_rates, tokens and market_data: what an agent may know of assets, and
which a store takes."""

from typing import Annotated

from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.documents.agents import (
    AgentTokenChangeDocument,
    AgentTokensDocument,
    ExchangeRatesDocument,
    MarketFiguresDocument,
    tokens_document,
)
from apps.agents.requests.payments import TokenChange
from apps.agents.selectors import tokens_of
from apps.agents.services.market import market_data
from apps.agents.services.tokens import change_token, exchange_rates, find_token
from apps.api.agentic.plumbing import AgentView
from apps.api.plumbing.queries import Query, described
from apps.assets.lowest_prices import lowest_prices
from apps.core import clock
from apps.core.messages.fields import NOT_EMPTY
from apps.ledger.documents import AgentBalancesDocument, balances_document


class BalanceFilters(Query, frozen=True, kw_only=True):
    asset_id: Annotated[str, described("404 when unknown")] | None = None


class RateFilters(Query, frozen=True, kw_only=True):
    currency: str | None = None
    asset_id: str | None = None


class MarketQuery(Query, frozen=True, kw_only=True):
    symbol_or_id: (
        Annotated[str, described("ETH, or a public price id such as ethereum", **NOT_EMPTY)] | None
    )
    currency: Annotated[str, Meta(extra_json_schema={"default": "usd"})] | None = None
    vs_currency: Annotated[str, described("Another name of `currency`")] | None = None


class AgentBalances(AgentView):
    """Balances of the store; a filter leaves the settlement balance as it is."""

    query = BalanceFilters
    answers = {"GET": AgentBalancesDocument}

    def get(self, request: Request) -> Response:
        document = balances_document(self.access, clock.real_now())
        asset_filter = BalanceFilters.read(request.query_params).asset_id
        asset_id = None if asset_filter is None else find_token(asset_filter).pk
        balances = [
            balance for balance in document.balances if asset_id in (None, balance.asset_id)
        ]
        return Response(
            AgentBalancesDocument(balances=balances, settlement_balance=document.settlement_balance)
        )


class ExchangeRates(AgentView):
    """The service's own rates."""

    query = RateFilters
    answers = {"GET": ExchangeRatesDocument}

    def get(self, request: Request) -> Response:
        query = RateFilters.read(request.query_params)
        return Response(
            exchange_rates(self.access, query.currency, query.asset_id, clock.real_now())
        )


class Tokens(AgentView):
    """Assets that customers can pay with, and those that they could."""

    answers = {"GET": AgentTokensDocument}

    def get(self, request: Request) -> Response:
        return Response(tokens_document(*tokens_of(self.access), lowest_prices(self.access)))


class TokenById(AgentView):
    """Accept an asset, or stop; a steady one only from a lowest price on."""

    codes = {"active": "invalid_active", "lowest_price": "invalid_lowest_price"}
    bodies = {"PATCH": TokenChange}
    answers = {"PATCH": AgentTokenChangeDocument}

    def patch(self, request: Request, id: str) -> Response:
        return Response(
            change_token(self.access, id, self.read(request, TokenChange), self.envelope(request))
        )


class MarketData(AgentView):
    """Public reference figures; nobody needs a credential for them."""

    query = MarketQuery
    answers = {"GET": MarketFiguresDocument}

    def get(self, request: Request) -> Response:
        query = MarketQuery.read(request.query_params)
        return Response(market_data(query.symbol_or_id, query.currency or query.vs_currency))
