"""A platform and its sub-merchants, made through the API."""

from dataclasses import dataclass
from typing import Any

from apps.core import clock
from apps.stores.models import Store
from apps.stores.services import change_store
from tests.cast import Api, Shop

VERIFICATION = {
    "business_legal_name": "Bakery GmbH",
    "business_country": "DE",
    "registration_number": "HRB 1234",
    "tax_id": "DE123456789",
    "business_website": "https://bakery.example",
    "contact_email": "owner@bakery.example",
    "contact_phone": "+49 30 123456",
    "business_description": "Bread and cake",
}
# What a person is asked for in addition, in the dashboard and behind an onboarding link.
BUSINESS = {
    **VERIFICATION,
    "legal_form": "GmbH",
    "representative": "Alice Baker",
    "street": "Hauptstraße 1",
    "postal_code": "10115",
    "city": "Berlin",
}


@dataclass
class Sub:
    """A sub-merchant, and its platform's keys acting on it."""

    id: str
    account: dict[str, Any]
    live: Api
    test: Api

    @property
    def store(self) -> Store:
        return Store.objects.get(pk=self.id)


@dataclass
class Platform:
    """A store that is a platform, with keys of every scope."""

    shop: Shop
    live: Api
    test: Api
    keys: dict[str, str]

    @property
    def store(self) -> Store:
        return self.shop.store

    def acting(self, account_id: str, mode: str = "test") -> Api:
        return Api(self.keys[mode], **{"X-Service-Account": account_id})

    def ask(self, **fields: Any) -> Any:
        """The answer to POST /platform/accounts."""
        return self.test.post(
            "/platform/accounts", {"account": {"name": "Corner Shop", "country": "DE", **fields}}
        )

    def sub(self, *, kyc: bool = True, **fields: Any) -> Sub:
        answer = self.ask(**fields)
        assert answer.status_code == 201, answer.content
        account = answer.json()
        if kyc:
            change_store(Store.objects.get(pk=account["id"]), kyc_confirmed_at=clock.real_now())
        return Sub(
            account["id"], account, self.acting(account["id"], "live"), self.acting(account["id"])
        )

    def account(self, account_id: str) -> dict[str, Any]:
        answer = self.test.get(f"/platform/accounts/{account_id}")
        assert answer.status_code == 200, answer.content
        told: dict[str, Any] = answer.json()
        return told

    def attest(self, account_id: str, **fields: Any) -> Any:
        return self.test.post(
            f"/platform/accounts/{account_id}/verification", {**VERIFICATION, **fields}
        )

    def mint(self, account_id: str, **fields: Any) -> Any:
        body = {"purpose": "onboarding", "return_url": "https://shop.example/back", **fields}
        return self.test.post(f"/platform/accounts/{account_id}/onboarding_links", body)


def refusal(answer: Any, status: int, code: str | None) -> dict[str, Any]:
    """A structured error with its status and code."""
    assert answer.status_code == status, answer.content
    error: dict[str, Any] = answer.json()["error"]
    assert error["code"] == code, answer.content
    return error
