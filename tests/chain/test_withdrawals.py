"""The operator's own earnings: taken out by two people, to listed addresses, never more than was
earned, and booked to the unit."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core import mail as outbox
from django.core.management import call_command
from django.db import IntegrityError, transaction

from apps.assets.models import Asset
from apps.audit.grants import SIGNER, WEB, WORKER
from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import sender, signing_rounds
from apps.core import clock, mail
from apps.core.db import tenancy
from apps.ledger.selectors import account_balance
from apps.payments.models import Withdrawal
from apps.payments.services import withdrawals
from apps.payments.services.cold import move_to_cold
from apps.payments.services.withdrawals import (
    WithdrawalRefused,
    WithdrawalRequest,
    advance_withdrawals,
    withdrawable,
)
from apps.payments.tasks import advance_treasury
from apps.stores.models import AuditEntry, User
from apps.stores.services import create_user
from apps.stores.staff_roles import StaffRole
from tests import auditing, make
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.test_cold_storage import COLD, ETHER, Desk, booked
from tests.roles import acting_as

OWNER = "0x" + "a1" * 20
ASSET = "SETH"


def person(name: str, *, is_staff: bool = True) -> User:
    return create_user(f"{name}@example.com", "pw-0123456789", name=name.title(), is_staff=is_staff)


@pytest.fixture
def people(db: None, settings: Any) -> tuple[User, User]:
    """Sam asks, Tess lets go. Of a hundred coins of the service three are earned."""
    settings.WITHDRAWAL_ADDRESSES = [OWNER.upper().replace("X", "x")]
    found = person("sam"), person("tess")
    make._correct(ASSET, "service_fees", None, 3 * ETHER, found[0])
    return found


@pytest.fixture
def desk(chain: LocalChain, watcher: Reader, people: tuple[User, User]) -> Desk:
    signing_rounds.introduce()
    return Desk(chain, watcher)


def wanted(
    amount: int = ETHER, reference: str = "may", to: str = OWNER, reason: str = "Salaries"
) -> WithdrawalRequest:
    asset = Asset.objects.select_related("chain").get(pk=ASSET)
    return WithdrawalRequest(reference, asset, amount, to, reason)


def emails() -> list[tuple[str, str]]:
    """To whom, and about what, of the emails that left just now."""
    outbox.outbox.clear()
    mail.send_due()
    assert all(
        "/admin/payments/withdrawal/" in str(item.body) and "Salaries" in str(item.body)
        for item in outbox.outbox
    )
    return [(item.to[0], item.subject) for item in outbox.outbox]


def test_whoever_may_let_it_go_hears_that_it_waits_and_whoever_asked_what_became_of_it(
    people: tuple[User, User],
) -> None:
    make.service_coins(ASSET, 5 * ETHER)
    support = make.clerk(StaffRole.SUPPORT)
    waits = "A withdrawal of earnings needs a second approval"
    row = asked(people[0])
    told = emails()
    assert (people[1].email, waits) in told and {subject for _, subject in told} == {waits}
    assert not {people[0].email, support.email} & {to for to, _ in told}
    assert (asked(people[0]), emails()) == (row, [])
    withdrawals.reject_withdrawal(row.pk, people[1], clock.real_now())
    assert emails() == [(people[0].email, "A withdrawal of earnings was rejected")]
    let_go(asked(people[0], reference="june"), people[1])
    assert emails()[-1] == (people[0].email, "A withdrawal of earnings was approved")
    own = asked(people[0], reference="july")
    emails()
    withdrawals.reject_withdrawal(own.pk, people[0], clock.real_now())
    assert emails() == []


def asked(staff: User, **changes: Any) -> Withdrawal:
    return withdrawals.request_withdrawal(wanted(**changes), staff, clock.real_now())


def let_go(row: Withdrawal, staff: User) -> Withdrawal:
    return withdrawals.approve_withdrawal(row.pk, staff, clock.real_now())


def run(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("treasury", *arguments, "--json", stdout=out)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


@pytest.mark.chain
class TestOnTheChain:
    def test_two_people_take_out_what_was_earned_and_the_books_agree_with_the_chain(
        self, desk: Desk, people: tuple[User, User]
    ) -> None:
        order = (
            "--asset",
            ASSET,
            "--amount-atomic",
            str(2 * ETHER),
            "--to",
            OWNER,
            "--reason",
            "Salaries",
            "--reference",
            "may",
        )
        assert run()["withdrawable"] == {ASSET: str(3 * ETHER)}

        told = run("withdraw", *order, "--staff", "sam@example.com")
        assert (told["status"], told["decided_by"]) == ("requested", None)
        advance_treasury()
        assert not OutgoingTransaction.objects.filter(purpose="withdrawal").exists()
        assert (
            run("approve", "--reference", "may", "--staff", "tess@example.com")["status"]
            == "approved"
        )
        assert (booked("service_fees"), booked("withdrawal_clearing")) == (ETHER, 2 * ETHER)
        advance_treasury()
        advance_treasury()
        desk.work()
        advance_treasury()

        assert desk.balance(OWNER) == 2 * ETHER
        row = Withdrawal.objects.get()
        assert (row.status, row.decided_by, bool(row.tx_hash)) == ("confirmed", people[1], True)
        assert (booked("service_fees"), booked("withdrawal_clearing")) == (ETHER, 0)
        assert booked("custody_hot") == -desk.balance(desk.hot)
        assert 0 < withdrawable(row.asset) < ETHER  # the gas was the service's
        assert auditing.breaches(check_chain=True) == []
        # Once, however often the command is run.
        assert (
            run(
                "withdraw",
                *order,
                "--staff",
                "sam@example.com",
                "--approved-by",
                "tess@example.com",
            )["status"]
            == "confirmed"
        )
        assert OutgoingTransaction.objects.filter(purpose="withdrawal").count() == 1
        assert [
            audit_entry.action
            for audit_entry in AuditEntry.objects.filter(target_id=str(row.pk)).order_by("id")
        ] == [
            "withdrawal.requested",
            "withdrawal.approved",
        ]

    def test_each_process_does_its_part_as_its_own_role(
        self, desk: Desk, people: tuple[User, User], settings: Any
    ) -> None:
        settings.COLD_FLOATS = {ASSET: "5:8"}
        settings.COLD_ADDRESSES = {ASSET: COLD}
        with acting_as(WEB), tenancy.everyone("staff"):
            let_go(asked(people[0]), people[1])
        for _ in range(2):
            with acting_as(WORKER):
                advance_treasury()
                move_to_cold()
            with acting_as(SIGNER):
                signing_rounds.sign_due()
            with acting_as(WORKER):
                sender.run_due()
            desk.chain.mine(3)
        with acting_as(WORKER):
            sender.run_due()
            advance_treasury()

        assert (Withdrawal.objects.get().status, desk.balance(OWNER)) == ("confirmed", ETHER)
        assert booked("custody_cold") == -desk.balance(COLD) < -90 * ETHER

    def test_one_that_is_given_up_is_earnings_again(
        self, desk: Desk, people: tuple[User, User], settings: Any
    ) -> None:
        settings.SIGNER_CAPS = [f"{ASSET}=1:1"]
        row = let_go(asked(people[0], amount=2 * ETHER), people[1])
        advance_withdrawals()
        desk.work()
        [sent] = OutgoingTransaction.objects.filter(purpose="withdrawal")
        assert (sent.status, sent.reason) == ("review", "It is above the limit of one transaction")
        call_command("sending", "cancel", str(sent.pk), "--json", stdout=StringIO())
        advance_withdrawals()

        row.refresh_from_db()
        assert (row.status, row.failure_reason) == ("failed", "Given up by an operator")
        assert (booked("service_fees"), booked("withdrawal_clearing")) == (3 * ETHER, 0)
        assert auditing.breaches(check_chain=True) == []

    def test_one_that_the_chain_reverts_is_earnings_again_less_its_gas(
        self, desk: Desk, people: tuple[User, User], settings: Any
    ) -> None:
        """A contract that takes nothing when it is mined, though it did when it was asked."""
        row = let_go(asked(people[0]), people[1])
        advance_withdrawals()
        desk.chain.call("evm_setAutomine", False)
        signing_rounds.sign_due()
        desk.chain.call("anvil_setCode", OWNER, "0x5f5ffd")
        desk.work()
        advance_withdrawals()

        row.refresh_from_db()
        assert (row.status, row.failure_reason) == ("failed", "The chain reverted it")
        assert (booked("service_fees"), booked("withdrawal_clearing")) == (3 * ETHER, 0)
        assert booked("network_fees") < 0
        assert auditing.breaches(check_chain=True) == []

    def test_the_signer_has_a_list_of_its_own_and_looks_into_the_books(
        self, desk: Desk, people: tuple[User, User], settings: Any
    ) -> None:
        row = let_go(asked(people[0]), people[1])
        advance_withdrawals()
        settings.WITHDRAWAL_ADDRESSES = []  # of the signer's environment
        invented = sender.request(
            chain_id="sepolia", asset_id=ASSET, to=OWNER, amount_atomic=1, purpose="withdrawal",
            reference="11111111-1111-4111-8111-111111111111", mode="test", at=clock.real_now(),
        )  # fmt: skip
        desk.work()
        sent = OutgoingTransaction.objects.get(reference=str(row.pk))
        assert (sent.status, sent.reason) == (
            "failed",
            "The destination is not on the operator's list",
        )
        settings.WITHDRAWAL_ADDRESSES = [OWNER]
        OutgoingTransaction.objects.filter(pk=invented.pk).update(status="requested", reason="")
        desk.work()
        invented.refresh_from_db()
        assert (invented.status, invented.reason_code) == ("review", Reason.NOT_RESERVED)
        assert desk.balance(OWNER) == 0


class TestWhatIsRefused:
    @pytest.fixture(autouse=True)
    def coins(self, db: None) -> None:
        make.service_coins(ASSET, 100 * ETHER)

    @pytest.mark.parametrize(
        ("changes", "complaint"),
        [
            ({"amount": 3 * ETHER + 1}, "The earnings of SETH are 3000000000000000000, less than"),
            ({"amount": 0}, "more than nothing"),
            ({"to": "0x" + "b2" * 20}, "WITHDRAWAL_ADDRESSES doesn't name"),
            ({"reason": " "}, "a reference and a reason"),
            ({"reference": ""}, "a reference and a reason"),
        ],
    )
    def test_what_is_not_earned_listed_or_explained(
        self, people: tuple[User, User], changes: dict[str, Any], complaint: str
    ) -> None:
        with pytest.raises(WithdrawalRefused, match=complaint):
            asked(people[0], **changes)
        assert not Withdrawal.objects.exists()

    def test_whoever_asked_does_not_let_it_go_and_the_database_sees_to_it(
        self, people: tuple[User, User]
    ) -> None:
        row = asked(people[0])
        for item in (people[0], person("bob", is_staff=False)):
            with pytest.raises(WithdrawalRefused, match="A second member of finance staff"):
                let_go(row, item)
        for decided_by in (people[0], None):
            with pytest.raises(IntegrityError, match="withdrawal_takes_two"), transaction.atomic():
                Withdrawal.objects.filter(pk=row.pk).update(
                    status="approved", decided_by=decided_by, decided_at=clock.real_now()
                )

    def test_only_staff_ask(self, people: tuple[User, User]) -> None:
        with pytest.raises(WithdrawalRefused, match="Only finance staff"):
            asked(person("bob", is_staff=False))

    def test_two_that_are_each_earned_are_not_both_let_go(self, people: tuple[User, User]) -> None:
        first = asked(people[0], amount=2 * ETHER)
        second = asked(people[0], amount=2 * ETHER, reference="june")
        let_go(first, people[1])
        with pytest.raises(WithdrawalRefused, match="less than"):
            let_go(second, people[1])
        assert booked("service_fees") == ETHER

    def test_what_the_service_no_longer_has_of_its_own_is_not_withdrawn(
        self, people: tuple[User, User]
    ) -> None:
        """Swaps against its own coins, or a correction, have taken the float and more."""
        make._correct(ASSET, "swap_clearing", None, -99 * ETHER, people[0])
        make._correct(ASSET, "custody_hot", None, 98 * ETHER, people[0])
        asset = wanted().asset
        own = sum(
            account_balance(None, "test", ASSET, kind)
            for kind in ("treasury", "service_fees", "network_fees", "swap_clearing")
        )
        assert withdrawable(asset) == own < 3 * ETHER
        with pytest.raises(WithdrawalRefused, match="less than"):
            asked(people[0], amount=own + 1)

    def test_gas_lessens_it_and_what_stores_paid_for_gas_adds_nothing(
        self, people: tuple[User, User]
    ) -> None:
        make._correct(ASSET, "network_fees", None, -ETHER, people[0])
        assert withdrawable(wanted().asset) == 2 * ETHER
        make._correct(ASSET, "network_fees", None, 5 * ETHER, people[0])
        assert withdrawable(wanted().asset) == 3 * ETHER

    def test_a_reference_is_one_withdrawal(self, people: tuple[User, User]) -> None:
        assert asked(people[0]).pk == asked(people[1]).pk
        with pytest.raises(WithdrawalRefused, match="another withdrawal already"):
            asked(people[0], amount=2)

    def test_one_that_was_taken_back_or_let_go_is_decided(self, people: tuple[User, User]) -> None:
        row = asked(people[0])
        withdrawals.reject_withdrawal(row.pk, people[0], clock.real_now())
        for decide in (withdrawals.reject_withdrawal, withdrawals.approve_withdrawal):
            with pytest.raises(WithdrawalRefused, match="rejected already"):
                decide(row.pk, people[1], clock.real_now())
        assert (Withdrawal.objects.get().status, booked("service_fees")) == ("rejected", 3 * ETHER)
        assert auditing.breaches() == []

    def test_the_command_says_what_is_missing(self, people: tuple[User, User], capsys: Any) -> None:
        for arguments, complaint in (
            (
                ("withdraw", "--staff", "sam@example.com"),
                "Give --asset and a whole --amount-atomic",
            ),
            (
                ("approve", "--reference", "none", "--staff", "sam@example.com"),
                "There is no withdrawal 'none'",
            ),
        ):
            with pytest.raises(SystemExit):
                call_command("treasury", *arguments)
            assert complaint in capsys.readouterr().err
