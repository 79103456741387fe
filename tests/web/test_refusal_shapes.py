"""A refusal says what is refused; the route says in which form."""

import re
from typing import Any

import pytest

from apps.access.operations import RoleForbids
from apps.agents.services.settle import NonceReused
from apps.api.agentic.plumbing import AgentView
from apps.api.billing.customers import Customers
from apps.api.billing.plumbing import CustomerNotFound
from apps.api.onramp import OnrampSessions
from apps.api.payments import Payments, SimulatedPayments
from apps.api.payout_schedules import PayoutSchedules, RunPayoutSchedule
from apps.api.payouts import Payouts
from apps.api.platforms.accounts import Accounts
from apps.api.plumbing.errors import Broken, WrongMethod, respond
from apps.api.plumbing.refusals import (
    ErrorDocument,
    ErrorShape,
    ErrorText,
    ErrorTexts,
    body_of,
    error_shape,
)
from apps.api.webhook_endpoints import Endpoints
from apps.billing.services.customers import CustomerEmailTaken
from apps.core.errors import Failure, NotFound, ProviderFailed, RefusalKind
from apps.core.idempotency import KeyRefused
from apps.core.messages.invalid import Invalid
from apps.onramp.services.sessions import NotOpened
from apps.payments.services.create import NoAcceptedAsset
from apps.payouts.services.caps import DailyExceeded
from apps.payouts.services.runs import RunRefused
from apps.payouts.services.schedules import AlreadyScheduled
from apps.platforms.services.accounts import ExternalIdTaken
from apps.webhooks.services.endpoints import IntegrationExists
from tests.house.files import ROOT, sources

SENTENCE = Failure("No")
KEY = KeyRefused("No key", code="idempotency_key_required")


@pytest.mark.parametrize(
    ("view", "failure", "shape"),
    [
        # A sentence without a code is told as its route tells its sentences.
        (Payouts, SENTENCE, ErrorText),
        (Payouts, DailyExceeded(), ErrorText),
        (SimulatedPayments, SENTENCE, ErrorDocument),
        (AgentView, SENTENCE, ErrorDocument),
        (Customers, CustomerEmailTaken(), ErrorText),
        (PayoutSchedules, AlreadyScheduled(), ErrorTexts),
        (Endpoints, SENTENCE, ErrorTexts),
        # A code is told wherever the contract has one, and so are a missing record and what
        # happens before a view is reached.
        (Payouts, RoleForbids(), ErrorDocument),
        (Customers, RoleForbids(), ErrorDocument),
        (AgentView, NonceReused(), ErrorDocument),
        (PayoutSchedules, NotFound(), ErrorDocument),
        (Payouts, ProviderFailed(), ErrorDocument),
        (Payouts, Broken(), ErrorDocument),
        (PayoutSchedules, WrongMethod(["GET"]), ErrorDocument),
        # And where a route has its own form.
        (Customers, CustomerNotFound(), ErrorText),
        (OnrampSessions, NotOpened(), ErrorText),
        (Payments, NoAcceptedAsset(), ErrorDocument),
        (RunPayoutSchedule, RunRefused("No"), ErrorDocument),
        (Accounts, ExternalIdTaken(), ErrorTexts),
        (Endpoints, IntegrationExists(), ErrorText),
        (Payments, KEY, ErrorText),
        (AgentView, KEY, ErrorDocument),
    ],
)
def test_a_route_chooses_the_form(view: Any, failure: Failure, shape: ErrorShape) -> None:
    assert error_shape(failure, view) is shape


def test_the_forms_of_one_refusal() -> None:
    failure = Failure("Too much", code="too_much", kind=RefusalKind.CONFLICT, days_max=3)

    assert body_of(failure, ErrorText) == {"error": "Too much", "days_max": 3}
    assert body_of(failure, ErrorTexts) == {"errors": ["Too much"], "days_max": 3}
    assert body_of(failure, ErrorDocument) == {
        "error": {"message": "Too much", "code": "too_much", "days_max": 3}
    }


@pytest.mark.parametrize(
    ("view", "body"),
    [
        (Payouts, {"error": "amount is required"}),
        (PayoutSchedules, {"errors": ["amount is required"]}),
        (
            Accounts,
            {"error": {"message": "amount is required", "code": "invalid_account"}},
        ),
    ],
)
def test_a_broken_rule_is_told_as_its_route_does(view: Any, body: object) -> None:
    response = respond(Invalid("amount", "required"), {"view": view()})

    assert (response.status_code, response.data) == (422, body)


def test_what_is_refused_knows_no_form() -> None:
    forms = re.compile(r"\b(ErrorTexts?|ErrorDocument|error_shape|body_of)\b|def body\(self\) ->")
    found = [
        str(path.relative_to(ROOT))
        for path in sources("apps")
        if path.suffix == ".py"
        and path.relative_to(ROOT).parts[1] != "api"
        and forms.search(path.read_text())
    ]

    assert found == []
