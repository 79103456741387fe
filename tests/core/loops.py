"""Every job that walks everybody's rows, each with a bad row beside good ones."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Model

from apps.agents.models import Mandate, Settlement
from apps.agents.services.dispatch import advance_settlements
from apps.agents.services.mandates import expire_mandates
from apps.assets.models import Asset
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.invoices.reminders import send_reminders
from apps.billing.models import Invoice, Subscription
from apps.billing.subscriptions.cycle import run_cycles
from apps.chain.models import OutgoingTransaction
from apps.chain.simulated import put
from apps.core import clock
from apps.core.models import RowFailure
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
from apps.stores.models import Store
from apps.stores.services import change_store
from apps.stores.settings import write_settings
from apps.swaps.models import Swap
from apps.swaps.services.auto import set_auto_swap, swap_completed_payments
from apps.swaps.services.progress import advance_swaps, book_approvals
from apps.webhooks.models import Endpoint
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services import endpoint_emails
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.billing import records
from tests.cast import Shop, person, shop_of
from tests.onramp import cards

PAST = timedelta(days=2)


def poison(row: Model) -> None:
    """From now on the database refuses every change of this row."""
    name, table, column = f"poison_{uuid.uuid4().hex}", row._meta.db_table, row._meta.pk.column
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
    for payment in (bad, good):
        entry = addresses_of(payment)[0]
        put(
            entry.address_id,
            entry.asset,
            str(payment.pk),
            amount_atomic=entry.required_atomic,
            confirmations=entry.required_confirmations,
            status="confirmed",
            at=clock.real_now(),
        )
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
    for owner in (shop, shop_of(person("dora"), "Dora's")):
        body = {
            "asset_id": "SETH",
            "frequency": "daily",
            "destination_address": make.fresh_address(),
        }
        answer = owner.test.post("/payout_schedules", {"payout_schedule": body})
        assert answer.status_code == 201, answer.content
    bad, good = Schedule.objects.order_by("created_at")
    for schedule, age in ((bad, PAST), (good, PAST / 2)):
        Schedule.objects.filter(pk=schedule.pk).update(next_payout_at=clock.real_now() - age)
    return Loop(
        "payouts.run_schedules",
        run_schedules,
        bad,
        good,
        _is(good, next_payout_at__gt=clock.real_now()),
    )


def _envelopes(shop: Shop) -> None:
    write_settings(shop.store, {"authorization_provider": "policy", "x402_dispatch": True})
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
    for mandate, age in ((bad, PAST), (good, PAST / 2)):
        Mandate.objects.filter(pk=mandate.pk).update(expires_at=clock.real_now() - age)
    return Loop("agents.expire_mandates", expire_mandates, bad, good, _is(good, status="expired"))


def following_cards(shop: Shop) -> Loop:
    change_store(shop.store, country="DE", card_funding_test=True)
    for _ in range(2):
        cards.opened(make.payment(shop.test))
    bad, good = FundingSession.objects.order_by("created_at")
    for session, age in ((bad, PAST), (good, PAST / 2)):
        FundingSession.objects.filter(pk=session.pk).update(next_poll_at=clock.real_now() - age)
    return Loop("onramp.follow", follow, bad, good, _is(good, next_poll_at__gt=clock.real_now()))


def counting_what_was_paid(shop: Shop) -> Loop:
    bad, good = (Invoice.objects.get(pk=records.opened(shop.test)["id"]) for _ in range(2))
    for invoice in (bad, good):
        started = records.start_payment(
            records.invoice(shop.test, str(invoice.pk))["public_token"]
        ).json()
        make.simulated(shop.test, started["payment"]["payment_intent_id"])
    return Loop(
        "billing.update_paid_amounts", update_paid_amounts, bad, good, _is(good, status="paid")
    )


def billing(shop: Shop) -> Loop:
    bad, good = (Subscription.objects.get(pk=records.subscribe(shop.test)["id"]) for _ in range(2))
    for subscription, age in ((bad, PAST), (good, PAST / 2)):
        Subscription.objects.filter(pk=subscription.pk).update(
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
    for invoice, age in ((bad, PAST), (good, PAST / 2)):
        Invoice.objects.filter(pk=invoice.pk).update(next_letter_at=clock.real_now() - age)
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
    for number, store in enumerate((bad, good)):
        checked = clock.real_now() - PAST + timedelta(hours=number)
        Store.objects.filter(pk=store.pk).update(
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
    return Loop(
        "webhooks.tell_owners", endpoint_emails.tell_all, bad, good, _is(good, is_notice_due=False)
    )


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
