"""Parts that the tests of card payments share: a store that takes cards, and the customer's side of
the public paths."""

from typing import Any

from apps.onramp.models import Credential, FundingSession
from apps.onramp.services.card_page import finish
from apps.onramp.services.credentials import keep_secrets
from tests.cast import Api, Shop

PUBLIC = Api()
SECRET = "whsec-of-the-network"


def methods(made: dict[str, Any], query: str = "", **headers: str) -> Any:
    return PUBLIC.get(f"/checkout/{made['reference']}/onramp/payment_methods{query}", **headers)


def ask(made: dict[str, Any], **fields: Any) -> Any:
    return PUBLIC.post(f"/checkout/{made['reference']}/onramp_sessions", fields)


def opened(made: dict[str, Any], method: str = "sandbox.card", **fields: Any) -> dict[str, Any]:
    answer = ask(made, payment_method_id=method, **fields)
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def row(session: dict[str, Any]) -> FundingSession:
    found: FundingSession = FundingSession.objects.select_related("payment__store", "asset").get(
        pk=session["id"]
    )
    return found


def press(session: dict[str, Any], outcome: str) -> None:
    """A button of the sandbox's card page."""
    finish(row(session), outcome)


def status(shop: Shop, made: dict[str, Any]) -> str:
    told = shop.test.get(f"/payments/{made['id']}").json()["onramp_session"]
    return str(told["status"])


def credential(mode: str = "test", api_key: str = "", **fields: Any) -> Credential:
    return keep_secrets(
        Credential(provider="onramper", mode=mode, **fields),
        api_key=api_key or f"pk_{'prod' if mode == 'live' else 'test'}_0123456789abcdef",
        webhook_secret=SECRET,
    )
