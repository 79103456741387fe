"""A row in the table of transactions is worth nothing by itself: the signer wants an approval, and
the coins in the books."""

import base64
import os
import subprocess
import sys
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection

from apps.chain.models import Address, OutgoingTransaction, SignedTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import approvals, hot_wallets, reservations, sender, signing_rounds
from apps.core import clock
from apps.core.process.published_secrets import PUBLISHED
from tests.console.test_deployment import PRODUCTION, ROOT
from tests.console.test_figures import told
from tests.sending.conftest import ETHER, World

NOT_APPROVED = ("review", Reason.NOT_APPROVED)
NOT_RESERVED = ("review", Reason.NOT_RESERVED)
OTHER = "newer:" + base64.urlsafe_b64encode(b"n" * 32).decode()
_COLUMNS = (
    "id, mode, chain_id, asset_id, purpose, reference, to_address, amount_atomic, call_data,"
    " received_atomic, status, handled_status, "
)
_COLUMNS += (
    "handled_fee_atomic, handled_received_atomic, undone_count, reason, from_address, tx_hash,"
    " block_hash, network_fee_atomic, requested_at"
)


def planted(
    to: str, amount_atomic: int, purpose: str, from_address: str = ""
) -> OutgoingTransaction:
    """Rows that somebody with a foot in the web process writes by hand: references that exist
    nowhere."""
    pk = uuid.uuid4()
    told = [purpose, f"{uuid.uuid4()}-0", to, amount_atomic, from_address]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO chain_outgoingtransaction ({_COLUMNS}) VALUES (%s, 'test', 'sepolia',"
            " 'SETH', %s, %s, %s, %s, '', 0, 'requested', '', 0, 0, 0, '', %s, '', '', 0, now())",
            [pk, *told],
        )
    return OutgoingTransaction.objects.get(pk=pk)


def outcome(row: OutgoingTransaction) -> tuple[str, str]:
    found = OutgoingTransaction.objects.get(pk=row.pk)
    assert not SignedTransaction.objects.filter(outgoing=row).exists()
    return found.status, found.reason_code


