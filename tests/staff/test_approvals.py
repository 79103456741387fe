"""The page on which a second person decides: what is requested with its worth, what is known beside
it, and one main button."""

from typing import Any

import pytest

from apps.assets.models import Asset
from apps.core import clock
from apps.ledger.models import Movement
from apps.payments.services.corrections import CORRECTION, Correction, wish_of
from apps.stores.models import StaffRequest
from apps.stores.staff import four_eyes
from apps.stores.staff.dispatch import request_dispatch
from apps.stores.staff_roles import StaffRole
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import next_code, text
from tests.staff.pages import DECISIONS, decisions, person_of, reviewed, statements
from tests.staff.test_roles import signed_in
from tests.stores.wishes import WISHES, asked_for

BESIDE = {
    "payout": ["Other payouts of the store", "Destination", "Value now"],
    "correction": ["Store", "Value now"],
    "second_factor": ["Person", "Last sign-in"],
    "card_network": [],
    "dispatch": ["Store"],
    "store_terms": ["Store"],
    "payout_limits": ["Store"],
    "member_role": ["Store", "Person"],
    "confirmations": ["Network", "Fewest confirmations"],
    "network": ["Seconds between blocks", "xDAI"],
    "asset": ["Network", "Active assets", "EURC"],
    "staff_roles": ["Person", "Staff roles"],
    "sending": ["Hold", "A doubt"],
    "suspension": ["Store"],
}


@pytest.fixture(autouse=True)
def threshold(settings: Any) -> None:
    settings.STAFF_FOUR_EYES_ABOVE_CENTS = 0


def page_of(row: StaffRequest) -> str:
    return f"/admin/stores/staffrequest/{row.pk}/decide/"


@pytest.mark.parametrize("name", WISHES)
def test_each_kind_stands_beside_what_is_known_of_it_with_one_main_button(
    name: str, cast: Cast
) -> None:
    _, row, _ = asked_for(name, cast, make.clerk(*StaffRole.values))
    shown = text(signed_in(make.clerk(*StaffRole.values)).get(page_of(row)))
    for title in ("What is requested", "History", "Earlier requests", *BESIDE[name]):
        assert title in shown, title
    assert "Digest" not in shown and row.digest in shown
    assert "less than a minute ago" in shown
    assert decisions(shown) == DECISIONS


def test_what_a_correction_is_worth_is_told_with_separators(cast: Cast) -> None:
    asset = Asset.objects.select_related("chain").get(pk="SETH")
    wanted = Correction("one", asset, "custody_hot", None, -4_000 * 10**18)
    wish = wish_of(wanted, "Found")
    asked = four_eyes.ask(CORRECTION, wish, make.clerk("finance"), clock.real_now())
    shown = text(signed_in(make.clerk("finance")).get(page_of(asked)))
    assert "−4,000 ETH, −€7,200,000.00 (-4000000000000000000000 atomic units)" in shown


def test_a_request_asks_no_more_for_a_store_with_many_payouts(cast: Cast) -> None:
    _, row, _ = asked_for("payout", cast, make.clerk("finance"))
    browser = signed_in(make.clerk("finance"))
    reviewed(cast, 1)
    browser.get(page_of(row))
    few = statements(lambda: browser.get(page_of(row)))
    reviewed(cast, 5)
    assert statements(lambda: browser.get(page_of(row))) == few


def test_an_approval_that_moves_money_needs_a_reason_and_keeps_what_was_typed(cast: Cast) -> None:
    _, row, _ = asked_for("correction", cast, make.clerk("finance"))
    second = signed_in(make.clerk("finance"))
    said = {"decision": "approve", "digest": row.digest}
    refused = second.post(page_of(row), **said, code=next_code(person_of(second)))
    assert refused.status_code == 422 and "This approval needs a reason" in text(refused)
    wrong = second.post(page_of(row), **said, reason="Seen in their mail", code="000000")
    assert wrong.status_code == 422 and "Seen in their mail" in text(wrong)
    assert not Movement.objects.filter(key=f"correction:{row.target_id}").exists()


def test_an_earlier_request_about_the_same_is_in_its_history(cast: Cast) -> None:
    first = make.clerk("finance", "admin")
    _, row, wish = asked_for("dispatch", cast, first)
    browser = signed_in(first)
    browser.post(page_of(row), decision="reject", reason="Too early")
    _, again, _ = asked_for("dispatch", cast, first, wish)
    shown = text(signed_in(make.clerk("admin")).get(page_of(again)))
    assert "Withdrawn, requested by" in shown
    over = text(browser.get(page_of(row)))
    assert "Too early" in over and "<dt>Withdrawn by</dt>" in over and not decisions(over)


def test_a_switch_is_off_now_and_on_after_approval(cast: Cast) -> None:
    _, row, _ = asked_for("dispatch", cast, make.clerk("admin"))
    assert four_eyes.content_of(row).lines == [("Send agents’ x402 payments on-chain", "Off", "On")]


def test_a_choice_and_its_rules_are_in_words(cast: Cast) -> None:
    changes = {
        "authorization_provider": "policy",
        "authorization_policy": {"agents_may_refund": False, "allowed_assets": []},
    }
    staff = make.clerk("admin")
    at = clock.real_now()
    row = request_dispatch(cast.bakery.store, changes, "Their contract", staff, at)
    assert row is not None
    assert [line[1:] for line in four_eyes.content_of(row).lines] == [
        ("None", "Policy"),
        ("None", "Agents may refund: Off; Allowed assets: None"),
    ]
