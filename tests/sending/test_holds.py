"""Staff put sending on hold: nothing is signed meanwhile, of everything or of one asset, and two
let it go on."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction, SendingHold
from apps.chain.sending import holds
from apps.core import clock
from apps.stores.models import AuditEntry
from apps.stores.staff import four_eyes
from apps.stores.staff_roles import StaffForbidden
from tests import make
from tests.sending.conftest import TOKEN, World


@pytest.fixture(autouse=True)
def _nothing_stays_on_hold(_django_db_helper: None) -> Iterator[None]:
    """Rows of these tests are committed: the next ones send."""
    yield
    SendingHold.objects.filter(lifted_at=None).update(lifted_at=clock.real_now())


def status(row: OutgoingTransaction) -> str:
    row.refresh_from_db()
    return row.status


@pytest.mark.chain
def test_nothing_is_signed_while_everything_is_on_hold(world: World) -> None:
    hold = holds.place(None, None, "A strange payout", make.clerk("admin"), clock.real_now())
    row = world.ask()
    world.work()
    assert status(row) == "requested"
    first = make.clerk("finance")
    second = make.clerk("finance")
    asked = holds.request_lift(hold, "It was ours", first, clock.real_now())
    world.work()
    assert status(row) == "requested"
    four_eyes.approve(holds.LIFT, asked.pk, second, clock.real_now(), digest=asked.digest)
    world.finish()
    assert status(row) == "confirmed"
    assert AuditEntry.objects.filter(action="sending.held", reason="A strange payout").count() == 1
    assert AuditEntry.objects.filter(action="sending.resumed", reason="It was ours").count() == 1


@pytest.mark.chain
def test_a_hold_of_one_asset_holds_no_other(world: World, token: str) -> None:
    asset = Asset.objects.select_related("chain").get(pk="SETH")
    hold = holds.place(None, asset, "A doubt", make.clerk("finance"), clock.real_now())
    native = world.ask()
    other = world.ask(10**6, token, TOKEN)
    world.work()
    assert status(native) == "requested" and status(other) != "requested"
    assert holds.held_on(asset.chain) == holds.ChainHolds(False, frozenset({"SETH"}))
    SendingHold.objects.filter(pk=hold.pk).update(lifted_at=clock.real_now())
    world.finish()
    assert status(native) == "confirmed"


def test_support_holds_nothing_and_a_hold_needs_a_reason(db: None) -> None:
    with pytest.raises(StaffForbidden):
        holds.place(None, None, "x", make.clerk("support"), clock.real_now())
    with pytest.raises(holds.HoldRefused):
        holds.place(None, None, " ", make.clerk("admin"), clock.real_now())


def test_the_same_is_held_once_at_a_time(db: None) -> None:
    at = clock.real_now()
    staff = make.clerk("admin")
    hold = holds.place(None, None, "One", staff, at)
    with pytest.raises(holds.AlreadyHeld):
        holds.place(None, None, "Two", staff, at)
    type(hold).objects.filter(pk=hold.pk).update(lifted_at=at)
    assert holds.place(None, None, "Three", staff, at + timedelta(hours=1)).pk != hold.pk