@pytest.mark.chain
class TestARowWrittenByHand:
    def test_sends_nothing_and_calls_a_person(
        self, world: World, caplog: pytest.LogCaptureFixture
    ) -> None:
        thief = world.stranger()
        rows = [
            planted(thief, ETHER // 5, purpose)
            for purpose in ("payout", "refund", "settlement", "test_payment")
        ]
        world.finish()
        for row in rows:
            assert outcome(row) == NOT_APPROVED, row.purpose
        assert world.balance(thief) == 0
        assert caplog.text.count("'outgoing_not_approved'") == len(rows)
        assert told()['tillgate_trouble{what="unapproved_transaction"}'] == len(rows)

    def test_sweeps_no_deposit_and_sends_no_gas(self, world: World) -> None:
        """Also to an address that the row's writer calls one of ours: the seed knows better."""
        signing_rounds.introduce()
        mine = world.stranger()
        Address.objects.create(
            address=mine, mode="test", index=10**6 + os.getpid(), created_at=clock.real_now()
        )
        swept = planted(world.hot, 1, "sweep", from_address=mine)
        gas = planted(mine, 1, "sweep_gas")
        approved = world.ask(1, mine, purpose="sweep_gas")
        world.finish()
        assert (outcome(swept), outcome(gas)) == (NOT_APPROVED, ("review", Reason.NO_KEY))
        assert (outcome(approved), world.balance(mine)) == (("review", Reason.NO_KEY), 0)
        OutgoingTransaction.objects.filter(pk__in=[swept.pk, gas.pk, approved.pk]).delete()
        Address.objects.filter(pk=mine).delete()

    def test_gains_nothing_by_the_approval_of_another(self, world: World) -> None:
        thief = world.stranger()
        row = planted(thief, 5, "test_payment")
        approved = world.ask(5)
        OutgoingTransaction.objects.filter(pk=row.pk).update(approval=approved.approval)
        world.finish()
        assert (outcome(row), world.balance(thief)) == (NOT_APPROVED, 0)
        assert OutgoingTransaction.objects.get(pk=approved.pk).status == "confirmed"

    def test_is_not_sent_by_a_person_who_only_says_that_it_was_not_sent(self, world: World) -> None:
        """The approval is a person's then, and the books still know nothing of it."""
        row = planted(world.stranger(), 5, "payout")
        world.work()
        row.refresh_from_db()
        hot_wallets.resolve_as_unsent(row, clock.real_now())
        world.finish()
        assert outcome(row) == NOT_RESERVED


@pytest.mark.chain
class TestAnApprovedRow:
    def test_is_signed_as_it_was_approved_or_not_at_all(self, world: World) -> None:
        changes: dict[str, Any] = {
            "to_address": "0x" + "7" * 40,
            "amount_atomic": ETHER,
            "reference": "another",
            "purpose": "refund",
            "asset_id": "USDC_SETH",
            "mode": "live",
            "call_data": "0x12",
            "receives_asset_id": "SETH",
        }
        rows = {name: world.ask(5) for name in changes}
        for name, row in rows.items():
            assert approvals.is_approved(row)
            setattr(row, name, changes[name])
            assert not approvals.is_approved(row), name
            OutgoingTransaction.objects.filter(pk=row.pk).update(**{name: changes[name]})
        world.finish()
        for name, row in rows.items():
            assert outcome(row)[0] in ("review", "failed"), name

    def test_is_not_replaced_as_something_else(self, world: World, settings: Any) -> None:
        world.automine(False)
        row = world.ask(5)
        thief = world.stranger()
        world.work()
        row.candidates.update(
            signed_at=clock.real_now() - timedelta(seconds=settings.SIGNER_STUCK_SECONDS + 1)
        )
        OutgoingTransaction.objects.filter(pk=row.pk).update(to_address=thief)
        world.work()
        assert row.candidates.count() == 1

    def test_needs_its_coins_in_the_books(self, world: World) -> None:
        rows = [
            world.ask(5, purpose=purpose, reference=f"{uuid.uuid4()}-0")
            for purpose in ("payout", "refund", "settlement")
        ]
        world.finish()
        for row in rows:
            assert outcome(row) == NOT_RESERVED, row.purpose

    def test_stays_approved_while_its_key_is_kept_and_no_longer(
        self, world: World, settings: Any
    ) -> None:
        early = world.ask(5)
        late = world.ask(6)
        settings.APPROVAL_KEYS = [OTHER, PUBLISHED["APPROVAL_KEYS"]]
        newer = world.ask(7)
        assert (early.approval[:5], newer.approval[:6]) == ("demo:", "newer:")
        OutgoingTransaction.objects.filter(pk=late.pk).update(
            not_before=clock.real_now() + timedelta(minutes=1)
        )
        world.finish()
        assert {OutgoingTransaction.objects.get(pk=item.pk).status for item in (early, newer)} == {
            "confirmed"
        }
        settings.APPROVAL_KEYS = [OTHER]
        world.a_minute_passes()
        world.work()
        assert outcome(late) == NOT_APPROVED


def test_every_purpose_says_what_the_books_must_hold_for_it() -> None:
    assert set(reservations.OF) == set(OutgoingTransaction.Purpose.values)


def test_no_test_payment_is_signed_in_live_mode(world: World) -> None:
    row = OutgoingTransaction(purpose="test_payment", mode="live", reference=str(uuid.uuid4()))
    assert reservations.refusals([row]) == {row.pk: Reason.NOT_RESERVED}


def test_a_process_without_a_key_asks_for_nothing(world: World, settings: Any) -> None:
    settings.APPROVAL_KEYS = []
    with pytest.raises(ImproperlyConfigured, match="APPROVAL_KEYS is missing"):
        world.ask(5)
    with pytest.raises(ImproperlyConfigured):
        sender.request_many([OutgoingTransaction(mode="test", amount_atomic=1)])
    assert not OutgoingTransaction.objects.exists()


def test_the_signer_does_not_start_without_a_key(
    settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.APPROVAL_KEYS = []
    with pytest.raises(SystemExit):
        call_command("signer", "--once")
    assert "APPROVAL_KEYS is missing" in capsys.readouterr().err


def _start(*command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environ = kept | PRODUCTION | environment
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_worker_that_pays_does_not_start_without_a_key_and_one_of_reports_needs_none() -> None:
    script = (
        "import sys; from celery.__main__ import main;"
        " from config.celery import app, _refuse_to_work_without_keys as check;"
        " app.amqp.queues.select(['reports']); check(type('W', (), {'app': app}));"
        " print('reports', flush=True);"
        " sys.argv = 'celery -A config.celery worker --queues celery --pool solo'.split(); main()"
    )
    said = _start("-c", script, DJANGO_SETTINGS_MODULE="config.settings")
    assert said.stdout.startswith("reports"), said.stderr
    assert said.returncode != 0 and "APPROVAL_KEYS is missing" in said.stderr + said.stdout
