"""The transition table of a payment intent, row by row."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.payments import states
from apps.payments.states import PaymentDecision, PaymentProgress, decide
from tests.house.files import ROOT, sources

NOTHING = PaymentProgress(
    confirmed=Fraction(0),
    unconfirmed=Fraction(0),
    is_past_deadline=False,
    accepts_overpayments=True,
    accepts_underpayments=False,
    underpayment_tolerance=Fraction(50, 10_000),
    overpayment_tolerance=Fraction(100, 10_000),
)
ONE = Fraction(1)
HALF = Fraction(1, 2)


def facts(**changes: object) -> PaymentProgress:
    return replace(NOTHING, **changes)


ROWS = [
    # from, reason, facts -> to, reason, event
    ("pending", None, facts(), None),
    (
        "pending",
        None,
        facts(unconfirmed=ONE),
        ("processing", "pending_confirmations", "payment_intent.processing"),
    ),
    (
        "pending",
        None,
        facts(confirmed=HALF),
        ("processing", "processing_underpaid", "payment_intent.processing"),
    ),
    (
        "pending",
        None,
        facts(is_past_deadline=True),
        ("expired", "expired_timeout", "payment_intent.expired"),
    ),
    ("pending", None, facts(is_past_deadline=True, is_held_open=True), None),
    (
        "pending",
        None,
        facts(is_past_deadline=True, unconfirmed=ONE),
        ("processing", "pending_confirmations", "payment_intent.processing"),
    ),
    ("processing", "pending_confirmations", facts(unconfirmed=ONE), None),
    (
        "processing",
        "pending_confirmations",
        facts(unconfirmed=HALF),
        ("processing", "processing_underpaid", states.UNDERPAID_EVENT),
    ),
    (
        "processing",
        "processing_underpaid",
        facts(confirmed=HALF, unconfirmed=HALF),
        ("processing", "pending_confirmations", None),
    ),
    (
        "processing",
        "pending_confirmations",
        facts(confirmed=ONE),
        ("completed", "completed_exact", "payment_intent.completed"),
    ),
    (
        "processing",
        None,
        facts(confirmed=Fraction(9950, 10_000)),
        ("completed", "completed_exact", "payment_intent.completed"),
    ),
    (
        "processing",
        None,
        facts(confirmed=Fraction(10_100, 10_000)),
        ("completed", "completed_exact", "payment_intent.completed"),
    ),
    (
        "processing",
        None,
        facts(confirmed=Fraction(10_101, 10_000)),
        ("completed", "completed_overpaid", "payment_intent.completed"),
    ),
    (
        "processing",
        None,
        facts(confirmed=2 * ONE, accepts_overpayments=False),
        ("failed", "failed_overpaid", "payment_intent.failed"),
    ),
    (
        "processing",
        "x",
        facts(confirmed=ONE, unconfirmed=ONE, accepts_overpayments=False),
        ("processing", "pending_confirmations", None),
    ),
    (
        "processing",
        None,
        facts(confirmed=ONE, unconfirmed=ONE),
        ("completed", "completed_exact", "payment_intent.completed"),
    ),
    (
        "processing",
        "processing_underpaid",
        facts(confirmed=HALF, is_past_deadline=True),
        ("failed", "failed_underpaid", "payment_intent.failed"),
    ),
    (
        "processing",
        "processing_underpaid",
        facts(confirmed=HALF, is_past_deadline=True, accepts_underpayments=True),
        ("completed", "completed_underpaid", "payment_intent.completed"),
    ),
    ("processing", "pending_confirmations", facts(unconfirmed=ONE, is_past_deadline=True), None),
    (
        "processing",
        "processing_underpaid",
        facts(confirmed=HALF, is_past_deadline=True, is_held_open=True),
        ("processing", "processing_underpaid", states.UNDERPAID_EVENT),
    ),
    (
        "processing",
        "pending_confirmations",
        facts(is_past_deadline=True),
        ("expired", "expired_timeout", "payment_intent.expired"),
    ),
    ("processing", "pending_confirmations", facts(confirmed=ONE, is_under_review=True), None),
    (
        "completed",
        "completed_exact",
        facts(confirmed=2 * ONE),
        ("completed", "completed_overpaid", None),
    ),
    ("completed", "completed_overpaid", facts(confirmed=3 * ONE), None),
    ("completed", "completed_exact", facts(confirmed=ONE), None),
    ("expired", "expired_timeout", facts(confirmed=ONE), None),
    ("failed", "failed_underpaid", facts(confirmed=ONE), None),
    ("refunded", "refund_completed", facts(confirmed=ONE), None),
]


@pytest.mark.parametrize(("status", "reason", "known", "expected"), ROWS)
def test_each_row_of_the_table(
    status: str, reason: str | None, known: PaymentProgress, expected: tuple[str, str, str] | None
) -> None:
    assert decide(status, reason, known) == (PaymentDecision(*expected) if expected else None)


def test_the_short_payment_is_noted_once() -> None:
    short = facts(confirmed=HALF)
    assert decide(
        "processing", "processing_underpaid", short, is_underpaid_noted=False
    ) == PaymentDecision("processing", "processing_underpaid", states.UNDERPAID_EVENT)
    assert decide("processing", "processing_underpaid", short, is_underpaid_noted=True) is None


parts = st.fractions(min_value=0, max_value=3, max_denominator=1000)


@given(parts, parts, st.booleans(), st.booleans(), st.booleans())
def test_every_decision_is_a_legal_move_and_the_steps_come_to_rest(
    confirmed: Fraction, unconfirmed: Fraction, late: bool, over: bool, under: bool
) -> None:
    known = facts(
        confirmed=confirmed,
        unconfirmed=unconfirmed,
        is_past_deadline=late,
        accepts_overpayments=over,
        accepts_underpayments=under,
    )
    for start in states.MACHINE.moves:
        status = start
        reason = None
        noted = False
        for _ in range(6):
            step = decide(status, reason, known, is_underpaid_noted=noted)
            if step is None:
                break
            assert step.status in states.MACHINE.moves[status]
            status = step.status
            reason = step.reason
            noted = noted or step.event == states.UNDERPAID_EVENT
        else:
            pytest.fail(f"no rest from {start}")


def test_the_terminal_states_are_those_that_no_deposit_leaves() -> None:
    for status, past in product(states.TERMINAL - {"completed"}, (True, False)):
        assert decide(status, None, facts(confirmed=ONE, is_past_deadline=past)) is None


def test_an_intents_status_changes_in_one_place() -> None:
    """Nobody else asks the table to move, assigns a status or writes the column: each change has
    its history and its event."""
    writes = re.compile(r"states\.MACHINE\.\w+|\b(payment|locked|intent)\.status(, [\w.]+)* = ")
    found = {
        str(path.relative_to(ROOT))
        for path in sources("apps/payments")
        if path.suffix == ".py"
        and "migrations" not in path.parts
        and writes.search(path.read_text())
    }
    assert found == {"apps/payments/services/change_status.py"}
