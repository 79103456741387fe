"""One bad row stops nobody: in every job everybody else's rows go on within the same run, and staff
see the bad one."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.models import Model

from apps.agents.models import Mandate, Settlement
from apps.agents.services.dispatch import advance_settlements
from apps.agents.services.mandates import expire_mandates
from apps.assets.models import Asset
from apps.billing.invoices.payment_intents import settle_invoices
from apps.billing.invoices.reminders import send_reminders
from apps.billing.models import Invoice, Subscription
from apps.billing.subscriptions.cycle import run_cycles
from apps.chain.models import OutgoingTransaction
from apps.chain.simulated import put
from apps.core import clock, rows
from apps.core.models import RowFailure, RowTurn
from apps.core.rows import Job
from apps.ledger.checkpoints import fold_long_tails
from apps.ledger.models import Account
from apps.onramp.models import FundingSession
from apps.onramp.services.progress import follow
from apps.payments.models import Payment, Refund
from apps.payments.selectors import addresses_of
from apps.payments.services.expire import expire_due
from apps.payments.services.reconcile import reconcile_due
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.settle import settle_deposits
from apps.payments.services.sweep_books import book_sweeps
from apps.payments.services.test_wallet import book_test_payments
from apps.payouts.models import Schedule
from apps.payouts.services.runs import run_schedules
from apps.stores.domains import check_due
from apps.stores.models import Store, User
from apps.stores.services import change_store
from apps.swaps.models import Swap
from apps.swaps.services.auto import set_auto_swap, swap_completed_payments
from apps.swaps.services.progress import advance_swaps, book_approvals
from apps.webhooks.delivery import queue
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services import notices
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.billing import records
from tests.cast import Shop, person, shop_of
from tests.console.test_figures import told
from tests.onramp import cards

PAST = timedelta(days=2)


def poison(row: Model) -> None:
    """From now on the database refuses every change of this row."""
    name, table, column = f"poison_{uuid.uuid4().hex}", row._meta.db_table, row._meta.pk.column  # type: ignore[union-attr]
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION"
            f" 'a row that raises'; END $$;CREATE TRIGGER {name} BEFORE UPDATE ON {table} FOR EACH"
            f" ROW WHEN (OLD.{column}::text = '{row.pk}') EXECUTE FUNCTION {name}()"
        )
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@dataclass
class Loop:
    """A job with two rows that are due, the bad one first."""

    job: str
    run: Callable[[], object]
    bad: Model
    good: Model
    has_moved: Callable[[], bool]


# --- two rows of each job ---


def _payments(shop: Shop) -> list[Payment]:
    return [Payment.objects.get(pk=make.payment(shop.test)["id"]) for _ in range(2)]


def _is(row: Model, **columns: Any) -> Callable[[], bool]:
    return lambda: type(row)._default_manager.filter(pk=row.pk, **columns).exists()


def settling(shop: Shop) -> Loop:
    bad, good = _payments(shop)
    for one in (bad, good):
        entry = addresses_of(one)[0]
        facts = {
            "confirmations": entry.required_confirmations,
            "status": "confirmed",
            "at": clock.real_now(),
        }
        put(entry.address, entry.asset, str(one.pk), amount_atomic=entry.required_atomic, **facts)
    return Loop(
        "payments.settle_deposits", settle_deposits, bad, good, _is(good, status="completed")
    )


def expiring(shop: Shop) -> Loop:
    bad, good = _payments(shop)
    Store.objects.filter(pk=shop.store.pk).update(
        test_offset_seconds=1
    )  # no block has to be waited for
    Payment.objects.filter(pk=bad.pk).update(expires_at=clock.real_now() - PAST)
    Payment.objects.filter(pk=good.pk).update(expires_at=clock.real_now() - PAST / 2)
    return Loop("payments.expire_due", expire_due, bad, good, _is(good, status="expired"))


def reconciling(shop: Shop) -> Loop:
    bad, good = (Payment.objects.get(pk=make.paid(shop.test)["id"]) for _ in range(2))
    return Loop(
        "payments.reconcile", reconcile_due, bad, good, _is(good, reconciliation_status="final")
    )


def refunding(shop: Shop) -> Loop:
    make.funded(shop.test)
    for _ in range(2):
        paid = make.paid(shop.test)
        body = {"refund": {"destination_address": make.fresh_address()}}
        answer = shop.test.post(f"/payments/{paid['id']}/refunds", body, key=uuid.uuid4().hex)
        assert answer.status_code == 201, answer.content
    bad, good = Refund.objects.order_by("created_at")
    return Loop(
        "payments.advance_refunds", advance_refunds, bad, good, _is(good, status="submitted")
    )


def _sent(purpose: str) -> list[OutgoingTransaction]:
    """Two transfers that ended without having cost anything."""
    at = clock.real_now()
    made = []
    for age in (2, 1):
        fields = {
            "chain_id": "sepolia",
            "asset_id": "SETH",
            "mode": "test",
            "to_address": make.fresh_address(),
            "amount_atomic": 1,
        }
        fields |= {
            "status": "failed",
            "requested_at": at,
            "finished_at": at - timedelta(minutes=age),
        }
        made.append(
            OutgoingTransaction.objects.create(
                purpose=purpose, reference=str(uuid.uuid4()), **fields
            )
        )
    return made


def booking_sweeps(shop: Shop) -> Loop:
    bad, good = _sent("sweep_gas")
    return Loop("payments.book_sweeps", book_sweeps, bad, good, _is(good, handled_status="failed"))


def booking_test_payments(shop: Shop) -> Loop:
    bad, good = _sent("test_payment")
    return Loop(
        "payments.book_test_payments",
        book_test_payments,
        bad,
        good,
        _is(good, handled_status="failed"),
    )


def booking_approvals(shop: Shop) -> Loop:
    bad, good = _sent("approval")
    return Loop(
        "swaps.book_approvals", book_approvals, bad, good, _is(good, handled_status="failed")
    )


def swapping(shop: Shop) -> Loop:
    bad, good = (Swap.objects.get(pk=make.swapped(shop, key)) for key in ("a", "b"))
    make.service_coins("USDC_SETH", 10**12)
    return Loop(
        "swaps.advance", advance_swaps, bad, good, lambda: not _is(good, status="pending")()
    )


def swapping_by_itself(shop: Shop) -> Loop:
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    set_auto_swap(shop.owner_access(), "USDC_SETH")
    bad, good = (Payment.objects.get(pk=make.paid(shop.test)["id"]) for _ in range(2))
    return Loop(
        "swaps.auto_swap",
        swap_completed_payments,
        bad,
        good,
        _is(good, auto_swap_status__isnull=False),
    )


def paying_out_by_schedule(shop: Shop) -> Loop:
    for one in (shop, shop_of(person("dora"), "Dora's")):
        body = {
            "asset_id": "SETH",
            "frequency": "daily",
            "destination_address": make.fresh_address(),
        }
        answer = one.test.post("/payout_schedules", {"payout_schedule": body})
        assert answer.status_code == 201, answer.content
    bad, good = Schedule.objects.order_by("created_at")
    for one, age in ((bad, PAST), (good, PAST / 2)):
        Schedule.objects.filter(pk=one.pk).update(next_payout_at=clock.real_now() - age)
    return Loop(
        "payouts.run_schedules",
        run_schedules,
        bad,
        good,
        _is(good, next_payout_at__gt=clock.real_now()),
    )


def _envelopes(shop: Shop) -> None:
    Store.objects.filter(pk=shop.store.pk).update(
        authorization_provider="policy", x402_dispatch=True
    )
    make.store_coins(shop.store, "SETH", 10**18)
    agent = type(shop.test)(shop.secrets["test_agent"])
    for name in ("a", "b"):
        made = agent.post(
            "/agentic/mandates",
            {"asset_id": "SETH", "total_cap_atomic": "1000", "mandate_ref": name},
        )
        assert made.status_code == 201, made.content
        body = {
            "asset_id": "SETH",
            "mandate_ref": name,
            "amount_atomic": "10",
            "pay_to": make.fresh_address(),
        }
        drawn = agent.post("/agentic/x402/settlements", body, key=name)
        assert drawn.status_code == 201, drawn.content


def settling_draws(shop: Shop) -> Loop:
    _envelopes(shop)
    bad, good = Settlement.objects.order_by("created_at")
    Settlement.objects.update(is_dispatched=True, pay_to=None)
    return Loop(
        "agents.advance_settlements", advance_settlements, bad, good, _is(good, status="failed")
    )


def ending_envelopes(shop: Shop) -> Loop:
    _envelopes(shop)
    bad, good = Mandate.objects.order_by("created_at")
    for one, age in ((bad, PAST), (good, PAST / 2)):
        Mandate.objects.filter(pk=one.pk).update(expires_at=clock.real_now() - age)
    return Loop("agents.expire_mandates", expire_mandates, bad, good, _is(good, status="expired"))


def following_cards(shop: Shop) -> Loop:
    change_store(shop.store, country="DE", card_funding_test=True)
    for _ in range(2):
        cards.opened(make.payment(shop.test))
    bad, good = FundingSession.objects.order_by("created_at")
    for one, age in ((bad, PAST), (good, PAST / 2)):
        FundingSession.objects.filter(pk=one.pk).update(next_poll_at=clock.real_now() - age)
    return Loop("onramp.follow", follow, bad, good, _is(good, next_poll_at__gt=clock.real_now()))


def counting_what_was_paid(shop: Shop) -> Loop:
    bad, good = (Invoice.objects.get(pk=records.opened(shop.test)["id"]) for _ in range(2))
    for one in (bad, good):
        started = records.start_payment(
            records.invoice(shop.test, str(one.pk))["public_token"]
        ).json()
        make.simulated(shop.test, started["payment"]["payment_intent_id"])
    return Loop("billing.settle_invoices", settle_invoices, bad, good, _is(good, status="paid"))


def billing(shop: Shop) -> Loop:
    bad, good = (Subscription.objects.get(pk=records.subscribe(shop.test)["id"]) for _ in range(2))
    for one, age in ((bad, PAST), (good, PAST / 2)):
        Subscription.objects.filter(pk=one.pk).update(
            next_step_at=clock.real_now() - age, next_billing_at=clock.real_now() - age
        )
    return Loop(
        "billing.run_cycles", run_cycles, bad, good, _is(good, next_step_at__gt=clock.real_now())
    )


def reminding(shop: Shop) -> Loop:
    due = clock.iso(clock.real_now() + 5 * PAST)
    bad, good = (
        Invoice.objects.get(pk=records.opened(shop.test, due_at=due)["id"]) for _ in range(2)
    )
    for one, age in ((bad, PAST), (good, PAST / 2)):
        Invoice.objects.filter(pk=one.pk).update(next_letter_at=clock.real_now() - age)
    before = clock.real_now() - PAST / 2
    return Loop(
        "billing.send_reminders",
        send_reminders,
        bad,
        good,
        lambda: not _is(good, next_letter_at__lte=before)(),
    )


def looking_at_domains(shop: Shop) -> Loop:
    bad = shop.store
    good = shop_of(person("dora"), "Dora's").store
    for number, one in enumerate((bad, good)):
        checked = clock.real_now() - PAST + timedelta(hours=number)
        Store.objects.filter(pk=one.pk).update(
            checkout_domain=f"pay{number}.example", checkout_domain_checked_at=checked
        )
    began = clock.real_now()
    return Loop(
        "stores.check_domains",
        lambda: check_due(clock.real_now()),
        bad,
        good,
        _is(good, checkout_domain_checked_at__gte=began),
    )


def telling_owners(shop: Shop) -> Loop:
    for number in range(2):
        register_endpoint(
            shop.access(),
            EndpointRequest(
                url=f"https://1.1.1.1/{number}", subscribed_events=["payment_intent.created"]
            ),
        )
    bad, good = Endpoint.objects.order_by("pk")
    Endpoint.objects.update(is_notice_due=True, disabled_at=clock.real_now())
    return Loop("webhooks.tell_owners", notices.tell_all, bad, good, _is(good, is_notice_due=False))


def folding(shop: Shop) -> Loop:
    make.paid(shop.test)
    bad, good = Account.objects.filter(mode="test").order_by("pk")[:2]
    return Loop(
        "ledger.checkpoint",
        lambda: fold_long_tails(0),
        bad,
        good,
        lambda: RowFailure.objects.count() == 1,
    )


LOOPS = (
    settling,
    expiring,
    reconciling,
    refunding,
    booking_sweeps,
    booking_test_payments,
    booking_approvals,
    swapping,
    swapping_by_itself,
    paying_out_by_schedule,
    settling_draws,
    ending_envelopes,
    following_cards,
    counting_what_was_paid,
    billing,
    reminding,
    looking_at_domains,
    telling_owners,
    folding,
)


@pytest.mark.parametrize("make_loop", LOOPS, ids=lambda one: one.__name__)
def test_a_row_that_raises_stops_nobody_elses(
    make_loop: Callable[[Shop], Loop], bakery: Shop
) -> None:
    loop = make_loop(bakery)
    poison(loop.bad)
    loop.run()
    assert loop.has_moved()
    failure = RowFailure.objects.get()
    assert (failure.job, failure.row_id, failure.tries, failure.dead_at) == (
        loop.job,
        str(loop.bad.pk),
        1,
        None,
    )
    assert "apps/" in failure.error and "a row that raises" not in failure.error
    loop.run()
    assert RowFailure.objects.get().tries == 1, "it waits out its pause"


def test_an_endpoint_whose_secret_can_not_be_read_keeps_no_delivery_of_others(bakery: Shop) -> None:
    for number in range(2):
        register_endpoint(
            bakery.access(),
            EndpointRequest(
                url=f"https://1.1.1.{number + 1}/hook", subscribed_events=["payment_intent.created"]
            ),
        )
    bad, good = Endpoint.objects.order_by("pk")
    Endpoint.objects.filter(pk=bad.pk).update(sealed_secret="nothing that was sealed")
    make.payment(bakery.test)
    (attempt,) = queue.claim(clock.real_now(), 10)
    assert attempt.delivery_id == Delivery.objects.get(endpoint=good).pk
    assert RowFailure.objects.get().row_id == str(Delivery.objects.get(endpoint=bad).pk)


# --- the runner -----------------------------------------------------------------------------------

JOB = Job("tests.users", limit=3)


@pytest.fixture
def people(db: None) -> list[User]:
    """Seven rows, in the order of their names."""
    return [
        User.objects.create(email=f"{number}@rows.example", name="a row") for number in range(7)
    ]


def users() -> Any:
    return User.objects.filter(email__endswith="@rows.example").order_by("email")


class Work:
    """Notes whom it saw; raises for the emails in `bad`."""

    def __init__(self, *bad: str) -> None:
        self.bad = set(bad)
        self.seen = list[str]()

    def __call__(self, user: User) -> None:
        self.seen.append(user.email[0])
        User.objects.filter(pk=user.pk).update(name="touched")
        if user.email[0] in self.bad:
            raise ValueError("the password is hunter2")


def due_again() -> None:
    RowFailure.objects.update(not_before=clock.real_now())


def test_a_failure_is_undone_kept_without_its_text_and_forgotten_by_a_success(
    people: list[User],
) -> None:
    work = Work("0")
    one = users().filter(email__startswith="0")
    assert JOB.walk(one, work) == 1
    failure = RowFailure.objects.get()
    assert failure.error.startswith("ValueError") and "hunter2" not in failure.error
    assert User.objects.get(pk=people[0].pk).name == "a row"
    assert JOB.walk(one, work) == 0
    due_again()
    work.bad.clear()
    assert JOB.walk(one, work) == 1 and not RowFailure.objects.exists()


def test_pauses_grow_to_an_hour_and_a_vital_rows_to_a_minute() -> None:
    seconds = [JOB.pause_after(tries).total_seconds() for tries in range(1, 13)]
    assert seconds == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]
    vital = Job("tests.chain", is_vital=True)
    assert (
        vital.pause_after(1).total_seconds() == 5
        and vital.pause_after(10_000).total_seconds() == 60
    )


def test_after_its_tries_a_row_waits_for_staff_who_have_it_tried_once_more(
    people: list[User], settings: Any
) -> None:
    settings.ROW_TRIES_MAX = 3
    work = Work("0")
    one = users().filter(email__startswith="0")
    for _ in range(5):
        JOB.walk(one, work)
        due_again()
    failure = RowFailure.objects.get()
    assert len(work.seen) == failure.tries == 3 and failure.dead_at is not None
    assert told()['tillgate_rows_dead{job="tests.users"}'] == 1
    assert rows.retry(RowFailure.objects.all()) == 1
    JOB.walk(one, work)
    assert len(work.seen) == 4 and RowFailure.objects.get().dead_at is not None
    work.bad.clear()
    rows.retry(RowFailure.objects.all())
    JOB.walk(one, work)
    assert not RowFailure.objects.exists() and rows.failing() == []


def test_a_vital_row_is_never_given_up(people: list[User], settings: Any) -> None:
    settings.ROW_TRIES_MAX = 2
    vital = Job("tests.chain", is_vital=True)
    work = Work("0")
    for _ in range(4):
        vital.walk(users().filter(email__startswith="0"), work)
        due_again()
    assert len(work.seen) == 4 and RowFailure.objects.get().dead_at is None


def test_paused_rows_take_no_place_and_what_had_none_is_looked_at_next(people: list[User]) -> None:
    work = Work("0", "1", "2")
    assert JOB.walk(users(), work) == 3
    for _ in range(2):
        JOB.walk(users(), work)
    assert set(work.seen) == set("0123456")


def test_rows_that_can_not_move_yet_keep_no_later_row_from_its_turn(people: list[User]) -> None:
    work = Work()
    for _ in range(3):
        assert JOB.walk(users(), work) == 3
    assert set(work.seen) == set("0123456") and RowTurn.objects.get().job == "tests.users"
    assert JOB.walk(users().filter(email__startswith="6"), work) == 1 and work.seen[-1] == "6"


def test_a_lost_database_is_no_rows_error_and_ends_the_run_with_one_line(
    people: list[User], caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def lose(user: User) -> None:
        seen.append(user.email)
        raise OperationalError("the connection is lost")

    assert JOB.walk(users(), lose) == 0
    assert len(seen) == 1 and not RowFailure.objects.exists()
    assert [line.message.count("run_ended") for line in caplog.records] == [1]


def test_a_partners_error_is_raised_on(people: list[User]) -> None:
    def away(user: User) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        Job("tests.users", raises=(TimeoutError,)).walk(users(), away)
    assert not RowFailure.objects.exists()


def test_failures_of_rows_that_never_came_up_again_are_forgotten_but_not_dead_ones(
    people: list[User],
) -> None:
    JOB.walk(users().filter(email__lt="2"), Work("0", "1"))
    RowFailure.objects.filter(row_id=str(people[0].pk)).update(dead_at=clock.real_now())
    rows.forget(clock.real_now() + timedelta(days=8))
    assert RowFailure.objects.get().row_id == str(people[0].pk)
