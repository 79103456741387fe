"""A store's policy is read as it will be asked: a rule that isn't one would allow everything."""

import json
from typing import Any

import pytest

from apps.console.management.commands.set_store import RULES
from apps.staff.decisions.store_forms import AgentsForm
from tests.cast import Cast


def form_of(cast: Cast, policy: object) -> AgentsForm:
    store = str(cast.bakery.store.pk)
    data = {
        "store": store,
        "authorization_provider": "policy",
        "authorization_policy": json.dumps(policy),
        "reason": "They asked for it",
    }
    return AgentsForm(data, preset={"store": store})


@pytest.mark.parametrize(
    "policy",
    [
        {"max_mandate_cap": "1000"},
        {"max_mandate_cap_atomic": "many"},
        {"max_mandate_cap_atomic": -1},
        {"daily_issuance_cap_atomic": 1.5},
        {"allowed_scopes": "books"},
        {"allowed_assets": [5]},
        {"agents_may_refund": "false"},
        {"agents_may_refund": None},
        ["agents_may_refund"],
    ],
)
def test_a_policy_with_a_rule_that_is_none_is_refused(cast: Cast, policy: object) -> None:
    assert "authorization_policy" in form_of(cast, policy).errors


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ({}, {}),
        (None, {}),
        ({"max_mandate_cap_atomic": "0"}, {"max_mandate_cap_atomic": "0"}),
        ({"daily_issuance_cap_atomic": 1000}, {"daily_issuance_cap_atomic": "1000"}),
        (
            {"allowed_scopes": ["books"], "allowed_assets": []},
            {"allowed_scopes": ["books"], "allowed_assets": []},
        ),
        ({"agents_may_refund": False}, {"agents_may_refund": False}),
    ],
)
def test_a_policy_is_kept_as_its_rules(cast: Cast, policy: Any, kept: dict[str, Any]) -> None:
    form = form_of(cast, policy)
    assert "authorization_policy" not in form.errors, form.errors
    assert form.cleaned_data["authorization_policy"] == kept


def test_the_command_and_the_form_know_the_same_rules(cast: Cast) -> None:
    known = form_of(cast, {"no rule": 1}).errors["authorization_policy"][0]
    assert set(RULES) == set(known.partition("use one of ")[2].split(", "))
