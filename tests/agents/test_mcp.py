"""A language model's tools at /mcp: the protocol's messages, refusals and successes, and who is let
in."""

import json
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest
from django.test import Client

from apps.access.models import AgentCredential
from apps.access.services import revoke_agent_credential
from apps.api.agentic.urls import ROUTES
from apps.api.description import _document
from apps.core import clock
from apps.mcp.drawing import drawn
from apps.mcp.protocol import REVISIONS
from apps.mcp.tools import FILE, TOOLS, listed
from apps.payments.models import Payment, Refund
from apps.payouts.models import Payout
from apps.stores.settings import write_settings
from tests import make
from tests.cast import Cast, Shop
from tests.contract.oauth.apps import App

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(cast: Cast) -> Shop:
    return cast.bakery


def send(message: Any, credential: str = "", **headers: str) -> Any:
    if credential:
        headers["Authorization"] = f"Bearer {credential}"
    body = message if isinstance(message, str) else json.dumps(message)
    return Client().post("/mcp", body, content_type="application/json", headers=headers)


def asked(method: str, credential: str, **parameters: Any) -> Any:
    answer = send({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}, credential)
    assert answer.status_code == 200, answer.content
    return answer.json()


def unknown_of(shop: Shop) -> str:
    """A credential that looks like an agent's, and is nobody's."""
    secret = shop.secrets["test_agent"]
    return secret[:-1] + ("y" if secret.endswith("x") else "x")


def token_of(cast: Cast, scope: str) -> str:
    return str(App(cast).tokens(scope=scope)["access_token"])


def call(shop: Shop, name: str, mode: str = "test", **arguments: Any) -> Any:
    credential = shop.secrets[f"{mode}_agent"]
    return asked("tools/call", credential, name=name, arguments=arguments)["result"]


def test_every_operation_of_agents_is_a_tool() -> None:
    operations = {
        (method, route.path.removeprefix("agentic/").replace("<str:id>", "{}"))
        for route in ROUTES
        for method in route.scopes
    }
    tools = {
        (tool.method, "/".join("{}" if "{" in part else part for part in tool.path.split("/")))
        for tool in TOOLS
    }
    assert tools == operations


def test_the_file_of_tools_is_drawn_from_the_description_as_it_is() -> None:
    assert FILE.read_text() == drawn(json.loads(_document())), "run manage.py mcp_tools"


