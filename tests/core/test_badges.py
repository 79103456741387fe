"""Every app has the badges of its own nouns; together they are one table without gaps."""

import types
from typing import Any

import pytest
from django.apps import apps

from apps.agents.models import Mandate, Settlement, SignedPayment
from apps.billing.models import Invoice, Subscription
from apps.chain.models import Deposit, OutgoingTransaction
from apps.core import badges
from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT
from apps.payments.models import Payment, Refund
from apps.payouts.models import Payout
from apps.swaps.models import Swap
from tests.house.files import ROOT, sources

MODELS: dict[str, Any] = {
    "payment": Payment,
    "refund": Refund,
    "swap": Swap,
    "payout": Payout,
    "outgoing": OutgoingTransaction,
    "deposit": Deposit,
    "invoice": Invoice,
    "subscription": Subscription,
    "mandate": Mandate,
    "settlement": Settlement,
    "signed": SignedPayment,
}


@pytest.mark.parametrize("noun", MODELS)
def test_every_status_of_a_noun_has_its_badge(noun: str) -> None:
    choices = [value for value, _ in MODELS[noun]._meta.get_field("status").choices]
    assert choices
    assert set(choices) <= set(badges.all_badges()[noun])


def test_every_badge_has_a_tone_and_words() -> None:
    found = [badge for noun in badges.all_badges().values() for badge in noun.values()]
    assert len(found) > 100
    assert {tone for tone, _ in found} == {GOOD, WAIT, BAD, INFO, QUIET}
    assert all(str(words) for _, words in found)


def test_the_badges_of_every_app_are_collected() -> None:
    modules = {
        path.relative_to(ROOT).parts[1]
        for path in sources("apps")
        if path.stem in ("badges", "customer_badges")
    }
    assert {"core", "billing", "payments", "console", "chain"} <= modules
    assert {config.label for config in apps.get_app_configs() if config.label in modules} == modules
    nouns = badges.all_badges()
    assert {"mail", "hosted_invoice", "payment", "component", "outgoing"} <= set(nouns)


def test_two_apps_have_no_badges_of_one_noun(monkeypatch: pytest.MonkeyPatch) -> None:
    again = types.SimpleNamespace(BADGES={"payment": {}})
    monkeypatch.setattr(badges, "import_module", lambda path: again)
    with pytest.raises(ValueError, match="payment"):
        badges.all_badges.__wrapped__()