def test_each_tool_says_what_it_takes_and_whether_it_changes_something() -> None:
    for row in listed():
        assert row["inputSchema"]["additionalProperties"] is False
        fields = row["inputSchema"]["properties"]
        assert all(field.get("description") for field in fields.values()), row["name"]
        assert "  " not in row["description"]
        jsonschema.Draft202012Validator.check_schema(row["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(row["outputSchema"])
        hints = row["annotations"]
        reads = row["name"].startswith(("get_", "list_"))
        assert hints["readOnlyHint"] is reads
        if not reads:
            assert hints["idempotentHint"] is True
    destructive = {row["name"] for row in listed() if row["annotations"].get("destructiveHint")}
    assert destructive == {"cancel_payment", "refund_payment", "send_payout", "create_settlement"}
    keyed = {
        row["name"]
        for row in listed()
        if "idempotency_key" in row["inputSchema"].get("required", [])
    }
    assert keyed == {"create_payment", "refund_payment", "send_payout", "create_settlement"}


@pytest.mark.parametrize("revision", [*REVISIONS, "2001-01-01"])
def test_a_client_is_welcomed_in_its_own_revision_or_in_the_newest(
    shop: Shop, revision: str
) -> None:
    welcome = asked("initialize", shop.secrets["test_agent"], protocolVersion=revision)["result"]
    assert welcome["protocolVersion"] == (revision if revision in REVISIONS else REVISIONS[0])
    assert welcome["serverInfo"] == {"name": "tillgate", "title": "Tillgate", "version": "2"}
    assert "tools" in welcome["capabilities"]


def test_messages_are_answered_as_the_protocol_says(shop: Shop) -> None:
    agent = shop.secrets["test_agent"]
    assert asked("ping", agent)["result"] == {}
    assert len(asked("tools/list", agent)["result"]["tools"]) == len(TOOLS)
    assert asked("resources/list", agent)["error"]["code"] == -32601
    assert asked("tools/call", agent, name="no_such")["error"]["code"] == -32602
    note = send({"jsonrpc": "2.0", "method": "notifications/initialized"}, agent)
    assert (note.status_code, note.content) == (202, b"")
    assert send("[]", agent).json()["error"]["code"] == -32600
    assert send("{", agent).status_code == 400
    deep = send("[" * 100_000 + "]" * 100_000, agent)
    assert deep.json()["error"]["code"] == -32600


def test_there_is_no_stream_and_no_session(shop: Shop) -> None:
    headers = {"Authorization": f"Bearer {shop.secrets['test_agent']}"}
    for answer in (Client().get("/mcp", headers=headers), Client().delete("/mcp", headers=headers)):
        assert (answer.status_code, answer["Allow"]) == (405, "POST")


def test_a_revision_that_nobody_knows_and_a_page_of_another_site_are_refused(shop: Shop) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    agent = shop.secrets["test_agent"]
    assert send(ping, agent, **{"MCP-Protocol-Version": "1999-01-01"}).status_code == 400
    for origin in ("https://evil.example", "null", "http://["):
        assert send(ping, agent, Origin=origin).status_code == 403


def test_a_success_is_the_record_itself_and_fits_its_schema(shop: Shop) -> None:
    schemas = {row["name"]: row["outputSchema"] for row in listed()}
    made = call(
        shop, "create_payment", amount="12.50", currency="EUR", idempotency_key="a", order_id="7"
    )
    assert made["isError"] is False
    payment = made["structuredContent"]
    assert payment["settlement_amount"] == "12.50" and payment["hosted_url"].startswith("http")
    assert json.loads(made["content"][0]["text"]) == payment
    results = {
        "create_payment": made,
        "get_payment": call(shop, "get_payment", payment_id=payment["id"]),
        "list_payments": call(shop, "list_payments", page=1, per_page=5),
        "cancel_payment": call(shop, "cancel_payment", payment_id=payment["id"]),
        "list_refunds": call(shop, "list_refunds", payment_id=payment["id"]),
        **{
            name: call(shop, name)
            for name in (
                "list_payouts",
                "get_payout_limits",
                "get_account",
                "get_balances",
                "get_exchange_rates",
                "list_tokens",
                "list_mandates",
                "list_settlements",
            )
        },
    }
    for name, result in results.items():
        assert result["isError"] is False, (name, result)
        jsonschema.validate(result["structuredContent"], schemas[name])


def test_a_refusal_is_an_error_with_its_sentence_and_code(shop: Shop) -> None:
    to = "0x52908400098527886E0F7030069857D2E4169EE7"
    payout = call(
        shop,
        "send_payout",
        asset_id="SETH",
        amount_atomic="1",
        destination_address=to,
        idempotency_key="k",
    )
    assert payout["isError"] is True
    code = payout["_meta"]["tillgate/error"]["error"]["code"]
    assert payout["content"][0]["text"].endswith(f"({code}).")
    # Hosts hold it against the schema of a payout, which no refusal fits.
    assert "structuredContent" not in payout
    unknown = call(shop, "get_payment", payment_id="nope")
    assert unknown["isError"] is True and "(not_found)" in unknown["content"][0]["text"]
    wrong = call(shop, "create_payment", amount="1.234", currency="EUR", idempotency_key="k")
    assert wrong["isError"] is True and "(invalid_amount)" in wrong["content"][0]["text"]
    assert not Payout.objects.exists() and not Payment.objects.exists()


def test_the_same_key_is_the_same_payment_and_without_one_there_is_none(shop: Shop) -> None:
    order = {"amount": "5.00", "currency": "EUR"}
    for arguments in (order, {**order, "idempotency_key": " "}, {**order, "idempotency_key": 5}):
        refused = call(shop, "create_payment", **arguments)
        assert refused["isError"] and refused["content"][0]["text"] == "idempotency_key is required"
    assert not Payment.objects.exists()
    first, second = (
        call(shop, "create_payment", **order, idempotency_key="bill-7") for _ in range(2)
    )
    assert first["structuredContent"]["id"] == second["structuredContent"]["id"]
    assert Payment.objects.count() == 1


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
def test_no_tool_takes_an_argument_that_it_does_not_list(shop: Shop, tool: str) -> None:
    refused = call(shop, tool, colour="red")
    assert refused["isError"] and refused["content"][0]["text"].startswith("Unknown field: colour")


def test_an_argument_that_stands_twice_is_refused(shop: Shop) -> None:
    text = (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "create_payment",'
        ' "arguments": {"amount": "1", "amount": "9", "currency": "EUR", "idempotency_key": "k"}}}'
    )
    assert send(text, shop.secrets["test_agent"]).status_code == 400
    assert not Payment.objects.exists()


def test_a_misspelled_amount_is_named_with_its_neighbor(shop: Shop) -> None:
    refused = call(shop, "refund_payment", payment_id="a", idempotency_key="k", amount_atomic="5")
    assert "the nearest that it takes is amount" in refused["content"][0]["text"]


@pytest.mark.parametrize(
    "id", ["../account", "a/b", "a?b=c", "%2e%2e", "ä", "a\nb", "\x00", "\ud800"]
)
def test_a_models_text_stays_one_part_of_the_path(shop: Shop, id: str) -> None:
    refused = call(shop, "get_payment", payment_id=id)
    assert refused["isError"] and "(not_found)" in refused["content"][0]["text"]


def test_coins_go_back_once_by_a_tool(shop: Shop) -> None:
    write_settings(shop.store, {"authorization_provider": "policy"})
    made = call(shop, "create_payment", amount="10.00", currency="EUR", idempotency_key="p")
    make.funded(shop.test)
    make.simulated(shop.test, made["structuredContent"]["id"])
    refunds = [
        call(
            shop,
            "refund_payment",
            payment_id=made["structuredContent"]["id"],
            idempotency_key="back",
        )
        for _ in range(2)
    ]
    assert [refund["isError"] for refund in refunds] == [False, False], refunds
    assert refunds[0]["structuredContent"] == refunds[1]["structuredContent"]
    assert Refund.objects.count() == 1


def test_who_brings_no_credential_is_told_where_to_get_one() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for answer in (send(ping), send(ping, Authorization="Basic YTpi")):
        assert answer.status_code == 401
        challenge = answer["WWW-Authenticate"]
        assert challenge.startswith("Bearer resource_metadata=")
    address = challenge.partition('"')[2].partition('"')[0]
    told = Client().get(urlsplit(address).path).json()
    assert told["resource"].endswith("/mcp")
    assert told["scopes_supported"] == ["agents:write", "offline_access"]
    (issuer,) = told["authorization_servers"]
    server = Client().get("/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == issuer and "agents:write" in server["scopes_supported"]


@pytest.mark.parametrize("method", ["initialize", "tools/list", "tools/call"])
@pytest.mark.parametrize("kind", ["unknown", "key", "malformed"])
def test_only_an_agent_is_let_in(shop: Shop, method: str, kind: str) -> None:
    credential = {
        "unknown": unknown_of(shop),
        "key": shop.secrets["test"],
        "malformed": "abc",
    }[kind]
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": {"name": "get_account", "arguments": {}},
    }
    answer = send(message, credential)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer["WWW-Authenticate"]


def test_a_token_of_an_app_stands_for_the_apps_agent(cast: Cast) -> None:
    token = token_of(cast, "agents:write payments:read payments:write")
    account = asked("tools/call", token, name="get_account", arguments={})["result"]
    assert account["isError"] is False
    row = AgentCredential.objects.get(application__isnull=False)
    made = asked(
        "tools/call",
        token,
        name="create_payment",
        arguments={"amount": "5.00", "currency": "EUR", "idempotency_key": "k"},
    )["result"]
    assert made["isError"] is False
    assert Payment.objects.get().agent_credential_id == row.pk
    assert AgentCredential.objects.filter(application__isnull=False).count() == 1
    # Agents' own paths still take no token, whatever headers come with it.
    refused = Client().get(
        "/api/v2/agentic/account",
        headers={"Authorization": f"Bearer {token}", "Tillgate-For-Models": "1"},
    )
    assert refused.json()["error"]["code"] == "agent_credential_required"


def test_an_agent_that_was_revoked_is_not_made_again_by_the_same_token(cast: Cast) -> None:
    token = token_of(cast, "agents:write payments:read")
    asked("tools/call", token, name="get_account", arguments={})
    AgentCredential.objects.filter(application__isnull=False).update(revoked_at=clock.real_now())
    answer = send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}, token)
    assert answer.status_code == 401


def test_an_agent_that_was_revoked_is_not_made_again_by_a_refreshed_token(cast: Cast) -> None:
    """A host refreshes its token by itself; a person authorizes the app again."""
    app = App(cast)
    wide = "agents:write payments:read offline_access"
    tokens = app.tokens(scope=wide)
    asked("tools/call", tokens["access_token"], name="get_account", arguments={})
    row = AgentCredential.objects.get(application__isnull=False)
    revoke_agent_credential(row, clock.real_now())
    renewed = app.refresh(tokens["refresh_token"]).json()["access_token"]
    start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    assert send(start, renewed).status_code == 401
    row.refresh_from_db()
    assert row.revoked_at is not None
    assert "result" in asked("initialize", app.tokens(scope=wide)["access_token"])


def test_the_tools_are_listed_for_nobody_whose_account_is_refused(
    cast: Cast, settings: Any
) -> None:
    """After too many wrong credentials, and for a token of no store."""
    without_store = App(cast).tokens(scope="agents:write", store_id="")["access_token"]
    refused = asked("tools/list", without_store)["error"]
    assert "store_required" in refused["message"]
    settings.FAILED_AUTHENTICATIONS_MAX = 0
    for method in ("initialize", "tools/list"):
        answer = asked(method, unknown_of(cast.bakery))
        assert "result" not in answer and "Try again in" in answer["error"]["message"]


def test_a_token_without_the_scope_of_agents_is_told_which_it_lacks(cast: Cast) -> None:
    token = token_of(cast, "payments:read")
    answer = send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}, token)
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer["WWW-Authenticate"]
    assert 'scope="agents:write"' in answer["WWW-Authenticate"]
    assert not AgentCredential.objects.filter(application__isnull=False).exists()
